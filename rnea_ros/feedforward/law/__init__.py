# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Control laws: the effort for a measured state and a reference."""

from .control_law import ControlLaw, Mode, Motion, Terms
from .friction import FrictionModel, JointFriction, VelocitySource
from .loaded_model import HardwareCompensation, LoadedBodies, LoadedModel, PayloadBlend

__all__ = [
    'ControlLaw',
    'FrictionModel',
    'HardwareCompensation',
    'JointFriction',
    'LoadedBodies',
    'LoadedModel',
    'Mode',
    'Motion',
    'PayloadBlend',
    'Terms',
    'VelocitySource',
]
