# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Whatever files and options a tool is given, it works or says in one sentence what is wrong.

The environment variable ``COMMAND_LINES`` gives the number of command lines, 40 by default.
"""

import os

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
import pytest

from support.fuzz.command_lines import command_lines, fault, prepare, run
from support.fuzz.hostile_files import write_files
from support.ros.ros_process import NO_ROS

COUNT = int(os.environ.get('COMMAND_LINES', '40'))


def test_random_command_lines_end_with_a_result_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    for package in ('rosbags', 'matplotlib', 'scipy'):
        pytest.importorskip(package, reason=f'{package} is not installed')
    folder = tmp_path_factory.mktemp('files')
    files = write_files(folder)
    prepare(folder)

    @settings(
        max_examples=COUNT, phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(st.data())
    def ends_well(data: st.DataObject) -> None:
        line = data.draw(command_lines(files))
        assert fault(line, run(line, folder), folder) == '', line

    ends_well()
