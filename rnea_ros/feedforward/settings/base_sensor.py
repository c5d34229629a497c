# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a user sets for the IMU on the robot's base, and where on the robot it may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import enum

from ...dynamics.kernels import BASE
from ...dynamics.tree import WORLD, Placement
from ...errors import InputError, brief
from ...robot import RobotModel
from .checks import in_range


class BaseUse(enum.Enum):
    """What is taken of an IMU's messages."""

    TILT = 'tilt'      # the direction of gravity
    MOTION = 'motion'  # that, angular velocity, angular and linear acceleration


class StaleBase(enum.Enum):
    """Which gravity counts while an IMU is silent; the base then counts as at rest."""

    CONFIGURED = 'configured'  # the model's
    HOLD = 'hold'              # in the direction of the last message


@dataclass(frozen=True)
class BaseSensorSettings:
    """
    The IMU on the base; :mod:`.base_sensor` has what the numbers do.

    :param link: the link whose frame the IMU measures in. Empty: the one that each message's
        frame_id names
    :param use: what is taken of a message
    :param use_orientation: take gravity's direction from a message's orientation where it has
        one; else always from the accelerometer
    :param stale: which gravity counts while the IMU is silent
    :param max_acceleration: a reading of the accelerometer above it is refused, m/s^2
    :param max_angular_velocity: a reading of the gyroscope above it is refused, and gravity's
        direction follows a message that is further off no faster, rad/s
    :param tilt_cutoff: of the low-pass that finds gravity's direction in the accelerometer, Hz
    :param motion_cutoff: of the low-pass that the base's motion passes, Hz
    :param timeout: age of a message at which the IMU is silent, s
    :param fade: how long the base's motion takes to fade out, and to fade in again, s
    """

    link: str = ''
    use: BaseUse = BaseUse.TILT
    use_orientation: bool = True
    stale: StaleBase = StaleBase.CONFIGURED
    max_acceleration: float = 50.0
    max_angular_velocity: float = 10.0
    tilt_cutoff: float = 1.0
    motion_cutoff: float = 20.0
    timeout: float = 0.1
    fade: float = 0.5


BASE_SENSOR_RANGES = {
    'max_acceleration': (1.0, 1000.0),
    'max_angular_velocity': (0.1, 100.0),
    'tilt_cutoff': (0.01, 1000.0),
    'motion_cutoff': (0.1, 1000.0),
    'timeout': (0.001, 10.0),
    'fade': (0.01, 60.0),
}


def check_base_sensor(settings: BaseSensorSettings, model: RobotModel) -> None:
    """
    Check the settings against a robot.

    :raises InputError: the first parameter that cannot be used
    """
    for parameter, span in BASE_SENSOR_RANGES.items():
        in_range(f'base_sensor.{parameter}', getattr(settings, parameter), *span)
    mounts = links_on_base(model)
    if not settings.link or settings.link in mounts:
        return
    if settings.link in model.link_names:
        problem = f'link {settings.link!r} of robot {model.name!r} moves with its joints'
    else:
        problem = f'robot {model.name!r} has no link {brief(settings.link)}'
    allowed = ', '.join(mounts) or 'none, for the base floats'
    raise InputError(
        'base_sensor.link', f'{problem}; links that are fixed to the root link are {allowed}'
    )


def links_on_base(model: RobotModel) -> Mapping[str, Placement]:
    """Return where the links stand that no joint moves, in the root link's frame."""
    return {
        name: frame.placement
        for name, frame in model.tree.frames.items()
        if frame.body == BASE and name != WORLD
    }
