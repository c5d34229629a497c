# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Play a recording through the control, and compare commands with measured efforts.

Works without ROS and without a clock: the stamps of the recording are the time. Reading order:
:mod:`.recorded_robot`, :mod:`.playback`, :mod:`.review`, :mod:`.report`, :mod:`.output_files`.
"""

from .output_files import picture, write_table
from .recorded_robot import recorded_robot
from .report import report
from .review import Review, known_efforts, review

__all__ = [
    'Review', 'known_efforts', 'picture', 'recorded_robot', 'report', 'review', 'write_table'
]
