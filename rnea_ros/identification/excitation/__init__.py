# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Exciting motions: motions that show the dynamics of a robot best, within all limits.

:func:`excite` uses, in this order: :mod:`.limits`, :mod:`.criterion` (information content and
expected accuracy), :mod:`.bounds` (what it must keep), :mod:`.motion` (how it is described, and
its points for a controller), :mod:`.search`. :mod:`.report` shows the result.
"""

from .bounds import FeasibleMotion
from .criterion import Accuracy
from .excitation import Excitation, excite, known_motion, motion_of
from .limits import LOAD_SHARE, ExcitationError, JointLimits, Region
from .motion import RestToRestMotion, way
from .report import report

__all__ = [
    'LOAD_SHARE', 'Accuracy', 'Excitation', 'ExcitationError', 'FeasibleMotion', 'JointLimits',
    'Region', 'RestToRestMotion', 'excite', 'known_motion', 'motion_of', 'report', 'way',
]
