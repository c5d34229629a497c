# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Moved to the modules of :mod:`rnea_ros.feedforward`."""

from ..moved import moved

__getattr__ = moved(__name__, {
    'AdditionalEffort': '.efforts', 'JointBounds': '', 'JointStateMonitor': '',
})
