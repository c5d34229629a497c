# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``replay``: exit codes, a table, parameters as the node takes them."""

import csv
from pathlib import Path

import numpy as np
import pytest

from rnea_ros.recordings import Kind
from rnea_ros.tools.replay import main
from support.models.robots import PARAMETER_FILES, ROOT
from support.recorded.bags import recording, write_bag
from support.recorded.synthetic_recordings import ARM, Robot, record
from support.tools import finished

WHOLE = record(Robot(ARM), Kind.MOTION, 1)
SHORT = WHOLE.part(WHOLE.time <= 2.5)


@pytest.fixture(scope='module')
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp('recorded') / 'bag'
    write_bag(path, SHORT, 'MCAP')
    return path


def run(bag: Path, *arguments: str | Path) -> tuple[int, str]:
    """Return exit code and output."""
    ended = finished(main, bag, '--urdf', ROOT / 'urdf/panda_arm.urdf', *arguments)
    return ended.returncode, ended.stdout


def rows(table: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(table.open(encoding='utf-8')))


def test_a_real_arm_is_played_drawn_and_written(tmp_path: Path) -> None:
    pytest.importorskip('matplotlib', reason='matplotlib is not installed')
    drawn, table = tmp_path / 'replay.png', tmp_path / 'replay.csv'
    bag = recording('panda_exciting_trajectory.db3')
    code, output = run(bag, '--picture', drawn, '--csv', table)
    assert code == 0
    assert '14 samples that repeat' in output
    assert 'the control ran through the whole recording' in output
    assert drawn.read_bytes().startswith(b'\x89PNG')
    assert {row['state'] for row in rows(table)} <= {'ramping', 'active', 'degraded'}
    commanded, measured = np.array([
        [float(row[f'fer_joint2/{what}']) for what in ('commanded', 'measured')]
        for row in rows(table) if row['state'] == 'active'
    ]).T
    missed = np.sqrt(np.mean((commanded - measured) ** 2) / np.mean(measured**2))
    assert missed < 0.07


def test_the_exit_code_says_whether_the_control_ran_through(tmp_path: Path) -> None:
    write_bag(tmp_path / 'bag', SHORT.part((SHORT.time < 1.5) | (SHORT.time > 2.0)), 'MCAP')
    command = (tmp_path / 'bag', '-p', 'joint_states_timeout:=0.1')
    assert run(*command)[0] == 0  # the control returns after the gap
    code, output = run(*command, '-p', 'hold_duration:=0.2')
    assert code == 1
    assert output.splitlines()[0].endswith('joint_states_stale')


def test_the_nodes_parameter_files_are_taken_and_single_parameters_win(bag: Path) -> None:
    assert len(PARAMETER_FILES) == 11
    single = ('-p', 'rate:=250.0', '-p', 'effort_limits:=[50.0]')  # some presets have six joints
    for path in PARAMETER_FILES:
        code, output = run(bag, '--params-file', path, *single)
        assert code == 0, path
        assert ', 250 Hz, ' in output
    franka = ('--params-file', ROOT / 'config/presets/franka.yaml')  # the last one prevails
    output = run(bag, '--params-file', PARAMETER_FILES[0], *franka)[1]
    assert 'commanded + hardware' in output
    assert 'friction is not comparable: the hardware adds it' in output


def test_gravity_and_the_scale_of_efforts_are_the_nodes_parameters(
    tmp_path: Path, bag: Path
) -> None:
    upright = run(bag)
    assert upright[0] == 0
    wall = run(bag, '-p', 'gravity:=[9.81, 0.0, 0.0]')[1]
    assert upright[1].splitlines()[6] != wall.splitlines()[6]
    amperes = tmp_path / 'amperes'
    write_bag(amperes, SHORT.with_scaled_effort(-0.5), 'MCAP')
    assert run(amperes) != upright
    for given in (('--effort-scale', '-2'), ('-p', f'effort_scale:={7 * [-2.0]}')):
        assert run(amperes, *given) == upright
