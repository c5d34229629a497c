# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The lifecycle node ``feedforward``: commands efforts computed from the robot's model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import sys
import time

from rcl_interfaces.msg import SetParametersResult
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.utilities import try_shutdown
from std_msgs.msg import String

from ..errors import RneaError
from ..feedforward.settings import NodeSettings, all_declarations, missing_hardware_compensates
from ..parameters import described
from ..ros import (
    LATCHED,
    MACHINE_TIME,
    NodeProcess,
    OtherPublishers,
    ParameterServices,
    PolledNodeTime,
    PolledSubscription,
    transition,
)
from ..urdf import read_urdf
from .activation import Activation
from .autostart import Autostart
from .command_topic import CommandTopic
from .configuration import Configuration
from .control_setup import ControlSetup, NodeParameters, make_setup
from .follow_joint_trajectory import FollowJointTrajectory
from .rest_motion import RestService
from .tare_service import TareService

CONFIGURE_PATIENCE = 6.0  # longest wait of configure, above that for the controller's service, s

ABOUT = """\
The lifecycle node 'feedforward': computes efforts from the robot's model and commands them to an
effort controller. It waits for the robot's description and controller, then configures and
activates itself unless autostart is off. On SIGINT, SIGTERM, SIGHUP (closed terminal) and SIGQUIT
it moves to rest_pose if this is set, ramps down, then ends; a second signal ends the motion."""


class FeedforwardNode(ParameterServices, PolledNodeTime, LifecycleNode):
    """
    Torque feedforward as a ROS 2 lifecycle node; all but the loop runs on its executor.

    The action server is destroyed before the node.

    :param signals: returns the number of signals of the process
    :raises InputError: a parameter at the start cannot be used
    """

    def __init__(self, signals: Callable[[], int] = lambda: 0) -> None:
        super().__init__('feedforward')
        self._signals = signals
        self._node_parameters, self._urdf_from_topic = NodeParameters(self), ''
        self._configuration: Configuration | None = None
        self._activation: Activation | None = None
        self._changed: ControlSetup | None = None
        self.add_on_set_parameters_callback(self._on_set_parameters)
        self.add_post_set_parameters_callback(self._after_set_parameters)
        self._command_topic = CommandTopic(
            self, self.resolve_topic_name(self.get_parameter('command_topic').value)
        )
        self._joint_state_publishers = OtherPublishers(self, 'joint_states')
        self._autostart = Autostart(self, self._command_topic, self._missing_at_start)
        self._autostart.enable()
        self._description: PolledSubscription[String] = PolledSubscription(
            self, String, 'robot_description', LATCHED
        )
        TareService(
            self, lambda: self._configuration,
            lambda: self._activation.controller if self._activation else None,
        )
        RestService(self, lambda: self._activation.rest if self._activation else None)
        self.action = FollowJointTrajectory(
            self, lambda: self._activation.motions if self._activation else None
        )
        self.create_timer(0.1, self._poll, clock=MACHINE_TIME)
        self.create_timer(1.0, self._each_second, clock=MACHINE_TIME)

    @transition
    def on_configure(self) -> None:
        """Wait for the robot if necessary, check it and the parameters, create the topics."""
        deadline = time.monotonic() + CONFIGURE_PATIENCE
        while (missing := self._missing()) and time.monotonic() < deadline:
            time.sleep(0.05)
            self._take_description()
            self._poll_command_topic()
        if missing:
            raise RneaError(missing)
        self._configure(self._node_parameters.settings())
        self._warn(self._joint_state_publishers.same_names)

    @transition
    def on_activate(self) -> None:
        """Start the control loop, unless another node commands or the joints differ."""
        self._poll_command_topic()
        parameters = self._node_parameters.settings()
        if missing := missing_hardware_compensates(parameters.values):
            raise RneaError(missing)
        configuration, topic = self._configure(parameters), self._command_topic
        commanded = configuration.setup.settings.joints
        if topic.conflict:
            raise RneaError(topic.conflict)
        if topic.joints not in (None, (), commanded):
            raise RneaError(f'{topic.other_joints(commanded)} now; configure again')
        self._activation = Activation(self, configuration, topic)
        self._autostart.activated()
        self._warn(*configuration.setup.mode_warnings)

    @transition
    def on_deactivate(self) -> None:
        """Move to the rest pose, ramp down by stale_action, then end the control loop."""
        self._deactivate(self._signals)

    @transition
    def on_cleanup(self) -> None:
        """Destroy the topics and forget the robot."""
        self._release()

    @transition
    def on_shutdown(self) -> None:
        """Move to the rest pose and ramp down if the control is active; destroy the topics."""
        self.shut_down()

    def on_error(self, _: LifecycleState) -> TransitionCallbackReturn:
        """Ramp down and destroy the topics after an exception in a transition."""
        self._deactivate()
        self._release()
        return TransitionCallbackReturn.SUCCESS

    def shut_down(self) -> None:
        """Move to the rest pose and ramp down if the control is active; destroy the topics."""
        self._autostart.disable()
        self._deactivate(self._signals)
        self._release()

    def _warn(self, *warnings: str) -> None:
        for warning in filter(None, warnings):
            self.get_logger().warning(warning)

    def _setup_of(self, parameters: NodeSettings) -> ControlSetup:
        """Return the setup for parameters: that in force, or the checked one, if unchanged."""
        source = parameters.robot.robot_description
        urdf = read_urdf(source) if source else self._urdf_from_topic
        before = None if self._configuration is None else self._configuration.setup
        if before is not None and before.is_for(parameters, urdf):
            return before
        joints, checked = self._command_topic.joints, self._changed
        if checked is not None and checked.is_for(parameters, urdf) and (
            not joints or joints == checked.settings.joints
        ):
            return checked
        return make_setup(parameters, urdf, self._command_topic, before)

    def _configure(self, parameters: NodeSettings) -> Configuration:
        """Return the configuration, a new one after changes; an error leaves the old one."""
        setup, before = self._setup_of(parameters), self._configuration
        if before is None or before.setup is not setup:
            self._release()
            self._configuration = Configuration(self, setup, self._command_topic.topic)
            if before is not None:
                self._configuration.offsets.update(before.offsets)
        assert self._configuration is not None
        return self._configuration

    def _deactivate(self, signals: Callable[[], int] | None = None) -> None:
        activation, self._activation = self._activation, None
        if activation is not None:
            activation.deactivate(signals)

    def _release(self) -> None:
        configuration, self._configuration, self._changed = self._configuration, None, None
        if configuration is not None:
            configuration.close()

    def _missing(self) -> str:
        """Return a text about what configure still needs; empty if nothing."""
        parameters = self._node_parameters.settings()
        if not (parameters.robot.robot_description or self._urdf_from_topic):
            topic = self.resolve_topic_name('robot_description')
            return f'no robot_description, neither as parameter nor on {topic}'
        return '' if parameters.control.joints else self._command_topic.missing

    def _missing_at_start(self) -> str:
        robots = self._command_topic.conflict or self._joint_state_publishers.same_names
        values = self._node_parameters.settings().values
        return robots or missing_hardware_compensates(values) or self._missing()

    def _poll(self) -> None:
        """Do what is too slow for the control loop."""
        self.set_time()
        self._take_description()
        if self._activation is None:
            self._poll_command_topic()
        else:
            self._activation.poll()
        self._autostart.poll(self._activation, configured=self._configuration is not None)

    def _poll_command_topic(self) -> None:
        """Look for controllers and publishers while the node is not active."""
        now = time.monotonic()
        self._command_topic.poll(now, publishing=self._configuration is not None)
        self._joint_state_publishers.poll(now)

    def _each_second(self) -> None:
        if self._activation is not None:
            self._activation.report()

    def _take_description(self) -> None:
        message = self._description.take()
        if message is None or message.data == self._urdf_from_topic:
            return
        self._urdf_from_topic = message.data
        if self.get_parameter('robot_description').value:
            return  # the parameter has priority
        if self._configuration is None:
            self._autostart.enable()
        else:
            self.get_logger().warning(
                'the new robot_description takes effect at the next activation',
                throttle_duration_sec=1.0,
            )

    def _on_set_parameters(self, changes: Sequence[Parameter]) -> SetParametersResult:
        """Check all changes together; they take effect once every callback has accepted them."""
        self._changed = None
        active = self._activation is not None
        try:
            if active:
                self._node_parameters.check_while_active(changes)
            parameters = self._node_parameters.settings(changes)
            if active and self._configuration is not None:
                self._changed = self._configuration.setup.changed(parameters)
            elif self._configuration is not None:
                self._changed = self._setup_of(parameters)  # for the next activation
        except RneaError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _after_set_parameters(self, _: Sequence[Parameter]) -> None:
        """Apply accepted changes; while the node is inactive, the next activation applies them."""
        if self._activation is None or self._configuration is None or self._changed is None:
            return
        before = self._configuration.setup
        self._configuration.change(self._changed)
        self._activation.controller.change(self._changed.settings)
        self._warn(*(text for text in self._changed.mode_warnings
                     if text not in before.mode_warnings))


def main(args: list[str] | None = None) -> int:
    """Run the node until a signal, then ramp down; return the exit code."""
    table = all_declarations(['NAME'], ['constraints.JOINT.goal'])
    process = NodeProcess('feedforward_node', ABOUT, described(table), args)
    node = process.create(lambda: FeedforwardNode(lambda: process.signals))
    try:
        process.spin(node, finishing=node.action.finishing)
    finally:
        node.shut_down()
    node.action.destroy()
    node.destroy_node()
    try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
