# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""All steps from a recording and settings to commands and models against measured efforts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from ..feedforward import CONTROLLING
from ..feedforward.settings import ResolvedSettings, Settings, default_timeout, resolve
from ..preflight import KnownEfforts, Prediction, check
from ..recordings import Kind, Recording, RecordingError, Samples, motion_samples
from ..recordings.robust import rms
from ..robot import RobotModel
from .playback import Playback, RecordedRobot, play


@dataclass(frozen=True)
class Residual:
    """Computed and measured efforts of k joints."""

    joints: tuple[str, ...]
    time: Array  # of the samples since the first one of the recording, shape (N,), s
    computed: Array  # shape (N, k), N m or N
    measured: Array  # shape (N, k), N m or N

    @property
    def rms(self) -> Array:
        """RMS of the difference, shape (k,), N m or N; NaN without samples."""
        return rms(self.computed - self.measured)

    @property
    def size(self) -> Array:
        """RMS of the measured effort, shape (k,), N m or N; NaN without samples."""
        return rms(self.measured)

    @property
    def percent(self) -> Array:
        """RMS of the difference over RMS of the effort, shape (k,), %; NaN for zero effort."""
        size = self.size
        return 100.0 * (self.rms / np.where(size > 0.0, size, np.nan))


@dataclass(frozen=True)
class Review:
    """
    The result of a replay: commands, gravity and inverse dynamics against measured efforts.

    The latter two are for all recorded joints.
    """

    robot: RecordedRobot
    settings: ResolvedSettings
    playback: Playback
    commanded: Residual
    gravity: Residual
    inverse_dynamics: Residual
    flaws: tuple[str, ...]  # of the recording or of the model, one sentence each

    @property
    def completed(self) -> bool:
        """Whether the control ran until the end of the recording."""
        return self.playback.states[-1].state in CONTROLLING


def review(
    robot: RecordedRobot, settings: Settings, *, differentiate_velocity: bool = False
) -> Review:
    """
    Play a recording and compare the commands with the measured efforts.

    Joint states contain neither wrenches nor the motion of the base; their sensors are ignored.
    The default timeout of joint states counts in intervals of the recording if they are longer
    than a period: recordings often have fewer samples than the robot sends.

    :param settings: settings of the control; without joints, all recorded ones are commanded
    :param differentiate_velocity: whether missing velocities are derived from positions
    :raises InputError: the settings do not fit the robot
    :raises RecordingError: data are missing
    """
    timeout = settings.joint_states_timeout or default_timeout(
        max(settings.period, float(np.median(np.diff(robot.cleaned.time))))
    )
    resolved = resolve(
        replace(
            settings, joints=settings.joints or tuple(robot.joints), joint_states_timeout=timeout,
            wrench_inputs=(), base_sensor=None
        ),
        robot.model,
    )
    robot = robot.in_newton_metres(resolved.effort_scale)
    playback = play(robot, resolved, differentiate_velocity=differentiate_velocity)
    usable = robot.cleaned
    gravity = gravity_residual(robot.model, usable)
    if not np.isfinite(gravity.computed).all():
        raise RecordingError('positions are so large that the model has no finite effort')
    # Positions and efforts pass the same filter.
    inverse_dynamics = _model_residual(robot.model, motion_samples(usable))
    sensors = [f'wrench_inputs.{sensor.name}' for sensor in settings.wrench_inputs]
    sensors += ['base_sensor'] * (settings.base_sensor is not None)
    ignored = [f'ignored, not in joint states: {", ".join(sensors)}'] if sensors else []
    return Review(
        robot, resolved, playback, command_residual(robot, playback), gravity, inverse_dynamics,
        (*ignored, *usable.notes, *_preflight_findings(robot, resolved))
    )


def known_efforts(settings: ResolvedSettings, model: RobotModel) -> KnownEfforts:
    """Return efforts beside the rigid bodies': friction, rotors, springs, gravity_factor."""

    def known(q: Array, qd: Array, qdd: Array) -> Array:
        added = (settings.gravity_scale - 1.0) * model.gravity_torques_batch(q)
        added = added + settings.joint_spring.effort(q)
        rigid = model.inverse_dynamics_batch(q, qd, qdd) + added
        friction = settings.motor_friction.friction(qd, rigid)
        efforts: Array = settings.rotor_inertia * qdd + friction + added
        return efforts

    return known


def _preflight_findings(robot: RecordedRobot, settings: ResolvedSettings) -> list[str]:
    """Return the findings of preflight that must be fixed."""
    try:
        checkup = check(robot.model, robot.recording, known=known_efforts(settings, robot.model))
    except RecordingError as error:
        return [f'efforts could not be judged: {error}']
    return [
        f'{finding.cause.text}: {finding.text}'
        for finding in checkup.findings
        if finding.must_be_fixed
    ]


def command_residual(robot: RecordedRobot, playback: Playback) -> Residual:
    """
    Compare each sample with the first command that uses it.

    Commands include what the hardware adds. Unusable samples, ramps and faults are left out.
    """
    usable = robot.cleaned
    # The same subtraction as in :func:`.play`, so that rounding shifts no sample by a tick.
    tick = np.searchsorted(playback.time, usable.time - robot.samples[0].time)
    controlled = playback.controlling[tick]
    recorded = [name for name in playback.joints if name in usable.names]
    in_command = [playback.joints.index(name) for name in recorded]
    in_recording = [usable.names.index(name) for name in recorded]
    return Residual(
        tuple(recorded), usable.time[controlled],
        (playback.command + playback.hardware)[tick[controlled]][:, in_command],
        usable.effort[controlled][:, in_recording]
    )


def gravity_residual(model: RobotModel, recording: Recording) -> Residual:
    """Compare gravity torques at the recorded, finite positions, without filters."""
    rest = np.zeros_like(recording.position)
    samples = Samples(
        Kind.STILL, recording.names, recording.time, recording.position, rest, rest,
        recording.effort, np.arange(len(recording.time)), recording.notes
    )
    return _model_residual(model, samples)


def _model_residual(model: RobotModel, samples: Samples) -> Residual:
    prediction = Prediction(model, {name: name for name in samples.names}, samples)
    return Residual(samples.names, samples.time, prediction.rigid, prediction.effort)
