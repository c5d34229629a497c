# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""All steps from a recording and settings to the comparison."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..feedforward import CONTROLLING
from ..feedforward.settings import ResolvedSettings, Settings, default_timeout, resolve
from ..preflight import check
from ..recordings import RecordingError
from .playback import Playback, play
from .recorded_robot import RecordedRobot
from .residuals import Residual, of_commands, of_gravity, of_inverse_dynamics


@dataclass(frozen=True)
class Review:
    """
    The result of a replay.

    :param robot: the recording
    :param settings: settings of the control
    :param playback: commands and states of the control
    :param commanded: commands against measured efforts
    :param gravity: gravity torques against measured efforts, for all recorded joints
    :param inverse_dynamics: inverse dynamics against measured efforts, for all recorded joints
    :param flaws: flaws of the recording or of the model, one sentence each
    """

    robot: RecordedRobot
    settings: ResolvedSettings
    playback: Playback
    commanded: Residual
    gravity: Residual
    inverse_dynamics: Residual
    flaws: tuple[str, ...]

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

    :param robot: the recording
    :param settings: settings of the control; without joints, all recorded ones are commanded
    :param differentiate_velocity: whether missing velocities are derived from positions
    :raises InputError: the settings do not fit the robot
    :raises RecordingError: data are missing
    """
    timeout = settings.joint_states_timeout or default_timeout(
        max(settings.period, robot.interval)
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
    robot = robot.in_newton_metres(resolved.effort_scale)
    playback = play(robot, resolved, differentiate_velocity=differentiate_velocity)
    usable = robot.cleaned
    gravity = of_gravity(robot.model, usable)
    if not np.isfinite(gravity.computed).all():
        raise RecordingError('positions are so large that the model has no finite effort')
    return Review(
        robot,
        resolved,
        playback,
        of_commands(robot, playback),
        gravity,
        of_inverse_dynamics(robot.model, robot.cleaned),
        (*_ignored_sensors(settings), *usable.notes, *_preflight_findings(robot)),
    )


def _ignored_sensors(settings: Settings) -> list[str]:
    """Return a sentence on the sensors of the settings that the replay ignores."""
    sensors = [f'wrench_inputs.{sensor.name}' for sensor in settings.wrench_inputs]
    sensors += ['base_sensor'] * (settings.base_sensor is not None)
    return [f'ignored, not in joint states: {", ".join(sensors)}'] if sensors else []


def _preflight_findings(robot: RecordedRobot) -> list[str]:
    """Return the findings of preflight that must be fixed."""
    try:
        checkup = check(robot.model, robot.recording)
    except RecordingError as error:
        return [f'efforts could not be judged: {error}']
    return [
        f'{finding.cause.value}: {finding.text}'
        for finding in checkup.findings
        if finding.must_be_fixed
    ]
