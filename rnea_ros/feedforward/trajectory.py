# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Moved to :mod:`rnea_ros.feedforward.motion`."""

from ..moved import moved
from . import motion

__getattr__ = moved(__name__, dict.fromkeys(motion.__all__, '.motion'))
