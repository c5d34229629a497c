# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The client of the demo: commands the feedforward node and records its topics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
import time
from typing import Any

import numpy as np
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from ...arrays import Array
from ...live import LiveNode, NodeClient, Trajectories, sample_of
from ...recordings import Sample, recording_from
from ...ros import PolledSubscription, seconds
from .arm import DemoError

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""One message in each interval of the recording."""

EVERY = QoSProfile(depth=2000)  # every message, of a second or more
RECORD_INTERVAL = 0.01  # at which messages are taken, s


@dataclass
class Received:
    """Received messages."""

    states: list[Sample] = field(default_factory=list)  # stamps in the robot's time
    messages: list[bytes] = field(default_factory=list)  # the same as serialised messages
    terms: dict[str, list[tuple[float, Array]]] = field(default_factory=dict)  # stamp, effort


def positions(states: Sequence[Sample], joints: Sequence[str]) -> tuple[Array, Array]:
    """Return stamps, shape (N,), s, and positions of m joints, shape (N, m), rad or m."""
    recording = recording_from(states).of_joints(joints)
    return recording.time, recording.position


class DemoClient(NodeClient):
    """
    The client of the demo. Its clock is the robot's: the stamp of the newest joint state.

    The clock has a subscription of its own: where every message is recorded, DDS withholds new
    ones until a lost one is sent again, and simulated time may pass a motion meanwhile. Unless
    ``every_state``, it records one message in each :data:`RECORD_INTERVAL`.
    """

    def __init__(
        self, live: LiveNode, joints: Sequence[str], terms: Collection[str] = (), *,
        every_state: bool = False
    ) -> None:
        super().__init__(live)
        self._commanded = tuple(joints)
        kept, node = EVERY if every_state else NEWEST, live.node
        self._clock: PolledSubscription[bytes] = PolledSubscription(
            node, JointState, 'joint_states', NEWEST, raw=True
        )
        self._states: PolledSubscription[bytes] = PolledSubscription(
            node, JointState, 'joint_states', kept, raw=True
        )
        self._terms: dict[str, PolledSubscription[Any]] = {
            name: PolledSubscription(node, JointState, f'feedforward/terms/{name}', kept)
            for name in terms
        }
        self.hand = Trajectories(live, 'simulated_robot/hand')
        self._newest: Sample | None = None

    def wait_until(self, what: str, condition: Callable[[], bool]) -> None:
        """Wait for a condition; raise a DemoError if the control ends, or after a timeout."""
        timeout = self._live.timeout

        def met() -> bool:
            if self.diagnostics.get('state') == 'fault':
                raise DemoError(f'{what}: the control ended: {self.diagnostics["reason"]}')
            return condition()

        self._live.wait(met, lambda: DemoError(f'{what}: not within {timeout:g} s'))

    def now(self) -> float:
        """Return the robot's time, s."""
        return self._state().time

    def measured(self) -> Array:
        """Return the newest positions of the commanded joints, shape (m,), rad or m."""
        measured: Array = positions([self._state()], self._commanded)[1][0]
        return measured

    def record(
        self, duration: float, progress: Callable[[Received], None] | None = None,
        at_start: Callable[[], None] | None = None, until: Callable[[Received], bool] | None = None
    ) -> Received:
        """
        Record joint states and effort terms for a duration, s, in the robot's time.

        ``progress`` is called twice a second with what was received; ``until`` ends it early.
        """
        received = Received(terms={name: [] for name in self._terms})
        end = self.now() + duration
        self._states.take_all()
        if at_start is not None:
            at_start()
        clock = time.monotonic()
        next_progress, deadline = clock, clock + self._live.timeout
        while not received.states or received.states[-1].time < end:
            self._live.spin(RECORD_INTERVAL)
            messages = self._states.take_all()
            received.messages += messages
            received.states += map(sample_of, messages)
            for name, subscription in self._terms.items():
                received.terms[name] += [
                    (seconds(term.header.stamp), np.array(term.effort))
                    for term in subscription.take_all()
                ]
            clock = time.monotonic()
            if messages:
                deadline = clock + self._live.timeout
            elif clock > deadline:
                raise DemoError(f'no joint states for {self._live.timeout:g} s')
            if progress is not None and clock >= next_progress and received.states:
                progress(received)
                next_progress = clock + 0.5
            if until is not None and received.states and until(received):
                break
        return received

    def _state(self) -> Sample:
        """Return the newest state; wait for the first."""
        def received() -> bool:
            messages = self._clock.take_all()
            if messages:
                self._newest = sample_of(messages[-1])
            return self._newest is not None

        self.wait_until('joint states', received)
        assert self._newest is not None
        return self._newest
