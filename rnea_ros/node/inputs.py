# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The control with its inputs: what it reads at each tick, from CDR bytes to samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
import math
import time
from typing import Any

from geometry_msgs.msg import PoseStamped
import numpy as np
from std_msgs.msg import Float64

from ..arrays import Array
from ..errors import InputError, RequestRejectedError
from ..feedforward import CONTROLLING, FeedforwardController, JointBounds, Reason, State
from ..feedforward.measured import JointStateMonitor
from ..feedforward.motion import ControllerStateMonitor, SpeedScaling, TrajectoryError
from ..feedforward.settings import ReferenceSettings
from ..feedforward.target_pose import PoseRules
from ..messages import (
    FixedLayoutReader,
    ImuSample,
    JointStateSample,
    MalformedError,
    WrenchSample,
    controller_state_reader,
)
from ..ros import Clock, MachineClock, PolledSubscription, SimClock
from .configuration import Configuration
from .publishers import RELIABLE

WATCHDOG_INTERVAL = 0.2  # between two polls, s: longer than a control waits after a blocked tick


class Inputs:
    """
    Gives the control the messages that have arrived since the last tick; for the loop's thread.

    :param topics: the configuration, for its subscriptions
    :param references: the reference of a trajectory controller; None if none is followed
    :ivar message_readers: read all topics but the joint states; each gets the tick's time, s
    """

    def __init__(
        self, controller: FeedforwardController, states: JointStateMonitor, topics: Configuration,
        clock: Clock, references: ControllerStateMonitor | None = None,
    ) -> None:
        self._controller, self._states, self._references = controller, states, references
        self._topics, self._clock = topics, clock
        sensors = controller.wrenches.sensors
        self._wrenches = [
            (sensors[name].monitor, subscription, FixedLayoutReader(WrenchSample.read))
            for name, subscription in topics.wrenches.items()
        ]
        self._joint_state_reader = FixedLayoutReader(JointStateSample.read)
        self._effort_reader = FixedLayoutReader(JointStateSample.read)
        self._imu_reader = FixedLayoutReader(ImuSample.read)
        self.message_readers: list[Callable[[float], None]] = []
        if topics.wrenches:
            self.message_readers.append(self._read_wrenches)
        if topics.imu is not None:
            self.message_readers.append(self._read_imu)
        if references is not None:
            fields = topics.setup.state_type.get_fields_and_field_types()
            self._reference_reader = FixedLayoutReader(controller_state_reader(fields))
            self.message_readers.append(self._read_references)
        self.message_readers.append(self._read_additional_efforts)

    def read_joint_states(self, now: float) -> None:
        """Read the joint states."""
        messages, states, clock = self._topics.joint_states.take_all(), self._states, self._clock
        # A delayed tick takes samples that are newer than its own time.
        received = max(now, clock.now())
        machine = time.monotonic() if clock.simulated else None
        for sample, stamp in self._joint_state_reader.samples(messages, states.reject):
            states.take_sample(
                *sample, stamp=stamp, clock=clock.stamp(), received=received, machine=machine
            )

    def _read_wrenches(self, now: float) -> None:
        for monitor, subscription, reader in self._wrenches:
            for sample, stamp in reader.samples(subscription.take_all(), monitor.reject):
                monitor.take_sample(*sample, stamp=stamp, clock=self._clock.stamp(), received=now)

    def _read_imu(self, now: float) -> None:
        subscription, base = self._topics.imu, self._controller.base
        assert subscription is not None
        assert base is not None
        for sample, stamp in self._imu_reader.samples(subscription.take_all(), base.imu.reject):
            base.imu.take_sample(
                sample.frame, *sample.present(), stamp=stamp, clock=self._clock.stamp(),
                received=now,
            )

    def _read_additional_efforts(self, now: float) -> None:
        subscription = self._topics.additional_effort
        if subscription is None:
            return
        messages, additional = subscription.take_all(), self._controller.additional_effort
        if not additional.enabled:
            return
        for sample, stamp in self._effort_reader.samples(messages, additional.reject):
            additional.take_sample(
                sample.names, sample.effort, stamp=stamp, clock=self._clock.stamp(), received=now
            )

    def _read_references(self, now: float) -> None:
        subscription, references = self._topics.controller_state, self._references
        controller = self._controller
        assert subscription is not None
        assert references is not None
        for message in subscription.take_all():
            if not controller.following:
                continue
            try:
                sample, stamp = self._reference_reader(message)
            except MalformedError as error:
                references.reject(TrajectoryError(error.reason, error.detail))
                controller.note_setpoint()
                continue
            names, position, velocity, acceleration, speed = sample
            setpoint = references.take_sample(
                names, position, velocity, acceleration, speed.item() if speed.size else None,
                stamp=stamp, clock=self._clock.stamp(), received=now,
                measured=controller.measured()[0], held=lambda: controller.hold_position(now),
            )
            if setpoint is None:
                controller.note_setpoint()
            else:
                controller.set_reference(setpoint)


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
        for read_messages in (self.inputs.read_joint_states, *self.inputs.message_readers):
            read_messages(now)
        controller.step(now)
        sensors = controller.wrenches.sensors.values()
        return controller.state is State.READY and all(sensor.fresh(now) for sensor in sensors)


class WatchdogEfforts:
    """
    The watchdog's last command: the effort on the robot after a stall of this node.

    The watchdog repeats its commands on ``<command_topic>/watchdog``, so that this node need not
    subscribe to the command topic. A command is forgotten after :data:`WATCHDOG_INTERVAL`.

    :param command_scale: driver's unit per N m or N, m values
    """

    def __init__(
        self, subscription: PolledSubscription[Any], command_scale: Sequence[float]
    ) -> None:
        self._subscription, self._command_scale = subscription, np.asarray(command_scale)
        self._polled_at = -math.inf
        self._effort: Array | None = None

    def read_messages(self, now: float) -> None:
        """Poll the topic if it is time, and forget what came before the last poll."""
        if not 0.0 <= now - self._polled_at < WATCHDOG_INTERVAL:  # simulated time can be set back
            self._polled_at, self._effort = now, None
            self.newest()

    def newest(self) -> Array | None:
        """Return the watchdog's command, shape (m,), N m or N; None if it sent none lately."""
        message = self._subscription.take()
        if message is not None and len(message.data) == self._command_scale.size:
            effort = np.asarray(message.data) / self._command_scale
            if np.isfinite(effort).all():
                self._effort = effort
        return self._effort


def subscribe_speed_scaling(
    node: Any, resources: ExitStack, settings: ReferenceSettings, scaling: SpeedScaling,
    rejections: Counter[str],
) -> None:
    """Set the requested speed factor from a topic, if any; the last value stays in force."""

    def take(message: Any) -> None:
        try:
            scaling.set_target(message.data, settings.speed_scaling_scale)
        except InputError as error:
            rejections['speed_scaling/out_of_range'] += 1
            node.get_logger().error(f'rejected: {error}', throttle_duration_sec=1.0)

    if topic := settings.speed_scaling_topic:
        subscription = node.create_subscription(Float64, topic, take, RELIABLE)
        resources.callback(node.destroy_subscription, subscription)


def subscribe_target_pose(
    node: Any, resources: ExitStack, configuration: Configuration, control: Control,
    rejections: Counter[str],
) -> None:
    """Pass the poses of ``~/target_pose`` to the law; the last valid one stays in force."""
    rules, controller = PoseRules(configuration.setup.model), control.controller

    def take(message: Any) -> None:
        p, turn = message.pose.position, message.pose.orientation
        # The mode requested last, as for trajectories
        law, state = configuration.setup.settings.mode, controller.state
        try:
            if state not in CONTROLLING:
                raise RequestRejectedError('not_active', f'the control is {state.value}')
            if not law.takes_poses:
                reason = Reason.MODE_WITHOUT_MOTION.value
                raise RequestRejectedError(reason, f'mode {law.name} takes no target pose')
            controller.move_to(*rules.in_root_frame(
                message.header.frame_id, (p.x, p.y, p.z), (turn.x, turn.y, turn.z, turn.w),
                control.states.position.copy(),
            ))
        except RequestRejectedError as error:
            rejections[f'target_pose/{error.word}'] += 1
            node.get_logger().error(
                f'target pose rejected: {error}', throttle_duration_sec=1.0
            )

    subscription = node.create_subscription(PoseStamped, '~/target_pose', take, RELIABLE)
    resources.callback(node.destroy_subscription, subscription)
