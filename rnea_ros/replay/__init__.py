# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Play a recording through the control, and compare commands with measured efforts.

Works without ROS and without a clock: the stamps of the recording are the time. Reading order:
:mod:`.playback`, :mod:`.review`, :mod:`.report`.
"""

from .playback import recorded_robot
from .report import picture, report, write_table
from .review import Review, known_efforts, review

__all__ = [
    'Review', 'known_efforts', 'picture', 'recorded_robot', 'report', 'review', 'write_table'
]
