# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``preflight``: exit codes, options, what is written, live topics."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from rnea_ros.node.parameters import complete_values, read_parameter_file
from rnea_ros.parameters import Value, parameter_file_text
from rnea_ros.recordings import Kind, Recording
from rnea_ros.tools.preflight import main
from support.models.robots import ROOT
from support.recorded.bags import write_bag
from support.recorded.real_arms import recording
from support.recorded.synthetic_recordings import ARM, Robot, record
from support.ros.virtual_live import replace_live_node
from support.tools import finished, rejection

ARM_URDF = str(ROOT / 'urdf/panda_arm.urdf')
STILL = record(Robot(ARM), Kind.STILL, 1)

preflight, rejected = partial(finished, main), partial(rejection, main)


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    write_bag(tmp_path / 'bag', STILL, 'MCAP')
    return tmp_path / 'bag'


def test_the_panda_without_hand_is_accepted_and_drawn(tmp_path: Path) -> None:
    bag = recording('panda_exciting_trajectory.db3')
    drawn, written = tmp_path / 'panda.png', tmp_path / 'panda.yaml'
    ended = preflight(bag, '--urdf', ARM_URDF, '--picture', drawn, '--write', written)
    assert ended.returncode == 0, ended.stderr
    assert f'{written} is written: friction.model, friction.coulomb' in ended.stdout
    assert complete_values(read_parameter_file(written))['friction.model'] == 'parameters'
    assert 'accepted: the model fits' in ended.stdout
    assert 'fer_joint7' in ended.stdout
    assert drawn.read_bytes().startswith(b'\x89PNG')


def test_the_hand_that_is_not_there_is_rejected() -> None:
    bag = recording('panda_exciting_trajectory.db3')
    ended = preflight(bag, '--urdf', ROOT / 'urdf/panda.urdf')
    assert ended.returncode == 1, ended.stderr
    assert '* extra tool in the model' in ended.stdout
    assert 'fer_hand' in ended.stdout


def test_joints_by_other_names_are_given_or_found(tmp_path: Path) -> None:
    others = tuple(name.replace('fer_', 'panda_') for name in STILL.names)
    renamed = Recording(others, STILL.time, STILL.position, STILL.velocity, STILL.effort)
    write_bag(tmp_path / 'bag', renamed, 'SQLITE3')
    ended = preflight('--urdf', ARM_URDF, tmp_path / 'bag')
    assert ended.returncode == 0
    assert '12 poses at rest' in ended.stdout
    pairs = [f'{name}={other}' for name, other in zip(STILL.names, others, strict=True)]
    assert preflight(tmp_path / 'bag', '--urdf', ARM_URDF, '--joints', *pairs).returncode == 0


def test_the_scale_of_efforts_is_corrected_and_written(tmp_path: Path) -> None:
    recorded = record(Robot(ARM), Kind.MOTION, 1).with_scaled_effort(-0.5)
    write_bag(tmp_path / 'bag', recorded, 'MCAP')
    written = tmp_path / 'arm.yaml'
    arguments = (tmp_path / 'bag', '--urdf', ARM_URDF, '--write', written)
    ended = preflight(*arguments)
    assert ended.returncode == 1
    assert 'inverted effort' in ended.stdout
    assert preflight(*arguments, '--effort-scale', '-2').returncode == 0
    assert complete_values(read_parameter_file(written))['effort_scale'] == [-2.0]


def test_friction_that_was_identified_is_part_of_the_model(tmp_path: Path) -> None:
    robot, bag, friction = Robot(ARM, coulomb=0.3), tmp_path / 'bag', tmp_path / 'a.yaml'
    recorded = record(robot, Kind.MOTION, 1)
    write_bag(bag, recorded, 'MCAP')
    assert 'current-based' in preflight(bag, '--urdf', ARM_URDF).stdout
    rest = np.zeros_like(recorded.position)
    load = np.sqrt(np.mean(robot.rigid(recorded.position, rest, rest) ** 2, axis=0))
    values: dict[str, Value] = {
        'friction.model': 'parameters', 'friction.viscous': 7 * [0.1],
        'friction.coulomb': (0.1 + 0.3 * load).tolist(), 'friction.smoothing_velocity': [0.02],
    }  # fmt: skip
    friction.write_text(parameter_file_text(values, []))
    ended = preflight(bag, '--urdf', ARM_URDF, '--friction', friction)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    # Currents: the scales are in the same file, or given for each joint.
    scales = [2.0, 2.0, -2.0, 1.2, 0.5, 50.0, 0.5]
    currents, in_file = tmp_path / 'currents', tmp_path / 'currents.yaml'
    write_bag(currents, recorded.with_scaled_effort(1.0 / np.array(scales)), 'MCAP')
    in_file.write_text(parameter_file_text({**values, 'effort_scale': scales}, []))
    by_option: list[str | Path] = ['--friction', friction, '--effort-scale', *map(str, scales)]
    for given in (['--friction', in_file], by_option):
        assert preflight(currents, '--urdf', ARM_URDF, *given).stdout == ended.stdout
    assert preflight(currents, '--urdf', ARM_URDF, '--friction', friction).returncode == 1


def test_nothing_is_written_where_nothing_was_found(bag: Path) -> None:
    written = bag.with_name('arm.yaml')
    ended = preflight(bag, '--urdf', ARM_URDF, '--write', written)
    assert 'is not written: no parameter was found beyond doubt' in ended.stdout
    assert not written.exists()


def test_gravity_can_be_given_for_a_robot_on_a_wall(tmp_path: Path) -> None:
    on_a_wall = Robot(ARM.with_gravity((9.81, 0.0, 0.0)))
    write_bag(tmp_path / 'bag', record(on_a_wall, Kind.STILL, 1), 'MCAP')
    arguments = (tmp_path / 'bag', '--urdf', ARM_URDF)
    assert 'wrong gravity direction' in preflight(*arguments).stdout
    assert preflight(*arguments, '--gravity', '9.81', '0', '0').returncode == 0


def test_too_few_poses_at_rest_are_rejected(tmp_path: Path) -> None:
    for count in (7, 8):
        bag = tmp_path / str(count)
        write_bag(bag, record(Robot(ARM), Kind.STILL, 1, count=count), 'MCAP')
        arguments = (bag, '--urdf', ARM_URDF, '--use', 'still')
        if count == 7:
            assert 'at least 8 of 0.5 s' in rejected(*arguments)
        else:
            assert preflight(*arguments).returncode == 0


def test_live_poses_are_collected_until_there_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    live = replace_live_node(monkeypatch)
    live.play(STILL, Path(ARM_URDF).read_text('utf-8'))
    ended = preflight('--poses', '9', '--duration', '100')
    assert ended.returncode == 0, ended.stderr
    assert 'accepted: the model fits' in ended.stdout
    assert '\n9 of 9 poses\n' in ended.stdout
    assert '10 of 9' not in ended.stdout
    assert live.now < 100.0 + STILL.time[-1]


def test_silent_topics_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    live = replace_live_node(monkeypatch)
    assert 'no message on /robot_description in 10 s; or give the URDF: --urdf' in rejected()
    line = rejected('--urdf', ARM_URDF, '--duration', '1')
    assert 'no message on /joint_states in 1 s' in line
    assert live.now == pytest.approx(111.0, abs=0.05)
