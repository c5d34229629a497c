# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The robot model: the public face of the dynamics library."""

from .builder import link_inertia
from .contacts import ContactSolution
from .inertial_parameters import Payload
from .model import RobotModel
from .model_data import STANDARD_GRAVITY, BaseMotion
from .operational_space import OperationalSpaceDynamics
from .wrench import ExternalWrenches, ReferenceFrame, Wrench

__all__ = [
    'STANDARD_GRAVITY', 'BaseMotion', 'ContactSolution', 'ExternalWrenches',
    'OperationalSpaceDynamics', 'Payload', 'ReferenceFrame', 'RobotModel', 'Wrench',
    'link_inertia',
]
