# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Exciting motions: motions that show the dynamics of a robot best, within all limits.

:func:`excite` uses, in this order: :mod:`.limits`, :mod:`.criterion` (information content),
:mod:`.constraints` (what it must keep), :mod:`.fourier` (how it is described), :mod:`.optimise`,
:mod:`.motion` (points for a controller), :mod:`.accuracy`. :mod:`.report` shows the result.
"""

from .accuracy import Accuracy
from .excitation import Excitation, excite
from .feasibility import FeasibleMotion
from .known_motion import known_motion
from .limits import ExcitationError, JointLimits, Region
from .motion import RestToRestMotion
from .report import report

__all__ = [
    'Accuracy',
    'Excitation',
    'ExcitationError',
    'FeasibleMotion',
    'JointLimits',
    'Region',
    'RestToRestMotion',
    'excite',
    'known_motion',
    'report',
]
