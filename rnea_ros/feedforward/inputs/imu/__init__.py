# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The IMU on the base: from its messages to the motion of the base."""

from .base_sensor import BaseSensor

__all__ = ['BaseSensor']
