# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the loop reads about the robot: messages as they came, to samples, to the control."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..feedforward.joint_state import JointStateMonitor
from ..feedforward.reasons import Reason
from ..feedforward.surroundings import Surroundings
from .cdr import MalformedError
from .clock import Clock
from .direct import DirectSubscription
from .repeated_message import RepeatedReader
from .samples import ImuSample, JointStateSample, WrenchSample

Raw = DirectSubscription[bytes]


class Inputs:
    """
    Reads what came since the last look; for the loop's thread.

    :param states: where joint states go
    :param surroundings: where the readings of other sensors go
    :param joint_states: where joint states come from
    :param wrenches: where the readings of force-torque sensors come from, by sensor
    :param imu: where the messages of the IMU on the base come from, None for no IMU
    :param clock: the time of ages and stamps
    """

    def __init__(
        self,
        states: JointStateMonitor,
        surroundings: Surroundings,
        joint_states: Raw,
        wrenches: Mapping[str, Raw],
        imu: Raw | None,
        clock: Clock,
    ) -> None:
        self._states = states
        self._surroundings = surroundings
        self._joint_states = joint_states
        self._wrenches = [
            (name, subscription, RepeatedReader(WrenchSample.read))
            for name, subscription in wrenches.items()
        ]
        self._imu = imu
        self._clock = clock
        self._read_joint_state = RepeatedReader(JointStateSample.read)
        self._read_imu = RepeatedReader(ImuSample.read)
        self.parts: list[Callable[[float], None]] = [self.take_joint_states]
        """All there is to read; each is given the tick's time, s."""

        if self._wrenches:
            self.parts.append(self._take_wrenches)
        if imu is not None:
            self.parts.append(self._take_imu)

    def take_joint_states(self, now: float) -> None:
        """Take the joint states that came."""
        messages = self._joint_states.take_all()
        # A tick that is held up after it began takes samples that are newer than its beginning.
        received = max(now, self._clock.now())
        for message in messages:
            try:
                sample, stamp = self._read_joint_state(message)
            except MalformedError:
                self._states.refuse(Reason.MALFORMED)
                continue
            self._states.update(
                *sample, stamp=stamp, clock=self._clock.stamp(), received=received
            )

    def _take_wrenches(self, now: float) -> None:
        wrenches = self._surroundings.wrenches
        for name, subscription, read in self._wrenches:
            for message in subscription.take_all():
                try:
                    sample, stamp = read(message)
                except MalformedError:
                    wrenches.refuse(name, Reason.MALFORMED)
                    continue
                wrenches.update(
                    name, *sample, stamp=stamp, clock=self._clock.stamp(), received=now
                )

    def _take_imu(self, now: float) -> None:
        base = self._surroundings.base
        assert self._imu is not None
        assert base is not None
        for message in self._imu.take_all():
            try:
                sample, stamp = self._read_imu(message)
            except MalformedError:
                base.refuse(Reason.MALFORMED)
                continue
            base.update(
                sample.frame,
                *sample.present(),
                stamp=stamp,
                clock=self._clock.stamp(),
                received=now,
            )
