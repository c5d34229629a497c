# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The node ``trajectory_effort`` between a user and a trajectory controller, over real DDS."""

from collections.abc import Sequence
from contextlib import ExitStack
import signal
from typing import Any

import numpy as np
import pytest

from support.ros.fake_robot import JOINTS, MODEL, PANDA_ARM, POSE, FakeRobot
from support.ros.ros_process import NO_ROS, RosProcess, ros_node, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
pytestmark = pytest.mark.ros

CONTROLLER = 'joint_trajectory_controller'
END, ZERO = tuple(np.add(POSE, 0.1)), np.zeros(7)


class User:
    """A user of the process, with the controller's subscription, on a node of the test's own."""

    def __init__(self, node: Any, process: RosProcess) -> None:
        from trajectory_msgs.msg import JointTrajectory

        self.node, self.process = node, process
        self.messages: list[Any] = []
        self._publisher = node.create_publisher(
            JointTrajectory, '/trajectory_effort/joint_trajectory', 10
        )

    def subscribe(self, depth: Any = 10) -> None:
        """Subscribe to the controller's topic."""
        from trajectory_msgs.msg import JointTrajectory

        topic = f'/{CONTROLLER}/joint_trajectory'
        self.node.create_subscription(JointTrajectory, topic, self.messages.append, depth)

    def send(self, *points: Any, names: Sequence[str] = JOINTS) -> None:
        """Send points: a time in whole seconds, positions, velocities and accelerations."""
        from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

        message = JointTrajectory(joint_names=list(names))
        message.header.frame_id = 'world'
        for seconds, *fields in points:
            point = JointTrajectoryPoint()
            kinds = 'positions', 'velocities', 'accelerations'
            for kind, values in zip(kinds, fields, strict=False):
                setattr(point, kind, [float(value) for value in values])
            point.time_from_start.sec = seconds
            message.points.append(point)
        self._publisher.publish(message)

    def send_until(self, text: str, *points: Any) -> None:
        """Send points again and again until the process writes a text."""

        def is_written() -> bool:
            self.send(*points)
            return text in self.process.output

        assert wait_until(is_written), f'{text}: {self.process.output}'

    def received(self) -> Any:
        """Return the one message that came."""
        assert wait_until(lambda: self.messages), self.process.output
        (message,) = self.messages
        self.messages.clear()
        return message

    def set_parameters(self, **values: Any) -> bool:
        """Set parameters together, with __ for a dot; return whether they were accepted."""
        from rcl_interfaces.srv import SetParametersAtomically
        from rclpy.parameter import Parameter

        from rnea_ros.ros import RepeatedRequest

        service = 'trajectory_effort/set_parameters_atomically'
        client = self.node.create_client(SetParametersAtomically, service)
        request = RepeatedRequest(client, SetParametersAtomically.Request(parameters=[
            Parameter(name.replace('__', '.'), value=value).to_parameter_msg()
            for name, value in values.items()
        ]))
        assert wait_until(request.poll)
        return bool(request.response.result.successful)


def test_each_missing_input_is_named_then_trajectories_get_efforts_until_ctrl_c(
    domain_id: int,
) -> None:
    from diagnostic_msgs.msg import DiagnosticArray
    from rclpy.parameter import Parameter
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from std_msgs.msg import String

    from rnea_ros.ros import LATCHED

    # Joint states may come late on a stalled machine.
    process = RosProcess(
        'rnea_ros.trajectory_effort.trajectory_effort_node', '--ros-args',
        '-p', 'joint_states_timeout:=30.0', '-p', 'resample:=0.01',
        '-p', 'allow_partial_joints_goal:=true', domain_id=domain_id,
    )
    statuses: dict[str, str] = {}
    with (
        ExitStack() as stack, ros_node(domain_id, 'user') as node,
        ros_node(domain_id, 'robot') as robot_node,
    ):
        node.create_subscription(DiagnosticArray, '/diagnostics', lambda message: statuses.update(
            {value.key: value.value for status in message.status for value in status.values}
        ), 10)
        user = User(node, stack.enter_context(process))
        user.send_until('rejected: no_robot_description')
        description = robot_node.create_publisher(String, 'robot_description', LATCHED)
        description.publish(String(data=PANDA_ARM))
        user.send_until(f'rejected: no_joints: joints of /{CONTROLLER} unknown')
        controller = stack.enter_context(ros_node(domain_id, CONTROLLER))
        controller.declare_parameter('joints', list(JOINTS))
        controller.declare_parameter('command_interfaces', ['position'])
        user.send_until(f'rejected: no_effort_interface: /{CONTROLLER} commands position and')
        controller.set_parameters([Parameter('command_interfaces', value=['position', 'effort'])])
        user.send_until(f'rejected: no_subscriber: no subscriber on /{CONTROLLER}/joint_traj')
        user.subscribe()
        user.send_until(f'rejected: joint_states_stale: none received of {JOINTS[0]}')
        FakeRobot(robot_node, controller=False, urdf=None)
        user.send_until('rejected: no_points')
        process.wait_for('ready')

        user.send((2, END, ZERO, ZERO))
        message = user.received()
        assert message.joint_names == list(JOINTS)
        assert (message.header.frame_id, message.header.stamp.sec) == ('world', 0)
        assert len(message.points) == 201
        held = MODEL.gravity_torques(END)
        np.testing.assert_allclose(message.points[-1].effort, held, atol=1e-9)

        assert not user.set_parameters(payload__link=['fer_link99'], payload__mass=[2.0])
        assert user.set_parameters(payload__link=['fer_link8'], payload__mass=[2.0])
        user.send((0, POSE[1:]), (1, END[1:]), names=JOINTS[1:])
        message = user.received()
        assert message.joint_names == [*JOINTS[1:], JOINTS[0]]
        loaded = MODEL.with_payload('fer_link8', 2.0)
        held = np.roll(loaded.gravity_torques((POSE[0], *END[1:])), -1)
        np.testing.assert_allclose(message.points[-1].effort, held, atol=1e-9)
        assert wait_until(lambda: statuses.get('passed_on') == '2'), statuses
        assert int(statuses['count/rejected/no_points']) >= 1
        assert statuses['ready'] == 'True'

        assert user.set_parameters(resample=0.001)
        user.send((2, END, ZERO, ZERO))
        process.wait_for('trajectory passed on: 2001 points')
        user.send_until('rejected: not_finite, point 0', (1, [np.nan] * 7))
        assert 'may lose' not in process.output  # a reliable subscription loses nothing
        user.subscribe(QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT))
        user.send_until('may lose so long a message', (2, END, ZERO, ZERO))
        process.send(signal.SIGINT)
        assert process.wait() == 0
