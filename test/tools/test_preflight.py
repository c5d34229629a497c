# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The command: exit codes, one line for what is rejected, bags of every kind, live topics."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
import re
import sqlite3
import subprocess
import sys

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
from support.ros.played_recording import played
from support.ros.ros_process import NO_ROS, RosProcess, new_domain_id
from support.tools import finished, rejection

ARM_URDF = str(ROOT / 'urdf/panda_arm.urdf')
HAND_URDF = str(ROOT / 'urdf/panda.urdf')


preflight, rejected = partial(finished, main), partial(rejection, main)


def test_the_panda_without_hand_is_accepted_and_drawn(tmp_path: Path) -> None:
    bag = recording('panda_exciting_trajectory.db3')
    drawn = tmp_path / 'panda.png'
    written = tmp_path / 'panda.yaml'
    arguments = (bag, '--urdf', ARM_URDF, '--picture', drawn, '--write', written)
    ended = preflight(*arguments)
    assert ended.returncode == 0, ended.stderr
    assert f'{written} is written: friction.model, friction.coulomb' in ended.stdout
    assert complete_values(read_parameter_file(written))['friction.model'] == 'parameters'
    assert 'accepted: the model fits' in ended.stdout
    assert 'fer_joint7' in ended.stdout
    assert drawn.read_bytes().startswith(b'\x89PNG')


def test_the_hand_that_is_not_there_is_rejected() -> None:
    bag = recording('panda_exciting_trajectory.db3')
    ended = preflight(bag, '--urdf', HAND_URDF)
    assert ended.returncode == 1, ended.stderr
    assert '* extra tool in the model' in ended.stdout
    assert 'fer_hand' in ended.stdout


@pytest.mark.parametrize('storage', ['SQLITE3', 'MCAP'])
@pytest.mark.parametrize('form', ['directory', 'file'])
def test_bags_of_both_storages_are_read(tmp_path: Path, storage: str, form: str) -> None:
    bag = tmp_path / 'bag'
    write_bag(bag, record(Robot(ARM), Kind.STILL, 1), storage)
    if form == 'file':
        (bag,) = [path for path in bag.iterdir() if path.suffix in ('.db3', '.mcap')]
        bag = bag.rename(tmp_path / bag.name)  # without its metadata
    ended = preflight(bag, '--urdf', ARM_URDF)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert '12 poses at rest' in ended.stdout


def test_joints_by_other_names_are_given_or_found(tmp_path: Path) -> None:
    recorded = record(Robot(ARM), Kind.STILL, 1)
    others = tuple(name.replace('fer_', 'panda_') for name in recorded.names)
    renamed = Recording(
        others, recorded.time, recorded.position, recorded.velocity, recorded.effort
    )
    write_bag(tmp_path / 'bag', renamed, 'MCAP')
    arguments = (tmp_path / 'bag', '--urdf', ARM_URDF)
    assert preflight(*arguments).returncode == 0
    pairs = [f'{name}={other}' for name, other in zip(recorded.names, others, strict=True)]
    assert preflight(*arguments, '--joints', *pairs).returncode == 0
    assert "'elbow'" in rejected(*arguments, '--joints', 'elbow=panda_joint1')
    assert "'elbow' is not recorded" in rejected(*arguments, '--joints', 'fer_joint1=elbow')


def test_a_recording_is_named_with_or_without_the_option(tmp_path: Path) -> None:
    write_bag(tmp_path / 'bag', record(Robot(ARM), Kind.STILL, 1), 'MCAP')
    named = preflight(tmp_path / 'bag', '--urdf', ARM_URDF)
    bare = preflight('--urdf', ARM_URDF, tmp_path / 'bag')
    assert (bare.returncode, bare.stdout) == (named.returncode, named.stdout) == (0, bare.stdout)


def test_a_wrong_topic_is_answered_with_those_that_are_there(tmp_path: Path) -> None:
    write_bag(tmp_path / 'bag', record(Robot(ARM), Kind.STILL, 1), 'MCAP')
    error = rejected(tmp_path / 'bag', '--urdf', ARM_URDF, '--topic', '/elsewhere')
    assert 'no joint states on /elsewhere; topics with joint states: /joint_states' in error
    assert '[' not in error


def test_the_scale_of_efforts_can_be_corrected(tmp_path: Path) -> None:
    recorded = record(Robot(ARM), Kind.STILL, 1).with_scaled_effort(-1.0)
    write_bag(tmp_path / 'bag', recorded, 'MCAP')
    arguments = (tmp_path / 'bag', '--urdf', ARM_URDF)
    ended = preflight(*arguments)
    assert ended.returncode == 1
    assert 'inverted effort' in ended.stdout
    assert preflight(*arguments, '--effort-scale', '-1').returncode == 0


def test_the_scale_of_efforts_is_written_with_what_was_found(tmp_path: Path) -> None:
    recorded = record(Robot(ARM), Kind.MOTION, 1).with_scaled_effort(-0.5)
    write_bag(tmp_path / 'bag', recorded, 'MCAP')
    written = tmp_path / 'arm.yaml'
    arguments = (tmp_path / 'bag', '--urdf', ARM_URDF, '--write', written)
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
    error = rejected(currents, '--urdf', ARM_URDF, '--effort-scale', '1', '2')
    assert '--effort-scale: 2 factors for 7 joints' in error
    written = rejected(bag, '--urdf', ARM_URDF, '--friction', friction, '--write', 'b')
    assert 'leave out --friction' in written


def test_nothing_is_written_where_nothing_was_found(tmp_path: Path) -> None:
    write_bag(tmp_path / 'bag', record(Robot(ARM), Kind.STILL, 1), 'MCAP')
    written = tmp_path / 'arm.yaml'
    ended = preflight(tmp_path / 'bag', '--urdf', ARM_URDF, '--write', written)
    assert 'is not written: no parameter was found beyond doubt' in ended.stdout
    assert not written.exists()


def test_gravity_can_be_given_for_a_robot_on_a_wall(tmp_path: Path) -> None:
    on_a_wall = Robot(ARM.with_gravity((9.81, 0.0, 0.0)))
    write_bag(tmp_path / 'bag', record(on_a_wall, Kind.STILL, 1), 'MCAP')
    arguments = (tmp_path / 'bag', '--urdf', ARM_URDF)
    assert 'wrong gravity direction' in preflight(*arguments).stdout
    assert preflight(*arguments, '--gravity', '9.81', '0', '0').returncode == 0


def no_bag(path: Path) -> None:
    path.write_text('not a bag')


def empty_database(path: Path) -> None:
    sqlite3.connect(path).close()


@pytest.mark.parametrize('make', [no_bag, empty_database, Path.mkdir, lambda path: None])
def test_a_path_must_be_a_bag(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / 'some.db3')
    assert 'some.db3' in rejected(tmp_path / 'some.db3', '--urdf', ARM_URDF)


def test_a_bag_without_messages_is_rejected(tmp_path: Path) -> None:
    empty = record(Robot(ARM), Kind.STILL, 1).part(slice(0, 0))
    write_bag(tmp_path / 'bag', empty, 'SQLITE3')
    assert 'no joint state' in rejected(tmp_path / 'bag', '--urdf', ARM_URDF)


@pytest.mark.parametrize(
    ('effort', 'count', 'reason'), [(np.nan, 12, 'no effort'), (1.0, 3, 'at least 8 of 0.5 s')]
)
def test_a_poor_bag_is_rejected(tmp_path: Path, effort: float, count: int, reason: str) -> None:
    recorded = record(Robot(ARM), Kind.STILL, 1, count=count).with_scaled_effort(effort)
    write_bag(tmp_path / 'bag', recorded, 'SQLITE3')
    arguments = (tmp_path / 'bag', '--urdf', ARM_URDF, '--use', 'still')
    assert reason in rejected(*arguments)


def test_a_recording_is_judged_without_ros() -> None:
    code = (
        'import sys\n'
        'sys.modules["rclpy"] = None\n'
        'from rnea_ros.tools.preflight import main\n'
        f'sys.exit(main(["none.db3", "--urdf", {ARM_URDF!r}]))\n'
    )
    ended = subprocess.run(
        [sys.executable, '-c', code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert ended.stderr == 'preflight: none.db3 does not exist\n'


@pytest.mark.ros
def test_live_poses_are_collected_and_judged() -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    recorded, domain_id = record(Robot(ARM, noise=0.02), Kind.STILL, 4, count=9), new_domain_id()
    urdf = (ROOT / 'urdf/panda_arm.urdf').read_text('utf-8')
    arguments = ('--poses', '8', '--duration', '85')
    # Once more from the first pose where a stall hid some of them.
    with (
        played(recorded, urdf, domain_id, speed=4.0, laps=10),
        RosProcess('rnea_ros.tools.preflight', *arguments, domain_id=domain_id) as process,
    ):
        assert process.wait(60.0) == 0, process.output
        assert 'accepted: the model fits' in process.output
        assert int(re.findall(r'(\d+) of 8 poses', process.output)[-1]) >= 8


@pytest.mark.ros
def test_silent_topics_are_reported() -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    with RosProcess(
        'rnea_ros.tools.preflight', '--urdf', ARM_URDF, '--duration', '1',
        domain_id=new_domain_id(),
    ) as process:
        assert process.wait() == 2
        assert 'no message on /joint_states' in process.output
        assert 'Traceback' not in process.output
