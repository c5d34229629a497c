# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A process that times our checked inverse dynamics; for numba switched off, which needs one's own.

``RNEA_ROS_PURE_PYTHON=1 python -m benchmark.plain_python`` prints a JSON object: whether kernels
are compiled, and seconds of a call by robot.
"""

from __future__ import annotations

import json

from rnea_ros.compilation import COMPILED

from .contenders import CHECKED, Computation, our_calls
from .robots import Robot, robots_to_compare
from .timing import race

ROUNDS = 3


def seconds(robot: Robot) -> float:
    """Return what a call takes."""
    checked, *_ = our_calls(robot)[Computation.INVERSE_DYNAMICS]
    return race([checked], robot.states(1), ROUNDS).best(CHECKED)


if __name__ == '__main__':
    by_robot = {robot.name: seconds(robot) for robot in robots_to_compare()}
    print(json.dumps({'compiled': COMPILED, 'seconds': by_robot}))
