# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The control, stepped through a recording at its own rate, with stamps for time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
import math

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..feedforward import FeedforwardController, Reason, State
from ..feedforward.inputs import JointStateMonitor, PositionJumps
from ..feedforward.settings import ResolvedSettings
from ..recordings import RecordingError, Sample
from .recorded_robot import RecordedRobot

START = 1000.0
"""Time of the first sample, s: a stamp of zero would count as none."""

MOST_TICKS = 10_000_000
"""So many ticks are played at most: ten minutes of work, more than five hours at 500 Hz."""

ROUNDING = 1e-6
"""A command that moves by so much less than the rate limit lets it is held back by it."""

COMPARED = frozenset({State.ACTIVE, State.DEGRADED})
"""States in which the command is what the control law wants: no ramp, no fault."""


@dataclass(frozen=True)
class StateChange:
    """
    The control went over to a state.

    :param time: since the first sample, s
    :param reason: why it ended, None while it has not
    """

    time: float
    state: State
    reason: Reason | None


@dataclass(frozen=True)
class Playback:
    """
    What the control did, tick by tick, for m commanded joints.

    :param joints: the commanded joints
    :param time: of the ticks since the first sample, increasing, shape (N,), s
    :param command: shape (N, m), N m or N; NaN while nothing is commanded
    :param hardware: gravity that the hardware adds to the command, shape (N, m), N m or N
    :param effort: the newest that was measured, shape (N, m), N m or N; NaN where there is none
    :param controlling: ticks that are neither in a ramp nor in a fault, shape (N,)
    :param saturated: commands that the effort limits cut, shape (N, m)
    :param rate_limited: commands that the rate limit held back, shape (N, m)
    :param states: the states that were lived through
    :param refusals: how many joint states were refused, by reason
    :param flags: how often what was flagged
    :param clock_steps: how often the clock of the stamps was found to have been set
    """

    joints: tuple[str, ...]
    time: Array
    command: Array
    hardware: Array
    effort: Array
    controlling: NDArray[np.bool_]
    saturated: NDArray[np.bool_]
    rate_limited: NDArray[np.bool_]
    states: tuple[StateChange, ...]
    refusals: Counter[Reason]
    flags: Counter[Reason]
    clock_steps: int

    def state_of_ticks(self) -> list[State]:
        """Return the state after each tick."""
        starts = [change.time for change in self.states]
        numbers = np.searchsorted(starts, self.time, side='right') - 1
        return [self.states[number].state for number in numbers.tolist()]


def play(
    robot: RecordedRobot, settings: ResolvedSettings, *, differentiate_velocity: bool = False
) -> Playback:
    """
    Step the control from the first stamp to the last.

    A sample is received when its stamp says, but never before one that stands before it in the
    recording. Joints that are not recorded are taken to be measured at rest with every sample.

    :param robot: the recording
    :param settings: of the control
    :param differentiate_velocity: derive velocities where the recording has none
    :raises RecordingError: the stamps reach over too long a time
    """
    arrivals = np.maximum.accumulate([sample.time for sample in robot.samples])
    period = settings.settings.period
    span = float(arrivals[-1] - arrivals[0])
    if not span / period < MOST_TICKS:
        raise RecordingError(
            f'the stamps reach over {span:.0f} s, more than {MOST_TICKS} ticks of {period:g} s'
        )
    ticks: Array = period * np.arange(math.floor(span / period) + 2, dtype=np.float64)
    states = JointStateMonitor(
        robot.model.joint_names,
        jumps=PositionJumps.of_robot(robot.model, settings),
        continuous=robot.model.continuous,
        differentiate_velocity=differentiate_velocity,
    )
    controller = FeedforwardController(robot.model, settings, states)
    loaded = controller.environment.robot
    receive = _receiver(robot, states)
    shape = (len(ticks), len(settings.joints))
    command, effort = np.full(shape, np.nan), np.full(shape, np.nan)
    hardware = np.zeros(shape)
    saturated, limited = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    controlling = np.zeros(len(ticks), dtype=bool)
    changes: list[StateChange] = []
    came = 0
    for k, tick in enumerate(ticks):
        while came < len(arrivals) and arrivals[came] - arrivals[0] <= tick:
            receive(robot.samples[came], START + float(arrivals[came]))
            came += 1
        stepped = controller.step(START + float(arrivals[0] + tick))
        effort[k] = states.effort[settings.in_model]
        if stepped is not None:
            command[k] = stepped
            saturated[k] = controller.saturated
            added = loaded.compensated(states.position, loaded.gravity(states.position))
            hardware[k] = 0.0 if added is None else added[settings.in_model]
        controlling[k] = controller.state in COMPARED
        if not changes or controller.state is not changes[-1].state:
            changes.append(StateChange(float(tick), controller.state, controller.reason))
    greatest = settings.effort_rate_limit * period * (1.0 - ROUNDING)
    limited[1:] = np.abs(np.diff(command, axis=0)) >= greatest
    return Playback(
        settings.joints,
        ticks,
        command,
        hardware,
        effort,
        controlling,
        saturated,
        limited,
        tuple(changes),
        states.rejections,
        controller.flag_counts,
        states.clock_steps,
    )


def _receiver(
    robot: RecordedRobot, states: JointStateMonitor
) -> Callable[[Sample, float], None]:
    """Return what lets a sample come at a time, and with it joints that are not recorded."""
    absent = robot.absent
    rest = robot.rest[[robot.model.joint_names.index(name) for name in absent]]
    still, none = np.zeros_like(rest), np.empty(0)

    def receive(sample: Sample, received: float) -> None:
        position, velocity, effort = (
            np.ascontiguousarray(values, dtype=np.float64)
            for values in (sample.position, sample.velocity, sample.effort)
        )
        states.update(
            sample.names,
            position,
            velocity,
            effort,
            stamp=START + sample.time,
            clock=received,
            received=received,
        )
        states.update(absent, rest, still, none, stamp=0.0, clock=received, received=received)

    return receive
