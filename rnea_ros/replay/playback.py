# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Step the control through a recording at its own rate, with the stamps as time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
import math

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..feedforward import FeedforwardController, JointBounds, JointStateMonitor, Reason, State
from ..feedforward.settings import ResolvedSettings
from ..recordings import Recording, RecordingError, Sample, clean, match_joints, recording_from
from ..robot import RobotModel

START = 1000.0  # time of the first sample, s; not 0, as a stamp of 0 counts as missing
MAX_TICKS = 10_000_000  # more than five hours at 500 Hz, ten minutes of computation
ROUNDING = 1e-6  # relative tolerance for a change of the command that equals the rate limit
COMPARED = frozenset({State.ACTIVE, State.DEGRADED})  # without ramp and fault


@dataclass(frozen=True)
class RecordedRobot:
    """Recorded, cleaned joint states with the model's names; joints without a model get others."""

    model: RobotModel
    joints: Mapping[str, str]  # recorded names by the model's, in its order
    samples: Sequence[Sample]
    recording: Recording  # the samples as arrays, for the model's joints, in their order
    cleaned: Recording  # the usable samples, with notes on the removed ones

    @property
    def absent(self) -> tuple[str, ...]:
        """Names of the model's joints without a recording, as of a gripper."""
        return tuple(name for name in self.model.joint_names if name not in self.joints)

    def in_newton_metres(self, effort_scale: Array) -> RecordedRobot:
        """Return it with efforts in N m or N, by scales, shape (n,); ``samples`` stay."""
        scale = effort_scale[[self.model.joint_names.index(name) for name in self.joints]]
        return replace(
            self, recording=self.recording.with_scaled_effort(scale),
            cleaned=self.cleaned.with_scaled_effort(scale)
        )


def recorded_robot(
    model: RobotModel, samples: Sequence[Sample], joints: Mapping[str, str] | None = None
) -> RecordedRobot:
    """
    Return a recording with the joint names of a model.

    :param samples: joint states in the order of their receipt
    :param joints: recorded joint names by the model's, if automatic matching fails
    :raises RecordingError: no joint of the model, no effort, or too few samples
    """
    recording = recording_from(samples)
    matched = match_joints(model.joint_names, recording.names, joints)
    names = {other: name for name, other in matched.items()}

    @cache
    def renamed(recorded: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names.get(name, f'recorded {name}') for name in recorded)

    recorded = replace(recording.of_joints(list(matched.values())), names=tuple(matched))
    samples = [replace(sample, names=renamed(sample.names)) for sample in samples]
    return RecordedRobot(model, matched, samples, recorded, clean(recorded))


@dataclass(frozen=True)
class StateChange:
    """A transition of the control to a state."""

    time: float  # since the first sample, s
    state: State
    reason: Reason | None  # for the end of the control, None before the end


@dataclass(frozen=True)
class Playback:
    """Commands and states of the control at N ticks, for m commanded joints."""

    joints: tuple[str, ...]
    time: Array  # of the ticks since the first sample, increasing, shape (N,), s
    command: Array  # shape (N, m), N m or N; NaN without a command
    hardware: Array  # efforts that the hardware adds to the command, shape (N, m), N m or N
    effort: Array  # latest measured efforts, shape (N, m), N m or N; NaN without a measurement
    controlling: NDArray[np.bool_]  # ticks without ramp and fault, shape (N,)
    saturated: NDArray[np.bool_]  # commands at the effort limit, shape (N, m)
    rate_limited: NDArray[np.bool_]  # commands at the rate limit, shape (N, m)
    states: tuple[StateChange, ...]  # transitions in order of time
    rejections: Counter[Reason]  # number of rejected joint states by reason
    flags: Counter[Reason]  # number of flags by reason
    clock_steps: int  # number of detected steps of the stamps' clock

    def state_of_ticks(self) -> list[State]:
        """Return the state after each tick."""
        starts = [change.time for change in self.states]
        numbers = np.searchsorted(starts, self.time, side='right') - 1
        return [self.states[number].state for number in numbers.tolist()]


def play(
    robot: RecordedRobot, settings: ResolvedSettings, *, differentiate_velocity: bool = False
) -> Playback:
    """
    Step the control from the first stamp to the last; a sample is received at its stamp.

    Joints without a recording are assumed at rest. Missing velocities may be derived from
    positions. Stamps over too long a time raise a RecordingError.
    """
    arrivals = np.maximum.accumulate([sample.time for sample in robot.samples])
    period = settings.period
    span = float(arrivals[-1] - arrivals[0])
    if not span / period < MAX_TICKS:
        raise RecordingError(
            f'the stamps span {span:.0f} s, more than {MAX_TICKS} ticks of {period:g} s'
        )
    ticks: Array = period * np.arange(math.floor(span / period) + 2, dtype=np.float64)
    states = JointStateMonitor(
        robot.model.joint_names, JointBounds.of_robot(robot.model, settings),
        differentiate_velocity=differentiate_velocity,
    )
    controller = FeedforwardController(robot.model, settings, states)
    loaded = controller.robot
    receive = _receiver(robot, states)
    shape = (len(ticks), len(settings.joints))
    command, effort = np.full((2, *shape), np.nan)
    hardware = np.zeros(shape)
    saturated, limited = np.zeros((2, *shape), dtype=bool)
    controlling = np.zeros(len(ticks), dtype=bool)
    changes: list[StateChange] = []
    received = 0
    for k, tick in enumerate(ticks):
        while received < len(arrivals) and arrivals[received] - arrivals[0] <= tick:
            receive(robot.samples[received], START + float(arrivals[received]))
            received += 1
        new_command = controller.step(START + float(arrivals[0] + tick))
        effort[k] = states.effort[settings.joint_indices]
        if new_command is not None:
            command[k] = new_command
            saturated[k] = controller.snapshot.saturated
            added = loaded.compensated(states.position, loaded.gravity(states.position))
            hardware[k] = 0.0 if added is None else added[settings.joint_indices]
        controlling[k] = controller.state in COMPARED
        if not changes or controller.state is not changes[-1].state:
            changes.append(StateChange(float(tick), controller.state, controller.reason))
    largest_change = np.array(settings.effort_rate_limit) * period * (1.0 - ROUNDING)
    limited[1:] = np.abs(np.diff(command, axis=0)) >= largest_change
    return Playback(
        settings.joints, ticks, command, hardware, effort, controlling, saturated, limited,
        tuple(changes), states.rejections, controller.snapshot.flag_counts, states.clock_steps
    )


def _receiver(robot: RecordedRobot, states: JointStateMonitor) -> Callable[[Sample, float], None]:
    """Return a function that gives a sample to the control, with the joints not recorded."""
    model, absent = robot.model, robot.absent
    rest = np.clip(0.0, model.position_lower, model.position_upper)  # zero or the nearest limit
    rest = rest[[model.joint_names.index(name) for name in absent]]
    zero_velocity, no_effort = np.zeros_like(rest), np.empty(0)

    def receive(sample: Sample, received: float) -> None:
        position, velocity, effort = (
            np.ascontiguousarray(values, dtype=np.float64)
            for values in (sample.position, sample.velocity, sample.effort)
        )
        states.take_sample(
            sample.names, position, velocity, effort, stamp=START + sample.time, clock=received,
            received=received
        )
        states.take_sample(
            absent, rest, zero_velocity, no_effort, stamp=0.0, clock=received, received=received
        )

    return receive
