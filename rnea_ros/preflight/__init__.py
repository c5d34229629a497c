# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Whether a model fits a robot: measured efforts compared with it, and what is wrong by name.

Without ROS. To read: :mod:`.recording`, :mod:`.cleaning`, :mod:`.samples`, :mod:`.columns`,
:mod:`.hypothesis`, :mod:`.fit`, :mod:`.selection`, :mod:`.assessment`, :mod:`.causes`,
:mod:`.report`; :mod:`.checkup` puts them together.
"""

from .checkup import Checkup, check
from .columns import Prediction
from .picture import picture
from .report import lay_out

__all__ = [
    'Checkup',
    'Prediction',
    'check',
    'lay_out',
    'picture',
]
