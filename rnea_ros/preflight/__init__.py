# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Compare a model with measured efforts and name the faults.

Works without ROS. Reading order: :mod:`.fit`, :mod:`.selection`, :mod:`.assessment`,
:mod:`.faults`, :mod:`.gravity_factor`, :mod:`.report`; :mod:`.checkup` runs them.
"""

from .assessment import Assessment
from .checkup import Checkup, check, check_units, found_parameters
from .faults import (
    INVERT_AXIS,
    LEAVE_GRAVITY,
    MIN_GRAVITY,
    Cause,
    Finding,
    another_robot,
    find_faults,
)
from .fit import KnownEfforts, Prediction
from .report import picture
from .understanding import understood

__all__ = [
    'INVERT_AXIS', 'LEAVE_GRAVITY', 'MIN_GRAVITY', 'Assessment', 'Cause', 'Checkup', 'Finding',
    'KnownEfforts', 'Prediction', 'another_robot', 'check', 'check_units', 'find_faults',
    'found_parameters', 'picture', 'understood',
]
