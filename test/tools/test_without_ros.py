# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Files are read, checked and fitted without ROS, and pictures need no import before they are."""

from pathlib import Path

import pytest

from support import python_process
from support.fuzz.hostile_files import YAMLS, arm, write_recording
from support.models.robots import ROOT

LINES = (
    ('check_trajectory good.yaml --urdf arm.urdf', 0, ''),
    ('check_trajectory --topic x --urdf arm.urdf', 2, 'live topics need ROS'),
    ('preflight motion --urdf arm.urdf', 0, ''), ('preflight', 2, 'live topics need ROS'),
    ('identify second --urdf arm.urdf', 1, 'identify: '), ('identify', 2, 'live topics need ROS'),
    ('replay ten --urdf arm.urdf', 0, ''),
    ('excite --urdf arm.urdf --publish --yes', 2, '--publish needs ROS'),
    ('teach --urdf arm.urdf --play good.yaml --yes', 2, 'a robot needs ROS'),
)
CODE = f"""
import sys
sys.path.insert(0, {str(ROOT / 'test')!r})
for name in ('rclpy', 'rcl_interfaces', 'sensor_msgs', 'trajectory_msgs'):
    sys.modules[name] = None
from pathlib import Path
from support.tools import run
for line, code, reason in {LINES!r}:
    end = run(line, Path(%r))
    assert end.returncode == code, (line, end)
    assert reason in end.stderr, (line, end)
print('matplotlib' in sys.modules)
"""


def test_tools_that_read_files_need_no_ros(tmp_path: Path) -> None:
    for package in ('rosbags', 'scipy', 'yaml'):
        pytest.importorskip(package, reason=f'{package} is not installed')
    (tmp_path / 'arm.urdf').write_text(arm(), encoding='utf-8')
    (tmp_path / 'good.yaml').write_text(YAMLS['good'], encoding='utf-8')
    for name in ('motion', 'second', 'ten'):
        write_recording(tmp_path, name)
    assert python_process.run(CODE % str(tmp_path)) == 'False\n'
