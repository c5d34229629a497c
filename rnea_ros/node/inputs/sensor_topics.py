# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Messages of every tick: from CDR bytes to samples of the feedforward inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import time

from ...feedforward import FeedforwardController
from ...feedforward.efforts import AdditionalEffort
from ...feedforward.measured import JointStateMonitor
from ...messages import FixedLayoutReader, ImuSample, JointStateSample, WrenchSample
from ...ros import Clock, PolledSubscription

RawSubscription = PolledSubscription[bytes]


class SensorTopics:
    """
    Takes the messages that have arrived since the last tick; for the loop's thread.

    :param joint_states: of sensor_msgs/JointState
    :param wrenches: of geometry_msgs/WrenchStamped, by name of the force-torque sensor
    :param imu: of sensor_msgs/Imu, None without an IMU on the base
    :ivar take_others: take the messages of all topics but the joint states; each gets the time of
        the tick, s
    """

    def __init__(
        self, states: JointStateMonitor, controller: FeedforwardController,
        joint_states: RawSubscription, wrenches: Mapping[str, RawSubscription],
        imu: RawSubscription | None, clock: Clock,
    ) -> None:
        self._states = states
        self._controller = controller
        self._joint_states = joint_states
        sensors = controller.wrenches.sensors
        self._wrenches = [
            (sensors[name].monitor, subscription, FixedLayoutReader(WrenchSample.read))
            for name, subscription in wrenches.items()
        ]
        self._imu = imu
        self._clock = clock
        self._read_joint_states = FixedLayoutReader(JointStateSample.read)
        self._read_imu = FixedLayoutReader(ImuSample.read)
        takes = [self._take_wrenches] if self._wrenches else []
        if imu is not None:
            takes.append(self._take_imu)
        self.take_others = tuple(takes)

    def take_joint_states(self, now: float) -> None:
        """Take the joint states that have arrived."""
        messages = self._joint_states.take_all()
        # A delayed tick takes samples that are newer than its own time.
        received = max(now, self._clock.now())
        machine = time.monotonic() if self._clock.simulated else None
        for sample, stamp in self._read_joint_states.samples(messages, self._states.reject):
            self._states.take_sample(
                *sample, stamp=stamp, clock=self._clock.stamp(), received=received, machine=machine
            )

    def _take_wrenches(self, now: float) -> None:
        for monitor, subscription, reader in self._wrenches:
            for sample, stamp in reader.samples(subscription.take_all(), monitor.reject):
                monitor.take_sample(*sample, stamp=stamp, clock=self._clock.stamp(), received=now)

    def _take_imu(self, now: float) -> None:
        base = self._controller.base
        assert self._imu is not None
        assert base is not None
        for sample, stamp in self._read_imu.samples(self._imu.take_all(), base.imu.reject):
            base.imu.take_sample(
                sample.frame, *sample.present(), stamp=stamp, clock=self._clock.stamp(),
                received=now,
            )


class AdditionalEffortTopic:
    """
    Gives the control the additional efforts of another program; for the loop's thread.

    The subscription of ``~/additional_effort`` is None until a limit is above 0.
    """

    def __init__(
        self, subscription: Callable[[], RawSubscription | None], additional: AdditionalEffort,
        clock: Clock,
    ) -> None:
        self._subscription = subscription
        self._additional = additional
        self._clock = clock
        self._read = FixedLayoutReader(JointStateSample.read)

    def take_messages(self, now: float) -> None:
        """Take the messages that have arrived."""
        subscription, additional = self._subscription(), self._additional
        if subscription is None:
            return
        messages = subscription.take_all()
        if not additional.enabled:
            return
        for sample, stamp in self._read.samples(messages, additional.reject):
            additional.take_sample(
                sample.names, sample.effort, stamp=stamp, clock=self._clock.stamp(), received=now
            )
