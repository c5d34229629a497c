# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the IMU on the base, and the links on which it may be mounted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import enum

from ...dynamics.kernels import BASE
from ...dynamics.tree import WORLD, Placement
from ...errors import InputError, brief
from ...parameters import check_ranges, parameter
from ...robot import RobotModel


class BaseUse(enum.Enum):
    """Used parts of an IMU's messages."""

    TILT = 'tilt'      # direction of gravity
    MOTION = 'motion'  # also angular velocity, angular and linear acceleration


class StaleBase(enum.Enum):
    """Gravity while the IMU is silent; the base then counts as at rest."""

    CONFIGURED = 'configured'  # parameter gravity
    HOLD = 'hold'              # direction of the last message


@dataclass(frozen=True)
class BaseSensorSettings:
    """Parameters ``base_sensor.*``; :mod:`.base_imu` uses them."""

    topic: str = parameter('', 'sensor_msgs/Imu on the base; empty: none')
    link: str = parameter(
        '', "link in whose frame the IMU measures; empty: each message's frame_id"
    )
    use: BaseUse = parameter(
        BaseUse.TILT, 'use the direction of gravity only, or also rotation and acceleration'
    )
    use_orientation: bool = parameter(
        True, 'take the direction of gravity from the orientation, if a message has one'
    )
    stale: StaleBase = parameter(StaleBase.CONFIGURED, 'gravity while the IMU is silent')
    max_acceleration: float = parameter(
        50.0, 'reject messages above it, m/s^2', span=(1.0, 1000.0)
    )
    max_angular_velocity: float = parameter(
        10.0,
        'reject messages above it; also the fastest change of the direction of gravity, rad/s',
        span=(0.1, 100.0),
    )
    tilt_cutoff: float = parameter(
        1.0, 'low-pass filter of the accelerometer for the direction of gravity, Hz',
        span=(0.01, 1000.0),
    )
    motion_cutoff: float = parameter(
        20.0, 'low-pass filter of the base motion, Hz', span=(0.1, 1000.0)
    )
    timeout: float = parameter(
        0.1, 'age of a message at which the IMU counts as silent, s', span=(0.001, 10.0)
    )
    fade: float = parameter(0.5, 'time to fade the base motion out or in, s', span=(0.01, 60.0))


def check_base_sensor(settings: BaseSensorSettings, model: RobotModel) -> None:
    """Raise an InputError for the first parameter that cannot be used with a robot."""
    check_ranges(settings, 'base_sensor.')
    mounts = links_on_base(model)
    if not settings.link or settings.link in mounts:
        return
    if settings.link in model.link_names:
        problem = f'link {settings.link!r} of robot {model.name!r} moves with its joints'
    else:
        problem = f'robot {model.name!r} has no link {brief(settings.link)}'
    allowed = ', '.join(mounts) or 'none, because the base floats'
    raise InputError(
        'base_sensor.link', f'{problem}; links that are fixed to the root link are {allowed}'
    )


def links_on_base(model: RobotModel) -> Mapping[str, Placement]:
    """Return the placements of the links that no joint moves, in the root link's frame."""
    return {
        name: frame.placement
        for name, frame in model.tree.frames.items()
        if frame.body == BASE and name != WORLD
    }
