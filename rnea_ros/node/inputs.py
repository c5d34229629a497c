# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The topics that the control reads at each tick: from CDR bytes to samples of its inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
import math
import time
from typing import Any, Protocol

import numpy as np
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import Float64

from ..arrays import Array
from ..errors import InputError
from ..feedforward import FeedforwardController
from ..feedforward.measured import JointStateMonitor
from ..feedforward.motion import ControllerStateMonitor, SpeedScaling, TrajectoryError
from ..feedforward.settings import ReferenceSettings
from ..messages import (
    FixedLayoutReader,
    ImuSample,
    JointStateSample,
    MalformedError,
    WrenchSample,
    controller_state_reader,
)
from ..ros import Clock, PolledSubscription

RawSubscription = PolledSubscription[bytes]

RELIABLE = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
WATCHDOG_INTERVAL = 0.2  # between two polls, s: longer than a control waits after a blocked tick


class InputTopics(Protocol):
    """The subscriptions; wrenches by name of the sensor. None: parameters do not need it (yet)."""

    joint_states: RawSubscription
    wrenches: dict[str, RawSubscription]
    imu: RawSubscription | None
    additional_effort: RawSubscription | None
    controller_state: RawSubscription | None


class Inputs:
    """
    Gives the control the messages that have arrived since the last tick; for the loop's thread.

    :param references: the reference of a trajectory controller; None if none is followed
    :ivar message_readers: read all topics but the joint states; each gets the tick's time, s
    """

    def __init__(
        self, controller: FeedforwardController, states: JointStateMonitor, topics: InputTopics,
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
            fields = controller_state_type().get_fields_and_field_types()
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
        self._subscription = subscription
        self._command_scale = np.asarray(command_scale)
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


def controller_state_type() -> Any:
    """Return the class of a trajectory controller's state; raise an InputError without it."""
    try:
        from control_msgs.msg import JointTrajectoryControllerState
    except ImportError as error:
        raise InputError(
            'reference_source',
            f"'controller_state' needs the ROS package control_msgs, which cannot be imported: "
            f'{error}',
        ) from error
    return JointTrajectoryControllerState


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
