# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Whatever files and options a tool is given, it works or says in one sentence what is wrong.

The environment variable ``COMMAND_LINES`` gives the number of command lines, 40 by default.
"""

import os
from pathlib import Path

import pytest

from support.fuzz.command_lines import command_line, fault, prepare, run
from support.fuzz.hostile_files import write_files
from support.ros.ros_process import NO_ROS

COUNT = int(os.environ.get('COMMAND_LINES', '40'))
LONG_RECORDING = 1_000_000
"""Samples of a recording that only a longer test has time for."""


def test_random_command_lines_end_with_a_result_or_one_sentence(tmp_path: Path) -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    pytest.importorskip('rosbags', reason='rosbags is not installed')
    pytest.importorskip('matplotlib', reason='matplotlib is not installed')
    pytest.importorskip('scipy', reason='scipy is not installed')
    files = write_files(tmp_path, LONG_RECORDING if COUNT > 1000 else 0)
    prepare(tmp_path)
    faults = {}
    for seed in range(COUNT):
        tool, arguments = command_line(seed, files)
        end = run(tool, arguments, tmp_path)
        if wrong := fault(tool, end, tmp_path):
            faults[f'{seed}: {tool} {" ".join(arguments)}'] = f'{wrong}\n{end.err}'
    assert not faults
