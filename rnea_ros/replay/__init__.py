# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Play a recording through the control, and compare commands with measured efforts.

Works without ROS and without a clock: the stamps of the recording are the time. Reading order:
:mod:`.recorded_robot`, :mod:`.playback`, :mod:`.residuals`, :mod:`.report`; :mod:`.review` runs
them.
"""

from .picture import picture
from .recorded_robot import recorded_robot
from .report import report
from .review import Review, review
from .table_file import write_table

__all__ = [
    'Review',
    'picture',
    'recorded_robot',
    'report',
    'review',
    'write_table',
]
