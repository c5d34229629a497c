# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Python processes: a new one for code, threads and memory of the one of the tests."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import subprocess
import sys

import pytest

from support.models.robots import ROOT

needs_proc = pytest.mark.skipif(
    not Path('/proc/self/status').exists(), reason='/proc is not mounted'
)


def run(code: str, package: Path = ROOT, **environment: str) -> str:
    """Run code in a new Python that finds the package there; return what it prints."""
    ours = ('RNEA_ROS_', 'NUMBA_', 'PYTHON', 'PYTEST_')
    inherited = {name: x for name, x in os.environ.items() if not name.startswith(ours)}
    # Bytecode is compared with its source by times in whole seconds: too coarse for a test.
    paths = [str(package), *filter(None, [os.environ.get('PYTHONPATH')])]  # ROS is there
    fixed = {'PYTHONPATH': os.pathsep.join(paths), 'PYTHONDONTWRITEBYTECODE': '1'}
    finished = subprocess.run(
        [sys.executable, '-c', code], env={**inherited, **fixed, **environment}, cwd=package,
        capture_output=True, text=True, timeout=120, check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ''
    return finished.stdout


@contextmanager
def threads_that_switch_often() -> Iterator[None]:
    """Let Python switch threads every 0.05 ms instead of every 5."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def least(measure: Callable[[], int]) -> int:
    """
    Return the least of several measurements.

    Python counts the memory of a whole process. The thread by which pytest-xdist hands out tests
    takes a block for each number of a test, hundreds at a time, now and then; what the measured
    code keeps, it keeps every time.
    """
    return min(measure() for _ in range(3))
