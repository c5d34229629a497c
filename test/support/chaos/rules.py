# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What is seen of a feedforward node under chaos from outside, and the rules that it keeps."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
from numpy.typing import NDArray
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from rnea_ros.ros import seconds
from rnea_ros.watchdog.loop import MARK
from support.chaos.sensors import FRAME
from support.ros.ros_process import PATIENCE, wait_until

Array = NDArray[np.float64]

CLOCKS = 1.001
"""The wall clock, which stamps, may run faster or slower than the node's while it is adjusted."""

TIMEOUT, HOLD_DURATION = 0.1, 1.0
"""Defaults of the node: a longer stall interrupts the control, a stall so long ends it, s."""

MAX_RETURNS, RETURN_WINDOW = 20, 10.0
"""So many returns within this time, s, are the last."""

STALL_REASONS = {'joint_states_stale', 'tick_blocked'}


@dataclass(frozen=True)
class Command:
    """
    A command as the controller receives it.

    :param number: its publisher's number for it
    :param sent: stamp of its source, s
    :param from_watchdog: whether the watchdog sent it
    :param efforts: N m
    """

    number: int
    sent: float
    from_watchdog: bool
    efforts: Array


class Witness:
    """
    Listens to commands, joint states and diagnostics.

    :param node: the test's own
    :param position: of the robot before its first state, rad
    """

    def __init__(self, node: Any, position: Sequence[float]) -> None:
        self.commands: list[Command] = []
        self.speeds: list[Array] = []
        self.state_stamps: list[float] = []
        self.efforts: list[Array] = []
        """Measured efforts, a row for each of the stamps, N m."""
        self.position = np.array(position)
        self.diagnostics: dict[str, dict[str, str]] = {'control': {}, 'watchdog': {}}
        self._since = {'control': 0.0, 'watchdog': 0.0}
        self._received = 0
        self.numbered = True
        """Whether messages have their publisher's number; on Humble they have none."""

        deep = QoSProfile(depth=5000)
        topic = '/effort_controller/commands'
        node.create_subscription(Float64MultiArray, topic, self._on_command, deep)
        node.create_subscription(JointState, 'joint_states', self._on_state, deep)
        node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)

    def _on_command(self, message: Any, info: Any) -> None:
        self._received += 1
        number = info.get('publication_sequence_number')
        self.numbered = number is not None
        marked = any(dimension.label == MARK for dimension in message.layout.dim)
        self.commands.append(Command(
            number or self._received, 1e-9 * info['source_timestamp'], marked,
            np.array(message.data),
        ))

    def begin_life(self) -> None:
        """Count the commands anew, for distributions that do not number them."""
        self._received = 0

    def _on_state(self, message: Any, info: Any) -> None:
        if message.header.frame_id != FRAME:
            self.position = np.array(message.position)
            self.efforts.append(np.array(message.effort))
            self.speeds.append(np.abs(message.velocity))
            self.state_stamps.append(1e-9 * info['source_timestamp'])

    def _on_diagnostics(self, message: Any) -> None:
        for status in message.status:
            source = 'watchdog' if status.name.endswith('effort_watchdog') else 'control'
            if seconds(message.header.stamp) > self._since[source]:
                self.diagnostics[source] = {value.key: value.value for value in status.values}

    def forget(self, source: str) -> None:
        """Forget the diagnostics of a node, also those that were sent before and still come."""
        self._since[source] = time.time()
        self.diagnostics[source] = {}

    def since_the_nodes_last(self) -> list[Command]:
        """Return what the watchdog sent after the node's last command; both may come late."""
        last = max(command.sent for command in self.commands if not command.from_watchdog)
        return [each for each in self.commands if each.from_watchdog and each.sent > last]

    def node_command_at(self, begin: float, index: int) -> Command:
        """Return a command of the node of those sent since a time, in order; -1 is the last."""

        def since() -> list[Command]:
            of_node = [each for each in self.commands if not each.from_watchdog]
            return [each for each in of_node if each.sent >= begin]

        assert wait_until(since)  # diagnostics may arrive before commands
        return sorted(since(), key=lambda command: command.sent)[index]

    def efforts_in_force(self, sent: float) -> tuple[Array, Array]:
        """
        Return measured efforts that were current when a command was sent, and their ages.

        :param sent: stamp of the command, s
        :return: shape (N, n), N m, and shape (N,), s
        """
        # Up to 5000 states of chaos may wait before; a stamp is added after its effort.
        came = wait_until(lambda: max(self.state_stamps[-1:], default=0.0) > sent, 5.0 * PATIENCE)
        assert came, f'{self.state_stamps[-1:]} {sent}'
        stamps = self.state_stamps[:]
        ages = sent - np.array(stamps)
        earlier = ages >= 0.0
        current = earlier & (ages <= max(TIMEOUT, ages[earlier].min()))
        return np.array(self.efforts[: len(stamps)])[current], ages[current]

    def count(self, source: str, key: str) -> int:
        """Return a count of the newest diagnostics of a node."""
        return int(self.diagnostics[source].get(key, '0'))


@dataclass(frozen=True)
class Limits:
    """
    What every command is judged by.

    :param effort: shape (n,), N m
    :param rate: shape (n,), N m/s
    """

    effort: Array
    rate: Array

    def assert_commands_keep(self, commands: Sequence[Command]) -> None:
        """
        Check rules 1 to 3: every command by itself, and against the node's command before it.

        By the stamps of their sources: a command that came later than the next tick began leaves
        less time for the next change.
        """
        for command in commands:
            assert command.efforts.shape == self.effort.shape
            assert np.isfinite(command.efforts).all()
            assert (np.abs(command.efforts) <= self.effort * (1.0 + 1e-12)).all()
        node_commands = sorted(
            (command for command in commands if not command.from_watchdog),
            key=lambda command: command.sent,
        )
        for before, command in pairwise(node_commands):
            change = np.abs(command.efforts - before.efforts)
            if command.number <= before.number:
                continue  # another life, which :meth:`assert_begins_at` judges
            allowed = CLOCKS * self.rate * (command.sent - before.sent)
            assert (change <= allowed).all(), (
                f'{(change / allowed).max():.3f} times the rate limit\n{before}\n{command}'
            )

    def assert_begins_at(self, efforts: Array, ages: Array, first: Command, period: float) -> None:
        """
        Check rule 4: a life begins at the effort in force.

        :param efforts: measured just before the first command, shape (N, n), N m
        :param ages: of these, shape (N,), s
        :param first: the first command that was received; some may be lost before
        :param period: of the commands, s
        """
        changes = np.abs(first.efforts - efforts)
        allowed = CLOCKS * first.number * self.rate * period
        assert (changes <= allowed).all(axis=1).any(), (efforts, ages, first)


def assert_watchdog_took_the_effort_away(commands: Sequence[Command]) -> None:
    """Check rule 10: what came after a killed node's last command went down to zero."""
    sizes = np.abs([command.efforts for command in commands])
    # Of what was before, a stall may have hidden the commands between two acts.
    growths = np.flatnonzero((np.diff(sizes, axis=0) > 0.0).any(axis=1))
    ramp = sizes[growths[-1] + 1 :] if growths.size else sizes
    assert len(ramp) > 10
    assert not ramp[-1].any()


def end_is_explained(witness: Witness, ended: float) -> bool:
    """
    Return whether the control had a cause to end: rules 5 and 14.

    One stall as long as ``hold_duration``, or more stalls than returns. Stalls, also those of the
    machine, are gaps in the stamps of joint states or commands.

    :param ended: when the end was known, wall time, s
    """
    begin = ended - 2.0 * RETURN_WINDOW  # gravity is held first, then ramped down, then reported
    times_sent = [each.sent for each in witness.commands if not each.from_watchdog]
    stalls = 0
    for stamps in (np.sort(witness.state_stamps), np.sort(times_sent)):
        gaps = np.diff(stamps[(stamps > begin) & (stamps < ended)])
        if (gaps >= HOLD_DURATION).any():
            return True
        stalls += int((gaps >= TIMEOUT).sum())
    return stalls > MAX_RETURNS
