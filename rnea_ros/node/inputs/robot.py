# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the loop reads about the robot: messages as they came, to samples, to the control."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
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

Raw = PolledSubscription[bytes]
Sample = TypeVar('Sample')


class Inputs:
    """
    Reads what came since the last look; for the loop's thread.

    :param states: where joint states go
    :param environment: where the readings of other sensors go
    :param joint_states: where joint states come from
    :param wrenches: where the readings of force-torque sensors come from, by sensor
    :param imu: where the messages of the IMU on the base come from, None for no IMU
    :param clock: the time of ages and stamps
    """

    def __init__(
        self,
        states: JointStateMonitor,
        environment: Environment,
        joint_states: Raw,
        wrenches: Mapping[str, Raw],
        imu: Raw | None,
        clock: Clock,
    ) -> None:
        self._states = states
        self._surroundings = environment
        self._joint_states = joint_states
        self._wrenches = [
            (name, subscription, FixedLayoutReader(WrenchSample.read))
            for name, subscription in wrenches.items()
        ]
        self._imu = imu
        self._clock = clock
        self._read_joint_state = FixedLayoutReader(JointStateSample.read)
        self._read_imu = FixedLayoutReader(ImuSample.read)
        self.take_others: list[Callable[[float], None]] = []
        """Take what came from other sensors than joints; each is given the tick's time, s."""

        if self._wrenches:
            self.take_others.append(self._take_wrenches)
        if imu is not None:
            self.take_others.append(self._take_imu)

    def take_joint_states(self, now: float) -> None:
        """
        Take the joint states that came.

        :param now: the tick's time, s
        """
        messages = self._joint_states.take_all()
        # A tick that is held up after it began takes samples that are newer than its beginning.
        received = max(now, self._clock.now())
        machine = time.monotonic() if self._clock.simulated else None
        for sample, stamp in _samples(messages, self._read_joint_state, self._states.refuse):
            self._states.update(
                *sample,
                stamp=stamp,
                clock=self._clock.stamp(),
                received=received,
                machine=machine,
            )

    def _take_wrenches(self, now: float) -> None:
        wrenches = self._surroundings.wrenches
        for name, subscription, read in self._wrenches:
            refuse = partial(wrenches.refuse, name)
            for sample, stamp in _samples(subscription.take_all(), read, refuse):
                wrenches.update(
                    name, *sample, stamp=stamp, clock=self._clock.stamp(), received=now
                )

    def _take_imu(self, now: float) -> None:
        base = self._surroundings.base
        assert self._imu is not None
        assert base is not None
        for sample, stamp in _samples(self._imu.take_all(), self._read_imu, base.refuse):
            base.update(
                sample.frame,
                *sample.present(),
                stamp=stamp,
                clock=self._clock.stamp(),
                received=now,
            )


def _samples(
    messages: Iterable[bytes], read: FixedLayoutReader[Sample], refuse: Callable[[Reason], None]
) -> Iterator[tuple[Sample, float]]:
    """Yield samples, each with its stamp, s; refuse what is none."""
    for message in messages:
        try:
            sample = read(message)
        except MalformedError:
            refuse(Reason.MALFORMED)
        else:
            yield sample
