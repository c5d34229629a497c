# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The simulated robot as a process, with the topics of a robot under ros2_control.

Physics, messages and commands run in one thread without an executor. A second node with the name
of the effort controller has its parameters, such as the commanded joints. A cycle is that of a
controller manager: take the latest command, publish the state, apply the command until the next
cycle. In lockstep the command is the answer to the state.
"""

from __future__ import annotations

from array import array
from functools import partial
import os
import sys
import time
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
import numpy as np
from rcl_interfaces.msg import ParameterDescriptor
import rclpy
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory

from ..command_line import BAD_INPUT
from ..errors import RneaError
from ..messages import decode_trajectory
from ..parameters import described
from ..ros import LATCHED, LoopThread, NodeProcess, PolledSubscription, finish, read_settings
from ..shared_memory import LOOPBACK_NOTICE, loopback_by_default

try:
    from .effort_controller import EffortController
    from .hand import ScriptedHand
    from .options import PARAMETERS, TIMESTEP, Options
    from .pace import Lockstep, RealTime
    from .physics import JointStates, SimulatedRobot
except ModuleNotFoundError as error:
    if error.name != 'mujoco':
        raise
    print('simulated_robot: MuJoCo is missing: pip install mujoco', file=sys.stderr)
    sys.exit(BAD_INPUT)

ABOUT = """\
A robot in MuJoCo with the topics of a robot under ros2_control: robot_description, joint_states,
and the commands of an effort controller. Brakes hold the robot until the first command. Only this
machine sees it, unless the discovery range is set (ROS_AUTOMATIC_DISCOVERY_RANGE)."""

NEWEST = QoSProfile(depth=1)  # ros2_control's default: reliable, volatile, keep last 1
EVERY = QoSProfile(depth=2000)  # in lockstep states may be faster than a busy recorder


class Broadcasters:
    """
    Publishes the robot's state as the broadcasters of ros2_control do, in reused messages.

    A stamp is the time of the state, not of its publication. After a stall they differ, and with
    the time of publication the motion would look like a jump.
    """

    def __init__(self, node: Any, robot: SimulatedRobot, options: Options) -> None:
        self._robot = robot
        self.effort_scale = options.joint_scales(robot)
        self._simulated_stamps = options.publish_clock
        self._epoch = 0
        self._wrench_link = options.wrench_link
        description = node.create_publisher(String, 'robot_description', LATCHED)
        description.publish(String(data=options.urdf_text))
        self._joint_states = node.create_publisher(
            JointState, 'joint_states', EVERY if options.lockstep else NEWEST
        )
        zeros = array('d', bytes(8 * len(robot.reported_joints)))
        self._state = JointState(
            name=list(robot.reported_joints), position=zeros[:], velocity=zeros[:], effort=zeros[:]
        )
        # Views of the fields, not of the given arrays: some versions of rclpy copy them.
        fields = (self._state.position, self._state.velocity, self._state.effort)
        self._views = [np.frombuffer(field) for field in fields]
        if options.wrench_link:
            robot.wrench(options.wrench_link)  # raises for an unknown link
            topic = 'force_torque_sensor_broadcaster/wrench'
            self._wrenches = node.create_publisher(WrenchStamped, topic, NEWEST)
            self._reading = WrenchStamped()
            self._reading.header.frame_id = options.wrench_link
        if options.publish_clock:
            self._clock = node.create_publisher(Clock, '/clock', NEWEST)

    def start(self) -> None:
        """Set the wall time of the first cycle, unless stamps are simulated time."""
        if not self._simulated_stamps:
            self._epoch = time.time_ns() + _nanoseconds(TIMESTEP - self._robot.time)

    def publish_clock(self) -> None:
        """Publish simulated time, if enabled."""
        if self._simulated_stamps:
            self._clock.publish(Clock(clock=self._stamp()))

    def publish(self, measured: JointStates) -> None:
        """Publish simulated time and the wrench, each if enabled, and the joint states."""
        self.publish_clock()
        stamp = self._stamp()
        for view, values in zip(self._views, measured, strict=True):
            view[:] = values
        self._views[2][: len(self.effort_scale)] /= self.effort_scale
        self._state.header.stamp = stamp
        self._joint_states.publish(self._state)
        if self._wrench_link:
            force, torque = self._robot.wrench(self._wrench_link)
            wrench = self._reading.wrench
            wrench.force.x, wrench.force.y, wrench.force.z = force.tolist()
            wrench.torque.x, wrench.torque.y, wrench.torque.z = torque.tolist()
            self._reading.header.stamp = stamp
            self._wrenches.publish(self._reading)

    def lose(self, duration: float) -> None:
        """Increase the lag of simulated time behind the wall clock by a duration, s."""
        if not self._simulated_stamps:
            self._epoch += _nanoseconds(duration)

    def _stamp(self) -> Time:
        now = self._epoch + _nanoseconds(self._robot.time)
        seconds, nanoseconds = divmod(now, 1_000_000_000)
        return Time(sec=seconds, nanosec=nanoseconds)


def _nanoseconds(seconds: float) -> int:
    return round(1e9 * seconds)


class PhysicsLoop(LoopThread):
    """Moves the robot in a separate thread, which alone may use the robot after :meth:`start`."""

    def __init__(
        self, robot: SimulatedRobot, controller: EffortController, broadcasters: Broadcasters,
        pace: RealTime, options: Options
    ) -> None:
        super().__init__('physics')
        self._robot = robot
        self._controller = controller
        self._broadcasters = broadcasters
        self._pace = pace
        self._steps_per_state = options.steps_per_state
        self._push = options.make_push(robot)
        self.hand = ScriptedHand(robot)
        self._commanded = slice(len(robot.joint_names))

    def _loop(self) -> None:
        self._pace.start()
        self._broadcasters.start()
        steps_to_state = 0
        measured = self._robot.state()
        while not self._quit:
            steps = self._pace.steps()
            self._receive(self._pace.command())
            if steps_to_state <= 0:
                steps_to_state = self._steps_per_state
                publish_state = partial(self._broadcasters.publish, measured)
                self._receive(self._pace.exchange(publish_state))
            else:
                self._broadcasters.publish_clock()
            for _ in range(steps):
                measured = self._step(measured)
            steps_to_state -= steps

    def _receive(self, message: Any | None) -> None:
        if message is not None:
            efforts = np.array(message.data, dtype=np.float64)
            scale = self._broadcasters.effort_scale
            if efforts.shape == scale.shape:
                efforts *= scale
            self._controller.receive(efforts)

    def _step(self, measured: JointStates) -> JointStates:
        if self._push is not None:
            self._push.update()
        self.hand.update()
        efforts = self._controller.update(
            measured.positions[self._commanded], measured.velocities[self._commanded]
        )
        self._robot.step(efforts)
        return self._robot.state()


def start_controller(options: Options, robot: SimulatedRobot, namespace: str) -> Any:
    """Return the node of the effort controller, with the parameters of a real one."""
    # Remapping arguments are for the robot's node only.
    node = rclpy.create_node(options.controller, namespace=namespace, use_global_arguments=False)
    for name, value, description in (
        ('joints', list(robot.joint_names), 'the commanded joints, in order'),
        ('interface_name', 'effort', 'commanded interface'),
    ):
        descriptor = ParameterDescriptor(description=description, read_only=True)
        node.declare_parameter(name, value, descriptor)
    return node


def start(node: Any) -> tuple[Any, PhysicsLoop]:
    """Start the simulation; return the effort controller's node and the running loop."""
    options = read_settings(node, Options)
    robot = options.make_robot()
    broadcasters = Broadcasters(node, robot, options)
    controller_node = start_controller(options, robot, node.get_namespace())
    logger = controller_node.get_logger()
    controller = EffortController(
        robot.limits, lambda text: logger.warning(text, throttle_duration_sec=1.0),
        lambda text: logger.error(text)
    )
    commands: PolledSubscription[Any] = PolledSubscription(
        controller_node, Float64MultiArray, '~/commands', NEWEST
    )
    pace = RealTime(commands, TIMESTEP, broadcasters.lose)
    if options.lockstep:
        publishers = partial(
            controller_node.count_publishers, commands.subscription.topic_name
        )
        pace = Lockstep(
            commands, TIMESTEP, broadcasters.lose, logger.warning, publishers,
            watched=options.watched,
        )
    loop = PhysicsLoop(robot, controller, broadcasters, pace, options)
    guide = partial(_guide, loop.hand, node.get_logger())
    node.create_subscription(JointTrajectory, '~/hand', guide, 1, raw=True)
    loop.start()
    node.get_logger().info(
        f'brakes hold {len(robot.joint_names)} joints until the first command: '
        f'{", ".join(robot.joint_names)}'
    )
    return controller_node, loop


def _guide(hand: ScriptedHand, logger: Any, message: bytes) -> None:
    try:
        hand.guide(decode_trajectory(message))
    except RneaError as error:
        logger.warning(f'the hand: {error}')


def main(args: list[str] | None = None) -> int:
    """Simulate until a signal; return the exit code."""
    loopback = loopback_by_default(os.environ)
    os.environ.update(loopback)
    process = NodeProcess('simulated_robot', ABOUT, described(PARAMETERS), args)
    node = process.create(lambda: rclpy.create_node('simulated_robot'))
    if loopback:
        node.get_logger().info(LOOPBACK_NOTICE)
    controller_node, loop = process.create(lambda: start(node))
    process.spin(node, controller_node, running=lambda: loop.running)
    return finish(loop, node, controller_node)


if __name__ == '__main__':
    sys.exit(main())
