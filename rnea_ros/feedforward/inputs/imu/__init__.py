# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The IMU on the robot's base: from readings to the motion of the base."""

from .base_sensor import BaseSensor

__all__ = [
    'BaseSensor',
]
