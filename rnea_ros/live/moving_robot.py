# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Move a robot along a trajectory: pose before, motion, recording, and a stop at any time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
import time
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState

from ..arrays import Array
from ..command_line import Progress
from ..errors import RneaError
from ..identification.excitation import RestToRestMotion
from ..interrupts import interrupts_held
from ..recordings import bag_writer
from .client import Trajectories
from .node import STATES, LiveNode, SilentTopicError, sample_of

REST = 0.5  # time at rest before the robot is moved, s
STILL = 2e-3  # greatest change of a position within this time, rad or m
MARGIN = 1.0  # recorded before and after the motion, s
SETTLING = 5.0  # longest wait for rest before and after the motion, s
BRAKING = 0.5  # time until rest after Ctrl-C, s
SAME_CLOCK = 60.0  # stamps further from the clock are of simulated time, which may be slower, s
MOVED = 0.1  # least share of the motion that a robot makes if it follows


class MovingRobotError(RneaError):
    """The robot cannot be moved."""


def confirm(way: float, motion: float, speed: float, *, yes: bool) -> None:
    """Ask before a motion; durations of the way and the motion are in s."""
    print(f'\nthe robot moves to the start pose in {way:.1f} s, then for {motion:.1f} s, at '
          f'{100.0 * speed:.0f} % of the full speed', flush=True)
    if yes:
        return
    try:
        answer = input('type yes to start: ')
    except EOFError:
        answer = ''
    if answer.strip().lower() != 'yes':
        raise MovingRobotError('the answer is not yes: the robot was not moved')


class MovingRobot:
    """A robot that follows trajectories on a topic."""

    def __init__(self, live: LiveNode, joint_names: Sequence[str], topic: str) -> None:
        self._live = live
        self._joint_names = tuple(joint_names)
        self._trajectories = Trajectories(live, topic)
        self._received: list[Array] = []
        self._stamp = 0.0
        self._moved_at = 0.0
        self._moved_to = np.full(len(self._joint_names), np.inf)
        self._keep: Callable[[bytes], None] | None = None
        self._states: Any = None

    def pose(self) -> Array:
        """Return the positions of the robot at rest, shape (n,), rad or m."""
        if self._states is not None:  # joint states of the time since then wait in it
            self._live.node.destroy_subscription(self._states)
        self._received.clear()
        self._states = self._live.node.create_subscription(
            JointState, 'joint_states', self._take, STATES, raw=True
        )
        self._wait_for_states(1)
        for _ in range(round(SETTLING / REST)):  # a motion may just end
            del self._received[:-1]
            self._live.spin(REST)
            self._wait_for_states(2)
            moved = np.ptp(self._received, axis=0)
            if moved.max() <= STILL:
                return self._received[-1]
        name = self._joint_names[int(moved.argmax())]
        raise MovingRobotError(
            f'the robot moves: {name} by {moved.max():.2g} rad or m in {REST:g} s, more than '
            f'{STILL:g}; if it creeps without a motion, send a trajectory that ends where it '
            'is: the node holds it there; or compensate less friction'
        )

    def _wait_for_states(self, count: int) -> None:
        names = ', '.join(self._joint_names)
        self._wait(lambda: len(self._received) >= count, f' with {names}')

    def _wait(self, condition: Callable[[], bool], content: str = '') -> None:
        topic, timeout = f'{self._states.topic_name}{content}', self._live.timeout
        self._live.wait(condition, lambda: SilentTopicError(topic, timeout))

    def follow(self, motion: RestToRestMotion, joints: Sequence[str], bag: Path | None) -> bool:
        """
        Move the robot; on Ctrl-C stop it on its path. Return whether the motion was completed.

        The motion is from the present pose; ``joints`` are those of the trajectory; the joint
        states are written to a new bag.
        """
        self._live.wait(
            lambda: self._trajectories.subscribed,
            lambda: MovingRobotError(f'no subscription to {self._trajectories.topic}'),
        )
        recorder = nullcontext() if bag is None else bag_writer(bag, self._states.topic_name)
        with recorder as self._keep:
            try:
                completed = self._move(motion, joints)
            finally:
                self._keep = None
        if completed:
            self._check(motion)
            missed = np.abs(self._received[-1] - motion.positions[-1])
            worst = int(missed.argmax())
            print(f'the motion is completed; {self._joint_names[worst]} ends {missed[worst]:.2g} '
                  'rad or m from its last point')
        else:
            print('the robot was stopped')
        if bag is not None:
            print(f'recorded: {bag}')
        return completed

    def _move(self, motion: RestToRestMotion, joints: Sequence[str]) -> bool:
        """Publish the motion and wait; return whether it was completed."""
        self._live.spin(MARGIN)
        self._received.clear()
        begin, sent = self._now(), self._stamp
        end = sent + motion.duration + MARGIN
        try:
            with interrupts_held():
                self._trajectories.send(motion.of_joints(joints))
            print(f'moving: {motion.duration:.1f} s; Ctrl-C stops', flush=True)
            progress = Progress(lambda: self._stamp)
            # States from a queue are older than the motion: the arm must move, then stand still.
            while (stamp := self._stamp) < end or (
                stamp < end + SETTLING and not sent < self._moved_at <= stamp - REST
            ):
                self._wait(lambda: self._stamp != stamp)
                if self._stamp < end:
                    progress.show(f'{self._stamp - sent:.0f} s of {motion.duration:.0f} s')
            progress.end()
        except KeyboardInterrupt:
            self._stop(motion, joints, self._now() - begin)
            return False
        return True

    def _now(self) -> float:
        """Return the robot's time, s: the clock's, unless the robot stamps by simulated time."""
        now = time.time()
        return now if abs(now - self._stamp) < SAME_CLOCK else self._stamp

    def _stop(self, motion: RestToRestMotion, joints: Sequence[str], elapsed: float) -> None:
        """Cancel the trajectory, then brake on its path, as a JTC ignores an empty trajectory."""
        with interrupts_held():
            self._trajectories.cancel(tuple(joints))
            self._trajectories.send(motion.braked(elapsed, BRAKING).of_joints(joints))
        self._live.spin(BRAKING + MARGIN)

    def _check(self, motion: RestToRestMotion) -> None:
        planned = np.ptp(motion.positions, axis=0)
        moved = np.ptp(self._received, axis=0) if self._received else np.zeros_like(planned)
        if (moved < MOVED * planned).all():
            raise MovingRobotError(
                f'the robot did not move: see the log of what subscribes to '
                f'{self._trajectories.topic}'
            )

    def _take(self, data: bytes) -> None:
        if self._keep is not None:
            self._keep(data)
        state = sample_of(data)
        if set(self._joint_names) <= set(state.names) and len(state.position) == len(state.names):
            by_name = dict(zip(state.names, state.position, strict=True))
            position = np.array([by_name[name] for name in self._joint_names])
            if np.isfinite(position).all():
                self._received.append(position)
                self._stamp = state.time
                if np.abs(position - self._moved_to).max() > STILL:
                    self._moved_to, self._moved_at = position, self._stamp
