# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Joint states, wrenches and IMU messages: from CDR bytes to samples of the feedforward inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
import time
from typing import TypeVar

from ...feedforward import Environment, Reason
from ...feedforward.inputs import JointStateMonitor
from ...messages import (
    FixedLayoutReader,
    ImuSample,
    JointStateSample,
    MalformedError,
    WrenchSample,
)
from ...ros import Clock, PolledSubscription

RawSubscription = PolledSubscription[bytes]
Sample = TypeVar('Sample')


class SensorTopics:
    """
    Takes the messages that have arrived since the last tick; for the loop's thread.

    :param environment: the force-torque sensors and the IMU
    :param joint_states: of sensor_msgs/JointState
    :param wrenches: of geometry_msgs/WrenchStamped, by name of the force-torque sensor
    :param imu: of sensor_msgs/Imu, None without an IMU on the base
    :ivar take_others: take the messages of all topics but the joint states; each gets the time of
        the tick, s
    """

    def __init__(
        self, states: JointStateMonitor, environment: Environment, joint_states: RawSubscription,
        wrenches: Mapping[str, RawSubscription], imu: RawSubscription | None, clock: Clock,
    ) -> None:
        self._states = states
        self._environment = environment
        self._joint_states = joint_states
        self._wrenches = [
            (
                environment.wrenches.sensors[name].monitor, subscription,
                FixedLayoutReader(WrenchSample.read),
            )
            for name, subscription in wrenches.items()
        ]
        self._imu = imu
        self._clock = clock
        self._read_joint_state = FixedLayoutReader(JointStateSample.read)
        self._read_imu = FixedLayoutReader(ImuSample.read)
        self.take_others: list[Callable[[float], None]] = []
        if self._wrenches:
            self.take_others.append(self._take_wrenches)
        if imu is not None:
            self.take_others.append(self._take_imu)

    def take_joint_states(self, now: float) -> None:
        """Take the joint states that have arrived."""
        messages = self._joint_states.take_all()
        # A delayed tick takes samples that are newer than its own time.
        received = max(now, self._clock.now())
        machine = time.monotonic() if self._clock.simulated else None
        for sample, stamp in samples(messages, self._read_joint_state, self._states.reject):
            self._states.take_sample(
                *sample, stamp=stamp, clock=self._clock.stamp(), received=received, machine=machine
            )

    def _take_wrenches(self, now: float) -> None:
        for monitor, subscription, read in self._wrenches:
            for sample, stamp in samples(subscription.take_all(), read, monitor.reject):
                monitor.take_sample(*sample, stamp=stamp, clock=self._clock.stamp(), received=now)

    def _take_imu(self, now: float) -> None:
        base = self._environment.base
        assert self._imu is not None
        assert base is not None
        for sample, stamp in samples(self._imu.take_all(), self._read_imu, base.imu.reject):
            base.imu.take_sample(
                sample.frame, *sample.present(), stamp=stamp, clock=self._clock.stamp(),
                received=now,
            )


def samples(
    messages: Iterable[bytes], read: FixedLayoutReader[Sample], reject: Callable[[Reason], None]
) -> Iterator[tuple[Sample, float]]:
    """Yield the sample and the stamp, s, of each message; reject malformed messages."""
    for message in messages:
        try:
            sample = read(message)
        except MalformedError:
            reject(Reason.MALFORMED)
        else:
            yield sample
