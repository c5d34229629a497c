# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The additional efforts of another program: from CDR bytes to the control."""

from __future__ import annotations

from typing import Protocol

from ...feedforward.inputs import AdditionalEffort
from ...messages import FixedLayoutReader, JointStateSample
from ...ros import Clock
from .sensor_topics import RawSubscription, samples


class Subscriber(Protocol):
    """Has the subscription of ``~/additional_effort``; None until a limit is above 0."""

    @property
    def additional_effort(self) -> RawSubscription | None:
        """The subscription; once made, it stays."""


class AdditionalEffortTopic:
    """Gives the control the additional efforts; for the loop's thread."""

    def __init__(self, subscriber: Subscriber, additional: AdditionalEffort, clock: Clock) -> None:
        self._subscriber = subscriber
        self._additional = additional
        self._clock = clock
        self._read = FixedLayoutReader(JointStateSample.read)

    def take_messages(self, now: float) -> None:
        """Take the messages that have arrived."""
        subscription, additional = self._subscriber.additional_effort, self._additional
        if subscription is None:
            return
        messages = subscription.take_all()
        if not additional.enabled:
            return
        for sample, stamp in samples(messages, self._read, additional.reject):
            additional.take_sample(
                sample.names, sample.effort, stamp=stamp, clock=self._clock.stamp(), received=now
            )
