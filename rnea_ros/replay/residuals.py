# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Residuals of commands and models against the measured efforts, for each joint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..preflight import Prediction
from ..recordings import Kind, Recording, Samples, motion_samples
from ..robot import RobotModel
from .playback import Playback
from .recorded_robot import RecordedRobot


@dataclass(frozen=True)
class Residual:
    """
    Computed and measured efforts of k joints.

    :param joints: names of the joints
    :param time: times of the samples since the first one of the recording, shape (N,), s
    :param computed: shape (N, k), N m or N
    :param measured: shape (N, k), N m or N
    """

    joints: tuple[str, ...]
    time: Array
    computed: Array
    measured: Array

    @property
    def rms(self) -> Array:
        """RMS of the difference, shape (k,), N m or N; NaN without samples."""
        return _rms(self.computed - self.measured)

    @property
    def size(self) -> Array:
        """RMS of the measured effort, shape (k,), N m or N; NaN without samples."""
        return _rms(self.measured)

    @property
    def percent(self) -> Array:
        """RMS of the difference over RMS of the effort, shape (k,), %; NaN for zero effort."""
        size = self.size
        share = np.full(size.shape, np.nan)
        np.divide(self.rms, size, out=share, where=size > 0.0)
        percent: Array = 100.0 * share
        return percent


def of_commands(robot: RecordedRobot, playback: Playback) -> Residual:
    """
    Compare each sample with the first command that uses it.

    The efforts that the hardware adds are part of the command, as measured efforts contain them.
    Unusable samples (repeats, ringing), ramps and ticks after a fault are left out.

    :param robot: the recording
    :param playback: the commands
    """
    usable = robot.cleaned
    # The same subtraction as in :func:`.play`, so that rounding shifts no sample by a tick.
    tick = np.searchsorted(playback.time, usable.time - robot.samples[0].time)
    controlled = playback.controlling[tick]
    recorded = [name for name in playback.joints if name in usable.names]
    in_command = [playback.joints.index(name) for name in recorded]
    in_recording = [usable.names.index(name) for name in recorded]
    return Residual(
        tuple(recorded),
        usable.time[controlled],
        (playback.command + playback.hardware)[tick[controlled]][:, in_command],
        usable.effort[controlled][:, in_recording],
    )


def of_gravity(model: RobotModel, recording: Recording) -> Residual:
    """
    Compare gravity torques at the recorded positions, without filters.

    :param model: model of the robot
    :param recording: recording with finite positions and the model's joint names
    """
    rest = np.zeros_like(recording.position)
    samples = Samples(
        Kind.STILL,
        recording.names,
        recording.time,
        recording.position,
        rest,
        rest,
        recording.effort,
        np.arange(len(recording.time)),
        recording.notes,
    )
    return _of_model(model, samples)


def of_inverse_dynamics(model: RobotModel, recording: Recording) -> Residual:
    """
    Compare the full inverse dynamics; positions and efforts pass the same filter.

    :param model: model of the robot
    :param recording: clean recording with the model's joint names
    """
    return _of_model(model, motion_samples(recording))


def _of_model(model: RobotModel, samples: Samples) -> Residual:
    prediction = Prediction(model, {name: name for name in samples.names}, samples)
    return Residual(samples.names, samples.time, prediction.rigid, prediction.effort)


def _rms(values: Array) -> Array:
    if not len(values):
        return np.full(values.shape[1], np.nan)
    rms: Array = np.sqrt(np.mean(values**2, axis=0))
    return rms
