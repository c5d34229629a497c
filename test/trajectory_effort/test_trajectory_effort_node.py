# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The node ``trajectory_effort`` between a user and a trajectory controller, over real DDS."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
import signal
from typing import Any

import numpy as np
import pytest

from support.control.trajectory_controller import Point, sample
from support.ros.fake_robot import JOINTS, LIMITS, MODEL, POSE, FakeRobot
from support.ros.ros_process import NO_ROS, RosProcess, ros_node, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
pytestmark = pytest.mark.ros

EXECUTABLE = 'rnea_ros.trajectory_effort.trajectory_effort_node'
END = tuple(np.add(POSE, 0.1))
# Joint states may come late on a stalled machine.
PATIENT = '-p joint_states_timeout:=30.0 '


class Controller:
    """
    A joint_trajectory_controller that keeps what it is sent.

    :param node: of its name
    :param interfaces: what it commands
    """

    def __init__(
        self, node: Any, interfaces: Sequence[str] = ('effort',), *, reliable: bool = True
    ) -> None:
        from diagnostic_msgs.msg import DiagnosticArray
        from rclpy.qos import QoSProfile, ReliabilityPolicy
        from trajectory_msgs.msg import JointTrajectory

        policy = ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT
        self.messages: list[Any] = []
        self.diagnostics: dict[str, str] = {}
        node.declare_parameter('joints', list(JOINTS))
        node.declare_parameter('command_interfaces', list(interfaces))
        node.create_subscription(
            JointTrajectory, f'/{node.get_name()}/joint_trajectory',
            lambda message: self.messages.append(message),
            QoSProfile(depth=10, reliability=policy),
        )
        node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        self._publisher = node.create_publisher(
            JointTrajectory, '/trajectory_effort/joint_trajectory', 10
        )

    def _on_diagnostics(self, message: Any) -> None:
        for status in message.status:
            if status.name.startswith('trajectory_effort'):
                self.diagnostics = {value.key: value.value for value in status.values}

    @property
    def ready(self) -> bool:
        return self.diagnostics.get('ready') == 'True'

    def send(self, *points: Any, names: Sequence[str] = JOINTS, frame: str = '') -> None:
        """Send points: a time, positions, and perhaps velocities, accelerations, efforts."""
        from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

        assert wait_until(lambda: self._publisher.get_subscription_count() > 0)
        message = JointTrajectory(joint_names=list(names))
        message.header.frame_id = frame
        for time, *fields in points:
            point = JointTrajectoryPoint()
            kinds = ('positions', 'velocities', 'accelerations', 'effort')
            for kind, values in zip(kinds, fields, strict=False):
                setattr(point, kind, [float(value) for value in values])
            point.time_from_start.sec = int(time)
            point.time_from_start.nanosec = round(1e9 * (time - int(time)))
            message.points.append(point)
        self._publisher.publish(message)

    def received(self) -> Any:
        """Return the one message that came."""
        assert wait_until(lambda: self.messages), self.diagnostics
        (message,) = self.messages
        self.messages.clear()
        return message


def has(controller: Controller, key: str) -> bool:
    return controller.diagnostics.get(key) == '1'


@contextmanager
def beside(
    domain_id: int, options: str = '', interfaces: Sequence[str] = ('effort',), *,
    reliable: bool = True,
) -> Iterator[tuple[Controller, RosProcess]]:
    """Give a controller and the node that feeds it, once that is ready."""
    name = 'joint_trajectory_controller'
    with ros_node(domain_id, name) as node, ros_node(domain_id, 'robot') as robot_node:
        FakeRobot(robot_node, controller=False)
        controller = Controller(node, interfaces, reliable=reliable)
        arguments = f'--ros-args {PATIENT}{options}'.split()
        with RosProcess(EXECUTABLE, *arguments, domain_id=domain_id) as process:
            assert wait_until(lambda: 'ready' in controller.diagnostics), process.output
            if tuple(interfaces) == ('effort',):
                assert wait_until(lambda: controller.ready), process.output
            yield controller, process


def points_of(message: Any) -> list[Point]:
    return [
        Point(point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec, *(
            np.array(values)
            for values in (point.positions, point.velocities, point.accelerations, point.effort)
        ))
        for point in message.points
    ]


def test_the_controller_commands_the_effort_of_the_motion_at_each_time(domain_id: int) -> None:
    zero = np.zeros(7)
    with beside(domain_id, '-p resample:=0.01') as (controller, process):
        controller.send((2.0, END, zero, zero), frame='world')
        message = controller.received()
        assert message.joint_names == list(JOINTS)
        assert message.header.frame_id == 'world'
        assert message.header.stamp.sec == 0
        points = points_of(message)
        assert [points[0].time, points[-1].time, len(points)] == [0.0, 2.0, 201]
        for time in np.linspace(0.0, 1.99, 61):
            q, qd, qdd, effort = sample(points, time)
            np.testing.assert_allclose(effort, MODEL.inverse_dynamics(q, qd, qdd), atol=0.02)
        *_, held = sample(points, 100.0)
        np.testing.assert_allclose(held, MODEL.gravity_torques(END), atol=1e-9)
        process.wait_for('trajectory passed on: 201 points')
        assert wait_until(lambda: controller.diagnostics.get('passed_on') == '1')


def test_order_and_omitted_fields_are_kept_and_joints_completed(domain_id: int) -> None:
    backwards = JOINTS[::-1]
    partial = '-p resample:=0.0 -p allow_partial_joints_goal:=true'
    with beside(domain_id, partial) as (controller, _):
        controller.send((0.0, POSE[::-1]), (1.0, END[::-1]), names=backwards)
        message = controller.received()
        assert message.joint_names == list(backwards)
        assert len(message.points) == 2
        assert list(message.points[1].positions) == pytest.approx(END[::-1])
        assert not message.points[0].velocities
        held = MODEL.gravity_torques(END)[::-1]
        np.testing.assert_allclose(message.points[1].effort, held, atol=1e-9)
        controller.send((0.0, POSE[1:]), (1.0, END[1:]), names=JOINTS[1:])
        message = controller.received()
        assert message.joint_names == [*JOINTS[1:], JOINTS[0]]
        assert all(len(point.effort) == 7 for point in message.points)
        assert message.points[1].positions[-1] == POSE[0]


def test_a_trajectory_that_breaks_a_rule_is_rejected_whole_with_the_reason(domain_id: int) -> None:
    nan = float('nan')
    far = np.add(POSE, 0.2)
    keys = []
    with beside(domain_id) as (controller, process):
        for points, names, said in (
            ((), JOINTS, 'no_points'),
            (((0.0, POSE[1:]), (1.0, END[1:])), JOINTS[1:], "missing_joint, joint 'fer_joint1'"),
            (((1.0, [nan] * 7),), JOINTS, "not_finite, point 0, joint 'fer_joint1'"),
            (((0.0, far), (1.0, far)), JOINTS, 'start_too_far, point 0'),
            (((0.01, END),), JOINTS, 'velocity_limit, point 0'),
        ):
            controller.send(*points, names=names)
            process.wait_for(f'trajectory rejected: {said}')
            keys.append(f'count/rejected/{said.partition(",")[0].partition(":")[0]}')
        for key in keys:
            assert wait_until(partial(has, controller, key)), key
        assert not controller.messages


def test_a_controller_that_takes_no_efforts_is_not_sent_any(domain_id: int) -> None:
    with beside(domain_id, interfaces=('position',)) as (controller, process):
        reason = 'no_effort_interface'
        assert wait_until(lambda: reason in controller.diagnostics.get('missing', ''))
        controller.send((2.0, END))
        process.wait_for('trajectory rejected: no_effort_interface: '
                         '/joint_trajectory_controller commands position and takes no efforts')
        assert not controller.messages


def test_a_payload_may_be_set_while_it_runs_and_a_bad_one_is_rejected(domain_id: int) -> None:
    from rcl_interfaces.srv import SetParametersAtomically
    from rclpy.parameter import Parameter

    from rnea_ros.ros import RepeatedRequest

    loaded = MODEL.with_payload('fer_link8', 2.0)
    with beside(domain_id) as (controller, _), ros_node(domain_id, 'user') as user:
        client = user.create_client(
            SetParametersAtomically, 'trajectory_effort/set_parameters_atomically'
        )

        def set_payload(link: str) -> Any:
            request = SetParametersAtomically.Request(parameters=[
                Parameter('payload.link', value=[link]).to_parameter_msg(),
                Parameter('payload.mass', value=[2.0]).to_parameter_msg(),
            ])
            repeated = RepeatedRequest(client, request)
            assert wait_until(repeated.poll)
            return repeated.response.result

        assert not set_payload('fer_link99').successful
        assert set_payload('fer_link8').successful
        controller.send((2.0, END))
        held = controller.received().points[-1].effort
        np.testing.assert_allclose(held, loaded.gravity_torques(END), atol=1e-9)
        assert (np.abs(held) < LIMITS).all()


@pytest.mark.parametrize('reliable', [True, False])
def test_best_effort_with_long_messages_is_warned_of(domain_id: int, reliable: bool) -> None:
    zero = np.zeros(7)
    with beside(domain_id, '-p resample:=0.001', reliable=reliable) as (controller, process):
        controller.send((1.4, END, zero, zero))
        process.wait_for('trajectory passed on: 1401 points')
        controller.send((1.9, END, zero, zero))
        process.wait_for('trajectory passed on: 1901 points')
        controller.send()
        process.wait_for('trajectory rejected: no_points')
        assert process.output.count('may lose so long a message') == (not reliable)


def test_a_missing_input_is_logged_and_ctrl_c_ends_the_node_with_0(domain_id: int) -> None:
    from trajectory_msgs.msg import JointTrajectory

    with (
        RosProcess(EXECUTABLE, domain_id=domain_id) as process,
        ros_node(domain_id, 'user') as user,
    ):
        publisher = user.create_publisher(JointTrajectory, 'trajectory_effort/joint_trajectory', 1)
        assert wait_until(lambda: publisher.get_subscription_count() > 0)
        process.wait_for('waiting: no_robot_description')
        publisher.publish(JointTrajectory())
        process.wait_for('trajectory rejected: no_robot_description')
        process.send(signal.SIGINT)
        assert process.wait() == 0
