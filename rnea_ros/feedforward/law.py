# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Moved to the modules of :mod:`rnea_ros.feedforward`."""

from ..moved import moved

_LAWS = (
    'LAWS', 'ComputedTorque', 'ControlLaw', 'Feedback', 'Feedforward', 'Gravity',
    'GravityFeedback', 'Terms',
)

__getattr__ = moved(__name__, {
    **dict.fromkeys(_LAWS, '.laws'),
    **dict.fromkeys(('FrictionModel', 'JointFriction', 'VelocitySource'), '.laws'),
    **dict.fromkeys(('HardwareCompensation', 'LoadedModel', 'PayloadBlend'), '.loaded_model'),
})
