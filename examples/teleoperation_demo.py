# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Teleoperation: free motion and a wall, without and with a delayed link.

A hand guides one arm, a second arm follows. Options are those of the demo, such as --robot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
import sys
from typing import Any

from controlled_arm import PERIOD, straight_way
import numpy as np
from two_arms import Record, TwoArms

from rnea_ros.command_line import text_table
from rnea_ros.drawing import new_figure
from rnea_ros.sim.demo.arm import DemoArm, DemoError, DemoRun
from rnea_ros.sim.demo.demo import main
from rnea_ros.teleoperation import CouplingState

ABOUT = (
    'Two arms in one process, with the code of the nodes but without topics. Masses and '
    'centres of mass of\nboth differ from their models by up to 10 %; sensors have noise. '
    'A hand (springs and dampers) guides the leader.'
)
HEADER = 'delay each way', 'fastest joint', 'RMS error', 'contact force', 'force felt', 'settling'
DELAYS = (0.0, 0.05)  # of the link, each way, s
GAP, DEPTH = 0.03, 0.1  # distance of the wall, and way of the hand beyond it, m
WAY, CONTACT = 2.0, 6.0  # duration of the way to the wall, and of the recording there, s
SETTLED = 0.1  # deviation from the last contact force that counts as settled, relative
MAX_ERROR, MAX_FORCE_ERROR = 5e-3, 0.1  # without delay: RMS, rad or m; felt force, relative


@dataclass(frozen=True)
class Trial:
    """What was recorded with one delay."""

    delay: float  # of the link, each way, s
    free: Record  # free motion
    wall: Record  # contact with the wall

    @property
    def rms(self) -> float:
        """RMS difference of the arms in free motion, rad or m."""
        return float(np.sqrt(np.mean((self.free.leader - self.free.follower) ** 2)))

    @property
    def forces(self) -> tuple[float, float]:
        """Contact force and felt force in the last second, N."""
        contact, felt = (x[-round(1.0 / PERIOD) :] for x in (self.wall.contact, self.wall.felt))
        return float(contact.mean()), float(felt.mean())

    @property
    def settling(self) -> float:
        """Time from the first contact until the contact force stays near its last value, s."""
        force = self.forces[0]
        away = np.abs(self.wall.contact - force) > SETTLED * force
        first = int((self.wall.contact > 0.0).argmax())
        last = int(np.flatnonzero(away)[-1]) + 1 if away.any() else first
        return PERIOD * max(last - first, 0)


class Program:
    """The trials with each delay."""

    def __init__(self, options: DemoRun) -> None:
        self._options = options

    def run(self) -> int:
        """Run, print and draw all trials; return 1 if the first misses its limits."""
        print(ABOUT)
        trials, show = [], None
        if self._options.browser:
            from arms_in_browser import ArmsInBrowser

            show = ArmsInBrowser(self._options.arm)
        for delay in DELAYS:
            print(f'delay {1e3 * delay:.0f} ms each way: free motion, then the wall ...')
            trials.append(record(self._options.arm, delay, show))
        print(f'\n{table(trials)}\n')
        print(f'picture: {draw(self._options, trials)}')
        contact, felt = trials[0].forces
        if trials[0].rms <= MAX_ERROR and abs(felt / contact - 1.0) <= MAX_FORCE_ERROR:
            return 0
        print(f'expected without delay: an RMS error of at most {1e3 * MAX_ERROR:g} mrad, and the '
              f'contact force felt within {MAX_FORCE_ERROR:.0%}', file=sys.stderr)
        return 1


def record(arm: DemoArm, delay: float, show: Any = None) -> Trial:
    """Return what two arms do with a delay of the link, each way, s."""
    arms = TwoArms(arm, delay, show)
    arms.couple()
    motion = arm.plan.motion
    arms.hand.guide(motion.request(arm.joints))
    free = arms.run(motion.duration)
    arms.rest()
    arms.run(1.0)
    unloaded = float(arms.run(1.0).felt.mean())
    arms.wall.position = arms.wall.place + GAP
    arms.hand.guide(straight_way(arm, arms.link, GAP + DEPTH, WAY).request(arm.joints))
    wall = arms.run(CONTACT)
    if arms.coupling.state is not CouplingState.COUPLED or arms.coupling.ended:
        raise DemoError(f'the arms were uncoupled: {arms.coupling.reason.value}')
    wall.felt[:] -= unloaded
    return Trial(delay, free, wall)


def table(trials: Sequence[Trial]) -> str:
    """Return the trials as a table of text."""
    rows = [HEADER]
    for trial in trials:
        contact, felt = trial.forces
        rows.append((
            f'{1e3 * trial.delay:.0f} ms', f'{trial.free.speed.max():.2f} rad/s',
            f'{1e3 * trial.rms:.2f} mrad', f'{contact:.1f} N', f'{felt:.1f} N',
            f'{trial.settling:.2f} s',
        ))
    return text_table(rows, left=())


def draw(options: DemoRun, trials: Sequence[Trial]) -> Path:
    """Draw one joint in free motion, its error, and the forces at the wall."""
    figure = new_figure(10.0, 9.0, window=options.show)
    motion, error, forces = axes = figure.subplots(3, 1)
    fastest = int(np.argmax(np.ptp(trials[0].free.leader, axis=0)))
    for number, trial in enumerate(trials):
        colour, label = f'C{number}', f'{1e3 * trial.delay:.0f} ms'
        time = trial.free.time - trial.free.time[0]
        motion.plot(time, trial.free.leader[:, fastest], 'k:', label=None if number else 'leader')
        motion.plot(time, trial.free.follower[:, fastest], colour, label=f'follower, {label}')
        difference = np.abs(trial.free.leader - trial.free.follower).max(axis=1)
        error.semilogy(time, np.maximum(1e3 * difference, 0.05), colour, label=label)
        time = trial.wall.time - trial.wall.time[0]
        forces.plot(time, trial.wall.contact, colour, lw=0.8, label=f'contact, {label}')
        forces.plot(time, trial.wall.felt, colour, ls='--', label=f'felt, {label}')
    motion.set(ylabel=f'{options.arm.joints[fastest]}, rad', title='free motion')
    error.set(ylabel='greatest error, mrad', xlabel='time, s')
    forces.set(ylabel='force, N', xlabel='time, s', title='the follower meets a wall')
    for axis in axes:
        axis.margins(x=0.01)
    return options.save(figure, axes, 'teleoperation.png')


if __name__ == '__main__':
    sys.exit(main(['--teleoperation', *sys.argv[1:]]))
