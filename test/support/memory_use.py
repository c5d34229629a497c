# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""How much memory code takes, where other threads of the process take some too."""

from collections.abc import Callable

TIMES = 3


def least(measure: Callable[[], int]) -> int:
    """
    Return the least of several measurements.

    Python counts the memory of a whole process. The thread by which pytest-xdist hands out tests
    takes a block for each number of a test, hundreds at a time, now and then; what the measured
    code keeps, it keeps every time.
    """
    return min(measure() for _ in range(TIMES))
