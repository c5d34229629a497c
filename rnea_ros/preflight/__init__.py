# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Compare a model with measured efforts and name the faults.

Works without ROS. Reading order: :mod:`.columns`, :mod:`.hypothesis`, :mod:`.fit`,
:mod:`.selection`, :mod:`.assessment`, :mod:`.faults`, :mod:`.report`; :mod:`.checkup` runs them.
"""

from .checkup import Checkup, check
from .columns import Prediction
from .faults import LEAVE_GRAVITY, MIN_GRAVITY
from .found_parameters import found_parameters
from .picture import picture
from .report import lay_out

__all__ = [
    'LEAVE_GRAVITY',
    'MIN_GRAVITY',
    'Checkup',
    'Prediction',
    'check',
    'found_parameters',
    'lay_out',
    'picture',
]
