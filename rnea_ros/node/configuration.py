# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What lives from configure to cleanup, topics and tares; and the control that is made of it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from rosgraph_msgs.msg import Clock as ClockMessage
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray

from ..feedforward import FeedforwardController, JointBounds, Reason, State
from ..feedforward.measured import JointStateMonitor
from ..feedforward.motion import ControllerStateMonitor
from ..feedforward.tare import TareOffsets
from ..ros import Clock, MachineClock, PolledSubscription, SimClock, watchdog_topic
from .control_setup import ControlSetup
from .inputs import Inputs, RawSubscription
from .publishers import Publishers

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
SENSOR_DATA = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)

# A history for several publishers between two ticks. With a history of 1, the last publisher
# before a tick would replace the messages of the others.
JOINT_STATES = QoSProfile(depth=16, reliability=ReliabilityPolicy.BEST_EFFORT)


class Configuration:
    """
    Keeps the setup, which :meth:`change` replaces, and the topics, from configure to cleanup.

    Subscriptions are None where parameters do not need them. An error of a part destroys those
    that were made before it.

    :ivar offsets: tares of the force-torque sensors, for every control
    """

    def __init__(self, node: Any, setup: ControlSetup, command_topic: str) -> None:
        self._node = node
        self.offsets: TareOffsets = {}
        self._subscriptions: list[PolledSubscription[Any]] = []
        settings, logger = setup.settings, node.get_logger()
        for warning in setup.warnings:
            logger.warning(warning)
        self._resources = ExitStack()
        with ExitStack() as resources:
            resources.callback(self.close)
            self._subscribe_all(setup, command_topic)
            self.publishers = Publishers(node, command_topic, settings)
            self._resources.callback(self.publishers.close)
            self.change(setup)
            resources.pop_all()
        logger.info(
            f'{setup.model!r}: {settings.mode.name} at {settings.rate:g} Hz '
            f'on {command_topic} for {", ".join(settings.joints)}'
        )
        present = settings.zones.present
        if present.any():
            limited = [name for name, zone in zip(settings.joints, present, strict=True) if zone]
            logger.info(f'soft limits at {", ".join(limited)}')

    def _subscribe_all(self, setup: ControlSetup, command_topic: str) -> None:
        settings = setup.settings
        self.joint_states: RawSubscription = self._subscribe(
            JointState, 'joint_states', JOINT_STATES,
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
        )
        self.wrenches: dict[str, RawSubscription] = {
            sensor.name: self._subscribe(WrenchStamped, sensor.topic)
            for sensor in settings.wrench_inputs
        }
        self.imu: RawSubscription | None = None
        if settings.base_sensor is not None:
            self.imu = self._subscribe(Imu, settings.base_sensor.topic)
        self.controller_state: RawSubscription | None = None
        if setup.state_type is not None:
            topic = setup.parameters.reference.controller_state_topic
            self.controller_state = self._subscribe(setup.state_type, topic, NEWEST)
        self.additional_effort: RawSubscription | None = None
        self.watchdog: PolledSubscription[Any] = self._subscribe(
            Float64MultiArray, watchdog_topic(command_topic), NEWEST, raw=False
        )
        self.sim_clock: PolledSubscription[Any] | None = None
        if setup.parameters.values['use_sim_time']:
            self.sim_clock = self._subscribe(ClockMessage, '/clock', NEWEST, raw=False)

    def _subscribe(
        self, kind: Any, topic: str, qos: QoSProfile = SENSOR_DATA, *, raw: bool = True,
        **options: Any,
    ) -> Any:
        subscription: Any = PolledSubscription(self._node, kind, topic, qos, raw=raw, **options)
        self._resources.callback(subscription.destroy)
        self._subscriptions.append(subscription)
        return subscription

    def change(self, setup: ControlSetup) -> None:
        """Replace the setup; subscribe to additional efforts once they may be above 0."""
        self.setup = setup
        if self.additional_effort is None and any(setup.settings.additional_effort.limits):
            self.additional_effort = self._subscribe(JointState, '~/additional_effort')

    def discard_messages(self) -> None:
        """Discard the messages that were received without a control, except the time."""
        for subscription in self._subscriptions:
            if subscription is not self.sim_clock:
                subscription.take()

    def close(self) -> None:
        """Destroy subscriptions and publishers."""
        self._resources.close()


class Control:
    """
    A new control of the configured robot, not yet in a loop, with its inputs and clock.

    It goes on with the tares of the control before it.

    :ivar references: the reference of a trajectory controller; None if none is followed
    """

    def __init__(self, configuration: Configuration) -> None:
        setup, settings = configuration.setup, configuration.setup.settings
        configuration.discard_messages()
        self.states = JointStateMonitor(
            setup.model.joint_names, JointBounds.of_robot(setup.model, settings),
            differentiate_velocity=setup.parameters.reference.differentiate_velocity,
        )
        controller = self.controller = FeedforwardController(setup.model, settings, self.states)
        controller.wrenches.use_offsets(configuration.offsets)
        self.clock: Clock = MachineClock()
        if configuration.sim_clock is not None:
            self.clock = SimClock(
                configuration.sim_clock,
                lambda now: controller.enter_fault(Reason.CLOCK_RESET, now),
            )
        self.references: ControllerStateMonitor | None = None
        if configuration.controller_state is not None:
            self.references = ControllerStateMonitor(setup.rules, controller.speed_scaling)
        self.inputs = Inputs(controller, self.states, configuration, self.clock, self.references)

    def step_unpermitted(self) -> bool:
        """Step without commands; return whether all joint states and wrenches are valid."""
        now, controller = self.clock.now(), self.controller
        controller.permitted = False
        self.inputs.read_joint_states(now)
        for read_messages in self.inputs.message_readers:
            read_messages(now)
        controller.step(now)
        sensors = controller.wrenches.sensors.values()
        return controller.state is State.READY and all(sensor.fresh(now) for sensor in sensors)
