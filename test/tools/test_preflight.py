# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``preflight``: exit codes, options, what is written, live topics."""

from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

from rnea_ros.feedforward.settings import complete_values
from rnea_ros.parameters import Value, parameter_file_text, read_parameter_file
from rnea_ros.recordings import Kind
from rnea_ros.tools.preflight import main
from support.models.robots import ROOT
from support.recorded.bags import recording, write_bag
from support.recorded.synthetic_recordings import ARM, Robot, record
from support.ros.virtual_live import replace_live_node
from support.tools import finished, rejection

ARM_URDF = ROOT / 'urdf/panda_arm.urdf'
REAL = recording('panda_exciting_trajectory.db3')
STILL, MOTION = (record(Robot(ARM), kind, 1) for kind in (Kind.STILL, Kind.MOTION))


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    return tmp_path / 'bag'


def preflight(*arguments: str | Path) -> CompletedProcess[str]:
    return finished(main, *arguments, '--urdf', ARM_URDF)


def test_the_panda_without_hand_is_accepted_and_drawn(tmp_path: Path) -> None:
    drawn, written = tmp_path / 'panda.png', tmp_path / 'panda.yaml'
    ended = preflight(REAL, '--picture', drawn, '--write', written)
    assert ended.returncode == 0, ended.stderr
    assert f'{written} is written: friction.model, friction.coulomb' in ended.stdout
    assert complete_values(read_parameter_file(written))['friction.model'] == 'parameters'
    assert 'accepted: the model fits' in ended.stdout
    assert drawn.read_bytes().startswith(b'\x89PNG')


def test_joints_by_other_names_are_given_or_found_and_nothing_is_written(bag: Path) -> None:
    others = tuple(name.replace('fer_', 'panda_') for name in STILL.names)
    write_bag(bag, replace(STILL, names=others), 'SQLITE3')
    ended = preflight(bag, '--write', bag.with_name('arm.yaml'))
    assert ended.returncode == 0
    assert '12 poses at rest' in ended.stdout
    assert 'is not written: no parameter was found beyond doubt' in ended.stdout
    assert not bag.with_name('arm.yaml').exists()
    pairs = [f'{name}={other}' for name, other in zip(STILL.names, others, strict=True)]
    assert preflight(bag, '--joints', *pairs).returncode == 0


def test_the_scale_of_efforts_is_corrected_and_written(bag: Path, tmp_path: Path) -> None:
    write_bag(bag, MOTION.with_scaled_effort(-0.5), 'MCAP')
    written = tmp_path / 'arm.yaml'
    ended = preflight(bag, '--write', written)
    assert ended.returncode == 1
    assert 'inverted effort' in ended.stdout
    assert preflight(bag, '--write', written, '--effort-scale', '-2').returncode == 0
    assert complete_values(read_parameter_file(written))['effort_scale'] == [-2.0]


def test_friction_that_was_identified_is_part_of_the_model(bag: Path, tmp_path: Path) -> None:
    robot, friction = Robot(ARM, coulomb=0.3), tmp_path / 'a.yaml'
    recorded = record(robot, Kind.MOTION, 1)
    write_bag(bag, recorded, 'MCAP')
    assert 'current-based' in preflight(bag).stdout
    rest = np.zeros_like(recorded.position)
    load = np.sqrt(np.mean(robot.rigid(recorded.position, rest, rest) ** 2, axis=0))
    values: dict[str, Value] = {
        'friction.model': 'parameters', 'friction.viscous': 7 * [0.1],
        'friction.coulomb': (0.1 + 0.3 * load).tolist(), 'friction.smoothing_velocity': [0.02],
    }  # fmt: skip
    friction.write_text(parameter_file_text(values, []))
    ended = preflight(bag, '--friction', friction)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    currents, scales = tmp_path / 'currents', [2.0, 2.0, -2.0, 1.2, 0.5, 50.0, 0.5]
    write_bag(currents, recorded.with_scaled_effort(1.0 / np.array(scales)), 'MCAP')
    friction.write_text(parameter_file_text({**values, 'effort_scale': scales}, []))
    assert preflight(currents, '--friction', friction).stdout == ended.stdout


def test_the_factors_of_gravity_that_were_written_are_part_of_the_model(
    bag: Path, tmp_path: Path
) -> None:
    heavy = ARM.with_inertial_parameters(1.12 * ARM.inertial_parameters)
    write_bag(bag, record(Robot(heavy, noise=0.02), Kind.STILL, 1), 'MCAP')
    written = tmp_path / 'a.yaml'
    ended = preflight(bag, '--write', written)
    (line,) = [line for line in ended.stdout.splitlines() if 'gravity_factor: [' in line]
    assert line in written.read_text('utf-8').splitlines()
    ended = preflight(bag, '--friction', written)
    assert 'gravity_factor' not in ended.stdout
    assert ended.stdout.count(' 1.00 +- ') >= 3


def test_gravity_can_be_given_for_a_robot_on_a_wall(bag: Path) -> None:
    write_bag(bag, record(Robot(ARM.with_gravity((9.81, 0.0, 0.0))), Kind.STILL, 1), 'MCAP')
    assert 'wrong gravity direction' in preflight(bag).stdout
    assert preflight(bag, '--gravity', '9.81', '0', '0').returncode == 0


@pytest.mark.parametrize(('count', 'code'), [(7, 2), (8, 0)])
def test_too_few_poses_at_rest_are_rejected(bag: Path, count: int, code: int) -> None:
    write_bag(bag, record(Robot(ARM), Kind.STILL, 1, count=count), 'MCAP')
    ended = preflight(bag, '--use', 'still')
    assert ended.returncode == code
    assert not code or 'at least 8 of 0.5 s' in ended.stderr


def test_live_poses_are_collected_until_there_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    live = replace_live_node(monkeypatch)
    live.play(STILL, ARM_URDF.read_text('utf-8'))
    ended = finished(main, '--poses', '9', '--duration', '100')
    assert ended.returncode == 0, ended.stderr
    assert 'accepted: the model fits' in ended.stdout
    assert '\n9 of 9 poses\n' in ended.stdout
    assert '10 of 9' not in ended.stdout
    assert live.now < 100.0 + STILL.time[-1]


def test_silent_topics_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    live = replace_live_node(monkeypatch)
    line = 'no message on /robot_description in 10 s; or give the URDF: --urdf'
    assert line in rejection(main)
    line = rejection(main, '--urdf', ARM_URDF, '--duration', '1')
    assert 'no message on /joint_states in 1 s' in line
    assert live.now == pytest.approx(111.0, abs=0.05)
