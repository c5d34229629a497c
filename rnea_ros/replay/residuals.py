# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""How far commands and models are from the measured efforts, joint by joint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..preflight import Prediction
from ..recordings import CleanRecording, Kind, Recording, Samples, motion
from ..robot import RobotModel
from .playback import Playback
from .recorded_robot import RecordedRobot


@dataclass(frozen=True)
class Residual:
    """
    Computed efforts compared with measured ones, of k joints.

    :param joints: the joints
    :param time: of the samples since the first one of the recording, shape (N,), s
    :param computed: shape (N, k), N m or N
    :param measured: shape (N, k), N m or N
    """

    joints: tuple[str, ...]
    time: Array
    computed: Array
    measured: Array

    @property
    def rms(self) -> Array:
        """RMS of the difference, shape (k,), N m or N; NaN where nothing was compared."""
        return _rms(self.computed - self.measured)

    @property
    def size(self) -> Array:
        """RMS of the measured effort, shape (k,), N m or N; NaN where nothing was compared."""
        return _rms(self.measured)

    @property
    def percent(self) -> Array:
        """RMS of the difference over that of the effort, shape (k,); NaN for efforts of zero."""
        size = self.size
        share = np.full(size.shape, np.nan)
        np.divide(self.rms, size, out=share, where=size > 0.0)
        percent: Array = 100.0 * share
        return percent


def of_commands(robot: RecordedRobot, playback: Playback) -> Residual:
    """
    Compare commands with measured efforts, a sample with the first command that knows of it.

    Gravity that the hardware adds to a command counts with it, as measured efforts have it.

    Left out are samples that cannot be compared (repeats, ringing), ramps, and what follows a
    fault.
    """
    kept = robot.cleaned.recording
    # The same difference as that by which the sample was received: none falls a tick behind.
    tick = np.searchsorted(playback.time, kept.time - robot.samples[0].time)
    controlled = playback.controlling[tick]
    recorded = [name for name in playback.joints if name in kept.names]
    in_command = [playback.joints.index(name) for name in recorded]
    in_recording = [kept.names.index(name) for name in recorded]
    return Residual(
        tuple(recorded),
        kept.time[controlled],
        (playback.command + playback.hardware)[tick[controlled]][:, in_command],
        kept.effort[controlled][:, in_recording],
    )


def of_gravity(model: RobotModel, recording: Recording) -> Residual:
    """
    Compare gravity torques at the recorded positions, nothing filtered.

    :param model: the robot
    :param recording: finite positions, under the model's joint names
    """
    rest = np.zeros_like(recording.position)
    number = np.arange(len(recording.time))
    samples = Samples(
        Kind.STILL,
        recording.names,
        recording.time,
        recording.position,
        rest,
        rest,
        recording.effort,
        number,
        recording.notes,
    )
    return _of_model(model, samples)


def of_inverse_dynamics(model: RobotModel, cleaned: CleanRecording) -> Residual:
    """
    Compare the full inverse dynamics along the motion, positions and efforts filtered alike.

    :param model: the robot
    :param cleaned: under the model's joint names
    """
    return _of_model(model, motion(cleaned))


def _of_model(model: RobotModel, samples: Samples) -> Residual:
    prediction = Prediction(model, {name: name for name in samples.names}, samples)
    return Residual(samples.names, samples.time, prediction.rigid, prediction.effort)


def _rms(values: Array) -> Array:
    if not len(values):
        return np.full(values.shape[1], np.nan)
    rms: Array = np.sqrt(np.mean(values**2, axis=0))
    return rms
