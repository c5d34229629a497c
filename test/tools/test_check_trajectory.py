# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The command: exit codes, one line for what is rejected, YAML, bags and a live topic."""

from collections.abc import Sequence
from pathlib import Path
import re
import sys

import pytest

from rnea_ros.tools.check_trajectory import main
from rnea_ros.tools.trajectory_sources import read_trajectory
from support.control.encoded_trajectories import Message, Point, encoded
from support.models.robots import ROOT
from support.models.shaped_arm import shaped_arm
from support.ros.ros_process import NO_ROS, RosProcess, ros_node, wait_until
from support.tools import finished, rejection

pytest.importorskip('yaml', reason='PyYAML is not installed')

URDF = str(ROOT / 'urdf/panda_arm.urdf')
GOOD = """
joint_names:
- fer_joint2
- fer_joint4
points:
- {positions: [0.0, -1.5], velocities: [0.0, 0.0], accelerations: [], effort: [],
   time_from_start: {sec: 0, nanosec: 0}}
- {positions: [0.5, -2.0], velocities: [0.0, 0.0],
   time_from_start: {sec: 1, nanosec: 500000000}}
---
"""
FAST = GOOD.replace('sec: 1, nanosec: 500000000', 'sec: 0, nanosec: 200000000')
POINTS = 'joint_names: [a]\npoints: '


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / 'good.yaml'
    path.write_text(GOOD, encoding='utf-8')
    return path


def run(*arguments: str | Path, urdf: str | Path = URDF) -> tuple[int, str]:
    """Return exit code and output."""
    ended = finished(main, *arguments, '--urdf', urdf)
    return ended.returncode, ended.stdout


def rejected(*arguments: str | Path) -> str:
    return rejection(main, *arguments, '--urdf', URDF)


def test_names_of_a_trajectory_forge_no_line_of_the_report(good: Path) -> None:
    good.write_text(re.sub(r'- fer_(joint\d)', r'- "x\\nfine: nothing wrong\\e[2J/\1"', GOOD))
    code, report = run(good)
    assert code == 0
    assert r'(x\nfine: nothing wrong\x1b[2J/joint2 is fer_joint2' in report


def test_a_collision_ends_with_exit_code_1(
    tmp_path: Path, good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip('mujoco', reason='MuJoCo is not installed')
    urdf = tmp_path / 'arm.urdf'
    urdf.write_text(shaped_arm(), encoding='utf-8')
    folded = GOOD.replace('fer_joint2', 'shoulder').replace('fer_joint4', 'elbow')
    good.write_text(folded.replace('0.0, -1.5', '0.0, 2.3').replace('0.5, -2.0', '0.0, 2.9'))
    code, text = run(good, urdf=urdf)
    assert code == 1
    assert '* collision: base and lower at ' in text
    monkeypatch.setitem(sys.modules, 'rnea_ros.collision.scene', None)
    code, text = run(good, urdf=urdf)
    assert code == 0
    assert 'collisions are not checked: MuJoCo is missing: pip install mujoco' in text


def test_a_good_trajectory_is_fine_and_drawn(good: Path, tmp_path: Path) -> None:
    pytest.importorskip('matplotlib', reason='matplotlib is not installed')
    drawn = tmp_path / 'efforts.png'
    code, text = run(good, '--picture', drawn)
    assert code == 0
    assert text.startswith('fine: within all known limits')
    assert re.search(r'may take [\d.]+ % less time: [\d.]+ s instead of 1.5 s', text)
    assert drawn.read_bytes().startswith(b'\x89PNG')


def test_a_trajectory_that_is_too_fast_is_not(good: Path) -> None:
    good.write_text(GOOD + FAST, encoding='utf-8')
    assert run(good)[0] == 0
    code, text = run(good, '--index', '1')
    assert code == 1
    assert '* velocity of fer_joint2 at 0.100 s' in text


@pytest.mark.parametrize(('old', 'new', 'code', 'text'), [
    ('fer_joint4', 'elbow', 1, '* unknown_joint: the feedforward node rejects it'),
    ('fer_', 'panda_', 0, 'panda_joint2 is fer_joint2, panda_joint4 is fer_joint4'),
])
def test_a_trap_is_not_fine_and_a_joint_prefix_is_mapped(
    good: Path, old: str, new: str, code: int, text: str
) -> None:
    good.write_text(GOOD.replace(old, new), encoding='utf-8')
    ended, printed = run(good)
    assert (ended, text in printed) == (code, True)


@pytest.mark.parametrize(('options', 'code'), [
    ('--effort-limits fer_joint2=20', 1), ('--acceleration-limits 0.5', 1),
    ('--velocity-limits 0.5 fer_joint2=0.1', 1), ('--start fer_joint6=9', 1),
    ('--payload fer_link8 30 0 0 0.1', 1), ('--gravity 0 0 0 --effort-limits 10', 0),
])
def test_limits_payload_and_gravity_count(good: Path, options: str, code: int) -> None:
    assert run(good, *options.split())[0] == code


def test_the_layout_of_the_command_that_publishes_is_read(good: Path) -> None:
    good.write_text(
        '{joint_names: [a], points: [{positions: [1], time_from_start: {sec: 2}},'
        ' {positions: [1e-3], effort: [.nan], time_from_start: {sec: 3, nanosec: 500000000}}]}',
        encoding='utf-8',
    )
    request = read_trajectory(good, None, 0)
    assert request.joint_names == ('a',)
    assert request.times.tolist() == [2.0, 3.5]
    assert request.positions.values.tolist() == [1.0, 0.001]
    assert request.efforts.counts.tolist() == [0, 1]
    assert request.start_time is None


@pytest.mark.parametrize(('text', 'reason'), [
    (f'{POINTS}[2001-99-99]', 'line 2 is not usable YAML'),
    ('', 'has 0 trajectories; there is none with index 0'), ('\xff\xfe\x00j', 'save it as UTF-8'),
    ('joint_names: [a]', 'points: an empty value is not a list'),
    ('joint_names: [1]\npoints: []', 'joint_names: 1 is not a name'),
    ('!!python/object:os.system {}', 'not usable YAML'), (f'{POINTS}&x [*x]', 'contains itself'),
    (f'{POINTS}[]', 'the trajectory has no points'), ('5', 'document 0: 5 is not a mapping'),
    (f'{POINTS}[{{positions: [1]}}]', 'point 0: time_from_start is missing'),
    (f'{POINTS}[{{effords: [1]}}]', "'effords' is not one of"),
    (f'{POINTS}[{{positions: [true], time_from_start: {{}}}}]', 'True is not a number'),
])
def test_a_file_without_a_trajectory_is_rejected(good: Path, text: str, reason: str) -> None:
    good.write_bytes(text.encode('latin-1'))
    line = rejected(good)
    assert reason in line
    assert not re.search(r'None|\(\'|\[\'|Error|np\.', line)


def message(nanoseconds: int) -> bytes:
    """Return half a radian at most of two joints within a time."""
    rest, names = [0.0, 0.0], ['fer_joint2', 'fer_joint4']
    start = Point(([0.0, -1.5], rest, [], []), (0, 0))
    end = Point(([0.5, -2.0], rest, [], []), divmod(nanoseconds, 10**9))
    return encoded(Message(names, [start, end], (7, 0), ''))


def write_bag(path: Path, messages: Sequence[bytes], *topics: str) -> None:
    """Write a bag with every message on every topic."""
    rosbag2 = pytest.importorskip('rosbags.rosbag2', reason='rosbags is not installed')
    from rosbags.typesys import Stores, get_typestore

    kind, store = 'trajectory_msgs/msg/JointTrajectory', get_typestore(Stores.LATEST)
    with rosbag2.Writer(path, version=9, storage_plugin=rosbag2.StoragePlugin.MCAP) as writer:
        for topic in topics:
            connection = writer.add_connection(topic, kind, typestore=store)
            for number, data in enumerate(messages):
                writer.write(connection, 10**18 + number, data)


def test_a_bags_trajectories_are_read_by_topic_and_index(tmp_path: Path) -> None:
    bag = tmp_path / 'bag'
    write_bag(bag, [message(1_500_000_000), message(200_000_000)], '/one', '/two')
    assert 'name one' in rejected(bag)
    assert run(bag, '--topic', '/one')[0] == 0
    code, text = run(bag, '--topic', '/two', '--index', '1')
    assert (code, 'the stamp is ignored' in text) == (1, True)
    assert 'has 2 trajectories' in rejected(bag, '--topic', '/one', '--index', '2')
    answer = rejected(bag, '--topic', '/three')
    assert 'no trajectories on /three; topics with trajectories: /one, /two' in answer
    write_bag(tmp_path / 'broken', [message(10**9)[:70]], '/one')
    assert 'is damaged: the message received at ' in rejected(tmp_path / 'broken')


@pytest.mark.ros
def test_a_trajectory_of_a_live_topic_is_checked(domain_id: int) -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    from trajectory_msgs.msg import JointTrajectory

    command = ('rnea_ros.tools.check_trajectory', '--topic', 'motion', '--urdf', URDF)
    with ros_node(domain_id) as node, RosProcess(*command, domain_id=domain_id) as process:
        publisher = node.create_publisher(JointTrajectory, 'motion', 10)
        assert wait_until(publisher.get_subscription_count)
        publisher.publish(message(1_500_000_000))
        assert process.wait() == 0, process.output
        assert 'fine: within all known limits' in process.output
