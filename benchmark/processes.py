# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Measurements in fresh processes: start-up with a cold and a warm cache, and plain Python."""

from __future__ import annotations

from dataclasses import dataclass
import json
import os
from pathlib import Path
import subprocess
import sys
import tempfile
from typing import Any

from .robots import ROOT, Robot

URDF = ROOT / 'urdf' / 'ur5e.urdf'

TO_FIRST_TORQUE = ('import', 'model', 'inverse_dynamics')


@dataclass(frozen=True)
class StartUp:
    """
    Seconds that the steps of a process take, as ``benchmark.first_calls`` names them.

    :param cold: with an empty cache; every kernel is compiled where it is first called
    :param warm: with the cache that this left; the fastest of several processes
    :param megabytes: memory with one arm loaded, beyond that of numpy alone, with a warm cache
    """

    cold: dict[str, float]
    warm: dict[str, float]
    megabytes: float


def start_up(starts: int) -> StartUp:
    """
    Return how long processes take to start.

    :param starts: how many start with a warm cache, at least one
    :raises RuntimeError: a kernel was not compiled, so that not everything was measured
    """
    with tempfile.TemporaryDirectory() as cache:
        cold, _ = first_calls(Path(cache))
        warm = [first_calls(Path(cache)) for _ in range(starts)]
    fastest, megabytes = min(warm, key=lambda start: sum(start[0].values()))
    return StartUp(cold, fastest, megabytes)


def first_calls(cache: Path | None) -> tuple[dict[str, float], float]:
    """
    Return the seconds of the steps of one process, and the megabytes that it took.

    :param cache: directory of compiled kernels; None for that of every process
    :raises RuntimeError: a kernel was not compiled
    """
    variables = {} if cache is None else {'NUMBA_CACHE_DIR': str(cache)}
    printed = _run('benchmark.first_calls', str(URDF), **variables)
    if printed['left']:
        raise RuntimeError(f'no first call compiles {", ".join(printed["left"])}')
    seconds: dict[str, float] = printed['seconds']
    return seconds, printed['megabytes']


def plain_python(robots: list[Robot]) -> list[float]:
    """
    Return the seconds of our checked inverse dynamics without numba, by robot.

    :raises RuntimeError: numba was there all the same
    """
    printed = _run('benchmark.plain_python', RNEA_ROS_PURE_PYTHON='1')
    if printed['compiled']:
        raise RuntimeError('RNEA_ROS_PURE_PYTHON does not switch numba off')
    return [printed['seconds'][robot.name] for robot in robots]


def _run(module: str, *arguments: str, **environment: str) -> dict[str, Any]:
    """Return what a module of ours prints."""
    process = subprocess.run(
        [sys.executable, '-m', module, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    if process.returncode != 0:
        raise RuntimeError(f'{module} failed: {process.stderr}')
    printed: dict[str, Any] = json.loads(process.stdout)
    return printed
