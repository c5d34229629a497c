# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the sensors: force-torque sensors, and an IMU on the base."""

from __future__ import annotations

from dataclasses import dataclass
import enum

from ...parameters import check_ranges, parameter


class Measures(enum.Enum):
    """Sign of the readings. For an inline sensor, environment means the link and all behind it."""

    ENVIRONMENT_ON_ROBOT = 'environment_on_robot'
    ROBOT_ON_ENVIRONMENT = 'robot_on_environment'


class SensorPlacement(enum.Enum):
    """What a sensor measures."""

    CONTACT = 'contact'  # the external wrench on its link only
    INLINE = 'inline'    # all that the joint above its link carries, weight and inertia included


class PublishFrame(enum.Enum):
    """Frame of the published wrench, about whose origin the torque is."""

    SENSOR = 'sensor'
    BASE = 'base'


@dataclass(frozen=True)
class WrenchInputSettings:
    """Parameters ``wrench_inputs.<name>.*`` of one sensor."""

    name: str
    topic: str = parameter('', 'geometry_msgs/WrenchStamped of the sensor')
    link: str = parameter(
        '', "link in whose frame the readings are; empty: each reading's frame_id"
    )
    measures: Measures = parameter(Measures.ENVIRONMENT_ON_ROBOT, 'sign of the readings')
    placement: SensorPlacement = parameter(
        SensorPlacement.CONTACT,
        'external wrench on the link only, or the whole load behind the sensor',
    )
    max_force: float = parameter(
        200.0, 'reject readings above it; also the limit after filtering, N', (1e-3, 1e6)
    )
    max_torque: float = parameter(
        20.0, 'reject readings above it; also the limit after filtering, N m', (1e-3, 1e6)
    )
    cutoff: float = parameter(20.0, 'low-pass filter, Hz', (0.1, 1000.0))
    deadband_force: float = parameter(
        1.0, 'subtracted from the magnitude of the force, N', (0.0, 1e6)
    )
    deadband_torque: float = parameter(
        0.1, 'subtracted from the magnitude of the torque, N m', (0.0, 1e6)
    )
    gain: float = parameter(1.0, 'scale of the measured wrench in the command', (0.0, 1.0))
    timeout: float = parameter(
        0.1, 'age of a reading at which its term begins to fade, s', (0.001, 10.0)
    )
    fade: float = parameter(
        0.5, 'time to fade a term out or in, and to apply a new tare, s', (0.01, 60.0)
    )
    tare_duration: float = parameter(1.0, 'averaging time of a tare, s', (0.1, 60.0))
    publish_frame: PublishFrame = parameter(
        PublishFrame.SENSOR, "frame of ~/wrench/<name>: the sensor's link or the root link"
    )

    def __post_init__(self) -> None:
        check_ranges(self, self.full_name(''))

    def full_name(self, field: str) -> str:
        """Return the full name of a parameter."""
        return f'wrench_inputs.{self.name}.{field}'


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
    """Parameters ``base_sensor.*``."""

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
    max_acceleration: float = parameter(50.0, 'reject messages above it, m/s^2', (1.0, 1000.0))
    max_angular_velocity: float = parameter(
        10.0,
        'reject messages above it; also the fastest change of the direction of gravity, rad/s',
        (0.1, 100.0),
    )
    tilt_cutoff: float = parameter(
        1.0, 'low-pass filter of the accelerometer for the direction of gravity, Hz',
        (0.01, 1000.0),
    )
    motion_cutoff: float = parameter(20.0, 'low-pass filter of the base motion, Hz', (0.1, 1000.0))
    timeout: float = parameter(
        0.1, 'age of a message at which the IMU counts as silent, s', (0.001, 10.0)
    )
    fade: float = parameter(0.5, 'time to fade the base motion out or in, s', (0.01, 60.0))

    def __post_init__(self) -> None:
        check_ranges(self, 'base_sensor.')
