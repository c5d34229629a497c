# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The lifecycle node ``feedforward``: waits for what it needs, then runs the control."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
import random
import sys
import time
import traceback
from typing import Any

from rcl_interfaces.msg import SetParametersResult
import rclpy
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from ..errors import RneaError
from ..feedforward.checks import SettingsError
from ..feedforward.controller import FeedforwardController
from . import parameters
from .activation import Activation
from .configuration import Configuration
from .controller_joints import ControllerJoints, difference
from .declaration import described
from .declarations import PARAMETERS, sensor_declarations
from .node_time import MACHINE_TIME, OffExecutorTime
from .other_publishers import OtherPublishers
from .process import NodeProcess
from .tare_service import TareService

LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)

ABOUT = """\
The lifecycle node 'feedforward': commands the efforts that a robot needs, by its model, to an
effort controller. It waits for the robot's description, joint states and controller, then
configures and activates itself unless autostart is off; SIGINT and SIGTERM ramp down first."""

DISCOVERY = 0.5
"""How long the node waits at its start to discover other nodes, s."""


TRY_LATER = (0.5, 3.0)
"""Shortest and longest time before a start that met another publisher is repeated, s."""

Transition = Callable[[Any, LifecycleState], TransitionCallbackReturn]


def logged(transition: Transition) -> Transition:
    """Log what a transition raises: rclpy turns it into an error without a word."""

    @functools.wraps(transition)
    def wrapper(node: Any, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            return transition(node, state)
        except Exception:
            node.get_logger().error(f'{transition.__name__} failed: {traceback.format_exc()}')
            return TransitionCallbackReturn.ERROR

    return wrapper


class FeedforwardNode(OffExecutorTime, LifecycleNode):
    """
    Torque feedforward as a ROS 2 lifecycle node.

    Everything but the control loop's own thread runs on the executor that spins this node.

    :raises SettingsError: a parameter that was given at the start cannot be used
    """

    def __init__(self) -> None:
        super().__init__('feedforward')
        self._created = time.monotonic()
        self._parameter_values = parameters.NodeParameters(self)
        self.add_on_set_parameters_callback(self._on_set_parameters)

        self._configuration: Configuration | None = None
        self._activation: Activation | None = None
        self._urdf_from_topic = ''
        self._autostart = bool(self.get_parameter('autostart').value)
        self._not_before = self._created + DISCOVERY
        self._autostarted = False
        self._reported_missing = ''
        self._command_topic = self.resolve_topic_name(self.get_parameter('command_topic').value)
        self._controller_joints = ControllerJoints(self, self._command_topic)
        self._other_publishers = OtherPublishers(self, self._command_topic)
        self.create_subscription(String, 'robot_description', self._on_robot_description, LATCHED)
        TareService(self, self._active_control)
        self.create_timer(0.1, self._watch, clock=MACHINE_TIME)
        self.create_timer(1.0, self._each_second, clock=MACHINE_TIME)

    @logged
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read the robot and the parameters; refuse, saying why, what cannot be run."""
        del state
        missing = self._missing()
        if missing:
            self.get_logger().error(f'cannot configure: {missing}')
            return TransitionCallbackReturn.FAILURE
        values = self._parameter_values.values()
        try:
            self._configuration = Configuration(
                self,
                values,
                values['robot_description'] or self._urdf_from_topic,
                self._controller_joints,
            )
        except RneaError as error:
            self.get_logger().error(f'cannot configure: {error}')
            return TransitionCallbackReturn.FAILURE
        return TransitionCallbackReturn.SUCCESS

    @logged
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start the control loop, unless its commands would meet others or go to other joints."""
        del state
        assert self._configuration is not None
        self._look()
        refusal = self._refusal(self._configuration)
        if refusal:
            self.get_logger().error(f'cannot activate: {refusal}')
            return TransitionCallbackReturn.FAILURE
        self._activation = Activation(
            self, self._configuration, self._controller_joints, self._other_publishers
        )
        return TransitionCallbackReturn.SUCCESS

    @logged
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Ramp down as stale_action says, then end the control loop."""
        del state
        self._deactivate()
        return TransitionCallbackReturn.SUCCESS

    @logged
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the robot."""
        del state
        self._release()
        return TransitionCallbackReturn.SUCCESS

    @logged
    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Ramp down where the control is active, and destroy what configure made."""
        del state
        self.end()
        return TransitionCallbackReturn.SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Go back to unconfigured after an exception in a transition; nothing is left behind."""
        del state
        self._deactivate()
        self._release()
        return TransitionCallbackReturn.SUCCESS

    def end(self) -> None:
        """Ramp down where the control is active, and destroy what configure made."""
        self._autostart = False
        self._deactivate()
        self._release()

    def _active_control(self) -> FeedforwardController | None:
        return None if self._activation is None else self._activation.controller

    def _deactivate(self) -> None:
        activation, self._activation = self._activation, None
        if activation is not None:
            activation.stop()

    def _release(self) -> None:
        configuration, self._configuration = self._configuration, None
        if configuration is not None:
            configuration.close()

    def _missing(self) -> str:
        """Return what a configure lacks, empty where it lacks nothing."""
        values = self._parameter_values.values()
        if not (values['robot_description'] or self._urdf_from_topic):
            topic = self.resolve_topic_name('robot_description')
            return f'no robot_description, neither as parameter nor on {topic}'
        if not parameters.listed_joints(values):
            return self._controller_joints.missing
        return ''

    def _refusal(self, configuration: Configuration) -> str:
        """Return why the control may not be started, empty where it may."""
        others, joints = self._other_publishers.names, self._controller_joints
        if others:
            return self._other_publishers.complaint(others)
        commanded = configuration.settings.joints
        if joints.joints and joints.joints != commanded:
            what = difference(joints.joints, commanded)
            return f'{joints.controller} takes commands {what} now; configure again'
        return ''

    def _watch(self) -> None:
        """Look after what the loop has no time for, ten times a second."""
        self.look_at_time()
        if self._configuration is not None:
            self._configuration.publishers.look_for_listeners()
        if self._activation is None:
            self._look()
        else:
            self._activation.watch()
            if self._autostarted and self._activation.lost_to_other_publisher:
                self._try_later()
        if self._autostart and self._configuration is None:
            self._start_if_ready()

    def _look(self) -> None:
        """Look for the controller and for other publishers while nothing is active."""
        now = time.monotonic()
        self._controller_joints.poll(now)
        self._other_publishers.look(now, publishing=self._configuration is not None)

    def _start_if_ready(self) -> None:
        if time.monotonic() < self._not_before or self._other_publishers.undecided:
            return
        missing = self._missing()
        if self._other_publishers.names:
            # A killed node is listed for many seconds; this one waits its turn.
            missing = self._other_publishers.complaint(self._other_publishers.names)
        if not missing:
            self._autostart = False  # once: a later deactivation by the user is respected
            self._autostarted = True
            if (
                self.trigger_configure() is TransitionCallbackReturn.SUCCESS
                and self.trigger_activate() is not TransitionCallbackReturn.SUCCESS
                and self._other_publishers.names
            ):
                self._try_later()
        elif missing != self._reported_missing:
            self._reported_missing = missing
            self.get_logger().info(f'waiting: {missing}')

    def _try_later(self) -> None:
        """
        Leave the command topic to another publisher that started at the same time.

        The next attempt comes after a random time: of two such nodes one is then the first.
        """
        if self._activation is not None:
            self.trigger_deactivate()
        self.trigger_cleanup()
        self._autostart, self._autostarted = True, False
        self._not_before = time.monotonic() + random.uniform(*TRY_LATER)

    def _each_second(self) -> None:
        if self._activation is not None:
            self._activation.report()

    def _on_robot_description(self, message: Any) -> None:
        if message.data == self._urdf_from_topic:
            return
        self._urdf_from_topic = message.data
        if self.get_parameter('robot_description').value:
            return  # the parameter wins
        if self._configuration is None:
            self._autostart = bool(self.get_parameter('autostart').value)
        else:
            self.get_logger().warning(
                'a new robot_description counts from the next configure on',
                throttle_duration_sec=1.0,
            )

    def _on_set_parameters(self, changes: Sequence[Parameter]) -> SetParametersResult:
        """Check all changes together; take none where one cannot be used."""
        try:
            values = self._parameter_values.values(changes)
            parameters.check_alone(values)
            self._parameter_values.check_topics(values)
            if self._activation is not None:
                self._parameter_values.check_while_active(changes)
            if self._configuration is not None:
                self._configuration.settings = self._configuration.resolve_change(values)
                if self._activation is not None:
                    self._activation.change(self._configuration.settings)
        except SettingsError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)


def main(args: list[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM, then ramp down; return the exit code."""
    table = {**PARAMETERS, **sensor_declarations('NAME')}
    process = NodeProcess('feedforward_node', ABOUT, described(table), args)
    node = process.start(FeedforwardNode)
    try:
        process.spin(node)
    finally:
        node.end()
    node.destroy_node()
    rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
