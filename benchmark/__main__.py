# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""``python -m benchmark``: the dynamics beside other libraries."""

import sys

from .dynamics import DynamicsBenchmark
from .pictures import draw_dynamics
from .report import run

if __name__ == '__main__':
    benchmark = DynamicsBenchmark()
    sys.exit(run('measured', benchmark.measure, lambda: draw_dynamics(benchmark.results)))
