# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A robot made of topics: publishes the joint states that a test sets, collects commands."""

from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import rnea_ros
from support.models.robots import ROOT
from support.ros.node_observer import Array, Onlooker
from support.ros.ros_process import RosProcess, ros_node

PERIOD = 0.01
"""Of the node, s."""

RAMPS = (
    f'-p hardware_compensates:=[none] -p rate:={1.0 / PERIOD} '
    '-p ramp_duration:=0.05 -p hold_duration:=0.3 '
)
PATIENT = f'{RAMPS} -p joint_states_timeout:=60.0 '
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


def node(domain_id: int, options: str = '', *, module: str = NODE) -> RosProcess:
    """Start a feedforward node with ROS arguments; of one that is given twice the last counts."""
    arguments = (*PATIENT.split(), *options.split())
    return RosProcess(module, '--ros-args', *arguments, domain_id=domain_id)


class FakeRobot(Onlooker):
    """
    What a feedforward node needs to see of a robot, at a pose that never changes.

    :param node: a node of the test's own, spun in a thread
    :param urdf: what is latched on robot_description, None for nothing
    :param rate: of joint states, Hz
    :param controller: whether the robot's node is the effort controller too
    """

    def __init__(
        self, node: Any, *, urdf: str | None = PANDA_ARM, rate: float = 100.0,
        controller: bool = True,
    ) -> None:
        from rclpy.qos import DurabilityPolicy, QoSProfile
        from sensor_msgs.msg import JointState
        from std_msgs.msg import String

        if controller:
            node.declare_parameter('joints', list(JOINTS))
        super().__init__(node, controller=node.get_name() if controller else '')
        self.message = JointState(
            name=list(JOINTS), position=array('d', POSE), velocity=array('d', [0.0] * 7),
            effort=array('d', [float('nan')] * 7),
        )
        self.sending = True
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._descriptions = node.create_publisher(String, 'robot_description', latched)
        if urdf is not None:
            self._descriptions.publish(String(data=urdf))
        self._states = node.create_publisher(JointState, 'joint_states', 1)
        node.create_timer(1.0 / rate, self.send)

    def send(self) -> None:
        """Publish the joint state as it stands."""
        if self.sending:
            self.message.header.stamp = self.node.get_clock().now().to_msg()
            self._states.publish(self.message)

    def assert_safe(self) -> None:
        """Check every command: finite, of the right length, within the limits, never a step."""
        for sequence in (self.commands, self.efforts):
            values = np.array([command for _, command in list(sequence)])  # more may come
            if values.size:
                assert values.ndim == 2
                assert values.shape[1] == LIMITS.size
                assert np.isfinite(values).all()
                assert (np.abs(values) <= LIMITS * (1.0 + 1e-12)).all()
        assert_rate(self.efforts, DEFAULT_RATE_LIMIT * LIMITS)


@contextmanager
def fake_robot(domain_id: int, **options: Any) -> Iterator[FakeRobot]:
    """Give a fake robot on a DDS domain; its effort controller is called effort_controller."""
    name = 'effort_controller' if options.get('controller', True) else 'robot'
    with ros_node(domain_id, name) as node:
        yield FakeRobot(node, **options)


@contextmanager
def fake_controller(domain_id: int) -> Iterator[list[tuple[float, Array]]]:
    """Give what an effort controller of its own is sent, and when, s, while it is there."""
    from std_msgs.msg import Float64MultiArray

    commands: list[tuple[float, Array]] = []

    def on_command(message: Any, info: Any) -> None:
        commands.append((1e-9 * info['source_timestamp'], np.array(message.data)))

    with ros_node(domain_id, 'effort_controller') as node:
        node.declare_parameter('joints', list(JOINTS))
        node.create_subscription(Float64MultiArray, '~/commands', on_command, 1000)
        yield commands


def assert_rate(efforts: Sequence[tuple[float, Array]], rate_limit: Array) -> None:
    """Check that efforts change no faster than they may in the node's time and two periods."""
    if not efforts:
        return
    stamps, values = zip(*list(efforts), strict=True)
    elapsed = np.maximum(np.diff(stamps), 0.0)[:, np.newaxis] + 2.0 * PERIOD
    assert (np.abs(np.diff(values, axis=0)) <= rate_limit * elapsed).all()
