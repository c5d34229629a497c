# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A robot made of topics alone: joint states go out as told, commands are collected."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robots import ROOT
from ros_process import RosProcess, ros_node, wait_until

import rnea_ros

Array = NDArray[np.float64]

PERIOD = 0.005
"""Of the node, s."""

RAMPS = f'-p rate:={1.0 / PERIOD} -p ramp_duration:=0.3 -p hold_duration:=0.3 '
PATIENT = f'{RAMPS} -p joint_states_timeout:=5.0 '
"""Options of the node: machines that run tests stall, and what is not tested must not end it."""

DEFAULT_RATE_LIMIT = 10.0
"""How fast the node lets an effort change, in effort limits a second."""

JOINTS = tuple(f'fer_joint{number}' for number in range(1, 8))
POSE = (0.1, -0.4, 0.2, -1.9, 0.3, 1.7, 0.5)
PANDA_ARM = (ROOT / 'urdf/panda_arm.urdf').read_text(encoding='utf-8')
MODEL = rnea_ros.RobotModel.from_urdf(PANDA_ARM)
GRAVITY = MODEL.gravity_torques(POSE)
LIMITS = MODEL.effort_limits

NODE = 'rnea_ros.node.feedforward_node'


def node(domain_id: int, options: str = '') -> RosProcess:
    """Start a feedforward node; of an option that is given twice the last counts."""
    return RosProcess(NODE, '--ros-args', *PATIENT.split(), *options.split(), domain_id=domain_id)


class FakeRobot:
    """
    What a feedforward node needs to see of a robot, at a pose that never changes.

    :param node: a node of the test's own, spun in a thread
    :param joints: the effort controller's joints, None for a listener without parameters
    :param urdf: what is latched on robot_description, None for nothing
    :param rate: of joint states, Hz
    :param controller: whether the robot's node is the effort controller too
    """

    def __init__(
        self,
        node: Any,
        *,
        joints: Sequence[str] | None = JOINTS,
        urdf: str | None = PANDA_ARM,
        rate: float = 200.0,
        controller: bool = True,
    ) -> None:
        from diagnostic_msgs.msg import DiagnosticArray
        from rclpy.qos import DurabilityPolicy, QoSProfile
        from sensor_msgs.msg import JointState
        from std_msgs.msg import Float64MultiArray, String

        self.node = node
        self.message = JointState(
            name=list(JOINTS),
            position=array('d', POSE),
            velocity=array('d', [0.0] * 7),
            effort=array('d', [float('nan')] * 7),
        )
        self.sending = True
        self.stamped = True
        self.commands: list[tuple[float, Array]] = []
        self.efforts: list[tuple[float, Array]] = []
        """The commands again, each with the node's own time, s."""

        self.diagnostics: dict[str, str] = {}
        if joints is not None and controller:
            node.declare_parameter('joints', list(joints))
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._descriptions = node.create_publisher(String, 'robot_description', latched)
        if urdf is not None:
            self.describe(urdf)
        self._states = node.create_publisher(JointState, 'joint_states', 1)
        node.create_timer(1.0 / rate, self.send)
        if controller:
            topic = f'/{node.get_name()}/commands'
            node.create_subscription(Float64MultiArray, topic, self._on_command, 100)
        node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        node.create_subscription(JointState, 'feedforward/effort', self._on_effort, 1000)

    def describe(self, urdf: str) -> None:
        """Latch a robot_description."""
        from std_msgs.msg import String

        self._descriptions.publish(String(data=urdf))

    def send(self) -> None:
        """Publish the joint state as it stands."""
        if not self.sending:
            return
        if self.stamped:
            self.message.header.stamp = self.node.get_clock().now().to_msg()
        self._states.publish(self.message)

    def _on_command(self, message: Any) -> None:
        self.commands.append((time.monotonic(), np.array(message.data)))

    def _on_effort(self, message: Any) -> None:
        from rnea_ros.node.clock import seconds

        self.efforts.append((seconds(message.header.stamp), np.array(message.effort)))

    def _on_diagnostics(self, message: Any) -> None:
        for status in message.status:
            self.diagnostics = {value.key: value.value for value in status.values}

    @property
    def newest(self) -> Array:
        """The newest command."""
        return self.commands[-1][1]

    def steady(self, effort: Array, tolerance: float = 1e-9) -> bool:
        """Whether the newest command is an effort."""
        return bool(self.commands) and bool(np.allclose(self.newest, effort, atol=tolerance))

    @property
    def controlled(self) -> bool:
        """Whether it is controlled; where the machine stalls, late states are flagged."""
        return self.diagnostics.get('state') in ('active', 'degraded')

    def wait_until_controlled(self) -> None:
        """Wait until diagnostics tell that it is controlled."""
        assert wait_until(lambda: self.controlled), self.diagnostics

    def wait_for_state(self, state: str) -> None:
        """Wait until diagnostics tell a state of the control."""
        told = wait_until(lambda: self.diagnostics.get('state') == state)
        assert told, f'state {state} was not reached: {self.diagnostics}'

    def set_parameters(self, **values: Any) -> list[Any]:
        """Set parameters of the feedforward node in one request; return the results."""
        from rcl_interfaces.srv import SetParameters
        from rclpy.parameter import Parameter

        request = SetParameters.Request(
            parameters=[
                Parameter(name.replace('__', '.'), value=value).to_parameter_msg()
                for name, value in values.items()
            ]
        )
        response = self.call(SetParameters, 'feedforward/set_parameters', request)
        return list(response.results)

    def change_state(self, transition: int) -> bool:
        """Ask the node for a lifecycle transition; return whether it succeeded."""
        from lifecycle_msgs.srv import ChangeState

        request = ChangeState.Request()
        request.transition.id = transition
        return bool(self.call(ChangeState, 'feedforward/change_state', request).success)

    def call(self, kind: Any, name: str, request: Any) -> Any:
        """Call a service and return its response."""
        client = self.node.create_client(kind, name)
        assert wait_until(client.service_is_ready), f'no service {name}'
        future = client.call_async(request)
        assert wait_until(future.done), f'no answer from {name}'
        return future.result()


@contextmanager
def fake_robot(domain_id: int, **options: Any) -> Iterator[FakeRobot]:
    """Give a fake robot on a DDS domain; its effort controller is called effort_controller."""
    name = 'effort_controller' if options.get('controller', True) else 'robot'
    with ros_node(domain_id, name) as node:
        yield FakeRobot(node, **options)


@contextmanager
def fake_controller(
    domain_id: int, joints: Sequence[str] | None = JOINTS
) -> Iterator[list[tuple[float, Array]]]:
    """
    Give what an effort controller of its own is sent, with the times, while it is there.

    :param domain_id: its DDS domain
    :param joints: that it commands, None for one that answers no question
    """
    from std_msgs.msg import Float64MultiArray

    commands: list[tuple[float, Array]] = []
    answers = joints is not None
    with ros_node(domain_id, 'effort_controller', start_parameter_services=answers) as node:
        node.declare_parameter('joints', list(joints or ()))
        node.create_subscription(
            Float64MultiArray,
            '/effort_controller/commands',
            lambda message: commands.append((time.monotonic(), np.array(message.data))),
            1000,
        )
        yield commands


def assert_safe(robot: FakeRobot, limits: Array) -> None:
    """Check every command: finite, of the right length, within the limits, never a step."""
    for sequence in (robot.commands, robot.efforts):
        values = np.array([command for _, command in list(sequence)])  # more may come meanwhile
        if values.size:
            assert values.ndim == 2
            assert values.shape[1] == limits.size
            assert np.isfinite(values).all()
            assert (np.abs(values) <= limits * (1.0 + 1e-12)).all()
    assert_rate(robot.efforts, DEFAULT_RATE_LIMIT * limits)


def assert_rate(efforts: Sequence[tuple[float, Array]], rate_limit: Array) -> None:
    """
    Check that efforts change no faster than they may.

    Some may be lost where the machine stalls, and ticks come late: the time between two is what
    the node says, and two periods. Simulated time may be set back in between.
    """
    if not efforts:
        return
    stamps, values = zip(*list(efforts), strict=True)
    elapsed = np.maximum(np.diff(stamps), 0.0)[:, np.newaxis] + 2.0 * PERIOD
    assert (np.abs(np.diff(values, axis=0)) <= rate_limit * elapsed).all()
