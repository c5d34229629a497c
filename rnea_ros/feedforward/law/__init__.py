# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Control laws: the effort for a measured state and a reference."""

from .control_law import LAWS, ControlLaw, Parts, ReferenceMotion, Terms
from .friction import FrictionModel, JointFriction, VelocitySource
from .laws import ComputedTorque, Feedback, Feedforward, Gravity, GravityFeedback
from .loaded_model import HardwareCompensation, LoadedBodies, LoadedModel, PayloadBlend

__all__ = [
    'LAWS', 'ComputedTorque', 'ControlLaw', 'Feedback', 'Feedforward', 'FrictionModel', 'Gravity',
    'GravityFeedback', 'HardwareCompensation', 'JointFriction', 'LoadedBodies',
    'LoadedModel', 'Parts', 'PayloadBlend', 'ReferenceMotion', 'Terms', 'VelocitySource',
]
