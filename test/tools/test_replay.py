# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The command: exit codes, one line for what is rejected, parameters as the node takes them."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rnea_ros.recordings import Kind, Recording
from rnea_ros.tools.replay import main
from support.models.robots import PARAMETER_FILES, ROOT
from support.recorded.bags import write_bag
from support.recorded.real_arms import recording
from support.recorded.synthetic_recordings import ARM, Robot, record
from support.tools import finished

ARM_URDF = str(ROOT / 'urdf/panda_arm.urdf')
WHOLE = record(Robot(ARM), Kind.MOTION, 1)
SHORT = WHOLE.part(WHOLE.time <= 2.5)


@pytest.fixture(scope='module')
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp('recorded') / 'bag'
    write_bag(path, SHORT, 'MCAP')
    return path


def run(*arguments: str | Path) -> tuple[int, str, str]:
    """Run the command: exit code, output, complaints."""
    ended = finished(main, *arguments)
    return ended.returncode, ended.stdout, ended.stderr


def test_a_real_arm_is_played_drawn_and_written(tmp_path: Path) -> None:
    pytest.importorskip('matplotlib', reason='matplotlib is not installed')
    drawn, table = tmp_path / 'replay.png', tmp_path / 'replay.csv'
    bag = recording('panda_exciting_trajectory.db3')
    code, output, _ = run(bag, '--urdf', ARM_URDF, '--picture', drawn, '--csv', table)
    assert code == 0
    assert '14 samples that repeat' in output
    assert 'the control ran through the whole recording' in output
    assert drawn.read_bytes().startswith(b'\x89PNG')
    rows = list(csv.DictReader(table.open(encoding='utf-8')))
    assert {row['state'] for row in rows} <= {'ramping', 'active', 'degraded'}
    commanded, measured = (
        np.array([float(row[f'fer_joint2/{what}']) for row in rows if row['state'] == 'active'])
        for what in ('commanded', 'measured')
    )
    missed = np.sqrt(np.mean((commanded - measured) ** 2) / np.mean(measured**2))
    assert missed < 0.07


def test_a_cell_is_empty_where_nothing_was_commanded_or_measured(tmp_path: Path) -> None:
    effort = SHORT.effort.copy()
    effort[:, 6] = np.nan
    write_bag(tmp_path / 'bag', replace(SHORT, effort=effort), 'MCAP')
    table = tmp_path / 'replay.csv'
    assert run(tmp_path / 'bag', '--urdf', ARM_URDF, '--csv', table)[0] == 0
    row = list(csv.DictReader(table.open(encoding='utf-8')))[-1]
    assert row['fer_joint7/measured'] == ''
    assert row['fer_joint7/commanded'] != ''


def test_the_exit_code_says_whether_the_control_ran_through(tmp_path: Path, bag: Path) -> None:
    assert run(bag, '--urdf', ARM_URDF)[0] == 0
    gap: Recording = SHORT.part((SHORT.time < 1.5) | (SHORT.time > 2.0))
    write_bag(tmp_path / 'bag', gap, 'MCAP')
    command = (tmp_path / 'bag', '--urdf', ARM_URDF, '-p', 'joint_states_timeout:=0.1')
    assert run(*command)[0] == 0  # the control returns after the gap
    code, output, _ = run(*command, '-p', 'hold_duration:=0.2')
    assert code == 1
    assert output.splitlines()[0].endswith('joint_states_stale')


def test_the_nodes_parameter_files_are_taken_and_single_parameters_win(bag: Path) -> None:
    assert len(PARAMETER_FILES) == 11
    single = ('-p', 'rate:=250.0', '-p', 'effort_limits:=[50.0]')  # some presets have six joints
    for path in PARAMETER_FILES:
        code, output, _ = run(bag, '--urdf', ARM_URDF, '--params-file', path, *single)
        assert code == 0, path
        assert ', 250 Hz, ' in output
    franka = ('--params-file', ROOT / 'config/presets/franka.yaml')  # the last one prevails
    output = run(bag, '--urdf', ARM_URDF, '--params-file', PARAMETER_FILES[0], *franka)[1]
    assert 'commanded + hardware' in output
    assert 'friction is not comparable: the hardware adds it' in output


def test_gravity_is_the_nodes_parameter(bag: Path) -> None:
    upright = run(bag, '--urdf', ARM_URDF)[1]
    wall = run(bag, '--urdf', ARM_URDF, '-p', 'gravity:=[9.81, 0.0, 0.0]')[1]
    assert upright.splitlines()[6] != wall.splitlines()[6]


def test_the_option_of_the_unit_and_the_parameter_are_the_same(tmp_path: Path, bag: Path) -> None:
    amperes = tmp_path / 'amperes'
    write_bag(amperes, SHORT.with_scaled_effort(-0.5), 'MCAP')
    code, in_newton_metres, _ = run(bag, '--urdf', ARM_URDF)
    assert code == 0
    for given in (('--effort-scale', '-2'), ('-p', 'effort_scale:=[-2.0]')):
        assert run(amperes, '--urdf', ARM_URDF, *given) == (0, in_newton_metres, '')
    for_joints = f'effort_scale:=[{", ".join(7 * ["-2.0"])}]'
    assert run(amperes, '--urdf', ARM_URDF, '-p', for_joints) == (0, in_newton_metres, '')
    assert run(amperes, '--urdf', ARM_URDF)[1] != in_newton_metres
