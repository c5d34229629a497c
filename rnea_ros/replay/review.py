# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""From a recording and settings to what is told about it: the steps in their order."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..feedforward import CONTROLLING
from ..feedforward.settings import DEFAULT_TIMEOUT_PERIODS, ResolvedSettings, Settings, resolve
from ..preflight import check
from ..recordings import RecordingError
from .playback import Playback, play
from .recorded_robot import RecordedRobot
from .residuals import Residual, of_commands, of_gravity, of_inverse_dynamics


@dataclass(frozen=True)
class Review:
    """
    A recording that was played through the control.

    :param robot: the recording
    :param settings: of the control
    :param playback: what it did
    :param commanded: commands compared with measured efforts
    :param gravity: gravity torques compared, for all recorded joints
    :param inverse_dynamics: the full inverse dynamics compared, for all recorded joints
    :param flaws: of the recording, or of the model for it, one sentence each
    """

    robot: RecordedRobot
    settings: ResolvedSettings
    playback: Playback
    commanded: Residual
    gravity: Residual
    inverse_dynamics: Residual
    flaws: tuple[str, ...]

    @property
    def went_through(self) -> bool:
        """Whether the control began, and went on until the recording ended."""
        return self.playback.states[-1].state in CONTROLLING


def review(
    robot: RecordedRobot, settings: Settings, *, differentiate_velocity: bool = False
) -> Review:
    """
    Play a recording, and compare what comes out with what was measured.

    Wrenches and the motion of the base are not in joint states: their sensors are left out. Where
    no timeout of joint states is set, it is twenty intervals of the recording, if that is more
    than twenty periods: a recording is often thinner than what the robot sent.

    :param robot: the recording
    :param settings: of the control; no joints stand for all that are recorded
    :param differentiate_velocity: derive velocities where the recording has none
    :raises InputError: settings that this robot cannot be run with
    :raises RecordingError: the recording has not what is needed
    """
    timeout = settings.joint_states_timeout or DEFAULT_TIMEOUT_PERIODS * max(
        settings.period, robot.interval
    )
    resolved = resolve(
        replace(
            settings,
            joints=settings.joints or tuple(robot.joints),
            joint_states_timeout=timeout,
            wrench_inputs=(),
            base_sensor=None,
        ),
        robot.model,
    )
    playback = play(robot, resolved, differentiate_velocity=differentiate_velocity)
    kept = robot.cleaned.recording
    gravity = of_gravity(robot.model, kept)
    if not np.isfinite(gravity.computed).all():
        raise RecordingError('positions are so large that the model has no finite effort')
    return Review(
        robot,
        resolved,
        playback,
        of_commands(robot, playback),
        gravity,
        of_inverse_dynamics(robot.model, robot.cleaned),
        (*_left_out(settings), *kept.notes, *_judged(robot)),
    )


def _left_out(settings: Settings) -> list[str]:
    """Return what of the settings is not played."""
    sensors = [f'wrench_inputs.{sensor.name}' for sensor in settings.wrench_inputs]
    sensors += ['base_sensor'] * (settings.base_sensor is not None)
    return [f'not played, not in joint states: {", ".join(sensors)}'] if sensors else []


def _judged(robot: RecordedRobot) -> list[str]:
    """Return what must be fixed before efforts and model can be compared, as preflight finds."""
    try:
        checkup = check(robot.model, robot.recording)
    except RecordingError as error:
        return [f'efforts could not be judged: {error}']
    return [
        f'{finding.cause.value}: {finding.text}'
        for finding in checkup.findings
        if finding.must_be_fixed
    ]
