# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Exciting motions: motions that show the dynamics of a robot best, within all limits.

Reading order: :mod:`.bounds`, :mod:`.criterion` (information content and expected accuracy),
:mod:`.motion`, :mod:`.search`, :mod:`.excitation`.
"""

from .bounds import LOAD_SHARE, ExcitationError, FeasibleMotion, JointLimits, Region
from .criterion import Accuracy
from .excitation import Excitation, excite, known_motion, motion_of, report
from .motion import RestToRestMotion, way

__all__ = [
    'LOAD_SHARE', 'Accuracy', 'Excitation', 'ExcitationError', 'FeasibleMotion', 'JointLimits',
    'Region', 'RestToRestMotion', 'excite', 'known_motion', 'motion_of', 'report', 'way',
]
