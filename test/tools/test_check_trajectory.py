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
from support.ros.ros_process import NO_ROS, RosProcess, new_domain_id, ros_node, wait_until
from support.ros.virtual_live import replace_live_node
from support.tools import Printed, rejection

pytest.importorskip('yaml', reason='PyYAML is not installed')

URDF = str(ROOT / 'urdf/panda_arm.urdf')
NAMES = ['fer_joint2', 'fer_joint4']
GOOD = """
header: {stamp: {sec: 0, nanosec: 0}, frame_id: ''}
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
BEFORE = 'joint_names: [a]\npoints: '


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / 'good.yaml'
    path.write_text(GOOD, encoding='utf-8')
    return path


def run(*arguments: str | Path) -> int:
    return main([*map(str, arguments), '--urdf', URDF])


def rejected(*arguments: str | Path) -> str:
    return rejection(main, *arguments, '--urdf', URDF)


def test_a_collision_ends_with_exit_code_1(
    tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip('mujoco', reason='MuJoCo is not installed')
    urdf, motion = tmp_path / 'arm.urdf', tmp_path / 'fold.yaml'
    urdf.write_text(shaped_arm(), encoding='utf-8')
    folded = GOOD.replace('fer_joint2', 'shoulder').replace('fer_joint4', 'elbow')
    folded = folded.replace('0.0, -1.5', '0.0, 2.3').replace('0.5, -2.0', '0.0, 2.9')
    motion.write_text(folded, encoding='utf-8')
    arguments = [str(motion), '--urdf', str(urdf)]
    assert main(arguments) == 1
    assert '* collision: base and lower at ' in capsys.readouterr().out
    monkeypatch.setitem(sys.modules, 'rnea_ros.collision.scene', None)
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert 'collisions are not checked: MuJoCo is missing: pip install mujoco' in text
    assert 'no collision:' not in text


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


def message(nanoseconds: int) -> bytes:
    """Return half a radian at most of two joints within a time of less than 10 s."""
    rest = [0.0, 0.0]
    points = [
        Point(([0.0, -1.5], rest, [], []), (0, 0)),
        Point(([0.5, -2.0], rest, [], []), divmod(nanoseconds, 10**9)),
    ]
    return encoded(Message(NAMES, points, (7, 0), ''))


def test_a_good_trajectory_is_fine_and_drawn(good: Path, tmp_path: Path, capsys: Printed) -> None:
    pytest.importorskip('matplotlib', reason='matplotlib is not installed')
    drawn = tmp_path / 'efforts.png'
    assert run(good, '--picture', drawn) == 0
    text = capsys.readouterr().out
    assert text.startswith('fine: within all known limits')
    assert re.search(r'may take [\d.]+ % less time: [\d.]+ s instead of 1.5 s', text)
    assert drawn.read_bytes().startswith(b'\x89PNG')


def test_a_trajectory_that_is_too_fast_is_not(good: Path, capsys: Printed) -> None:
    good.write_text(GOOD + FAST, encoding='utf-8')
    assert run(good) == 0
    assert run(good, '--index', '1') == 1
    assert '* velocity of fer_joint2 at 0.100 s' in capsys.readouterr().out


def test_a_trap_is_not_fine_and_a_joint_prefix_is_mapped(good: Path, capsys: Printed) -> None:
    good.write_text(GOOD.replace('fer_joint4', 'elbow'), encoding='utf-8')
    assert run(good) == 1
    assert '* unknown_joint: the feedforward node rejects it' in capsys.readouterr().out
    good.write_text(GOOD.replace('fer_', 'panda_'), encoding='utf-8')
    assert run(good) == 0
    text = capsys.readouterr().out
    assert 'panda_joint2 is fer_joint2, panda_joint4 is fer_joint4' in text
    assert 'a node with that URDF rejects them' in text


def test_limits_payload_and_gravity_count(good: Path, capsys: Printed) -> None:
    assert run(good, '--effort-limits', 'fer_joint2=20') == 1
    assert run(good, '--acceleration-limits', '0.5') == 1
    assert run(good, '--velocity-limits', '0.5', 'fer_joint2=0.1') == 1
    assert run(good, '--start', 'fer_joint6=9') == 1
    assert run(good, '--payload', 'fer_link8', '30', '0', '0', '0.1') == 1
    capsys.readouterr()
    assert run(good, '--gravity', '0', '0', '0', '--effort-limits', '10') == 0


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
    ('', 'has 0 trajectories; there is none with index 0'), ('points: [', 'cannot be read'),
    ('5', 'document 0: 5 is not a mapping'), ('joint_names: {a: 1}', 'joint_names'),
    ('joint_names: [a]', 'points: an empty value is not a list'),
    ('joint_names: a\npoints: []', "joint_names: 'a' is not a list"),
    ('joint_names: [1]\npoints: []', 'joint_names: 1 is not a name'),
    ('\xff\xfe\x00joint', 'cannot be read'), ('!!python/object:os.system {}', 'cannot be read'),
    (f'{BEFORE}[]', 'the trajectory has no points'), (f'{BEFORE}&x [*x]', 'point 0'),
    (f'{BEFORE}[{{positions: [1]}}]', 'point 0: time_from_start is missing'),
    (f'{BEFORE}[{{effords: [1]}}]', "'effords' is not one of"),
    (f'{BEFORE}[{{positions: [x], time_from_start: {{}}}}]', "positions: 'x' is not a number"),
    (f'{BEFORE}[{{positions: [true], time_from_start: {{}}}}]', 'True is not a number'),
    (f'{BEFORE}[{{positions: 1, time_from_start: {{}}}}]', 'point 0: positions: 1 is not a list'),
    (f'{BEFORE}[{{positions: [1], time_from_start: 1.0}}]', '1.0 is not a mapping'),
])
def test_a_file_without_a_trajectory_is_rejected(good: Path, text: str, reason: str) -> None:
    good.write_bytes(text.encode('latin-1'))
    message = rejected(good)
    assert reason in message
    assert not re.search(r'None|\(\'|\[\'|Error|np\.', message)


def test_a_bags_trajectories_are_read_by_topic_and_index(tmp_path: Path, capsys: Printed) -> None:
    bag = tmp_path / 'bag'
    write_bag(bag, [message(1_500_000_000), message(200_000_000)], '/one', '/two')
    assert 'name one' in rejected(bag)
    assert run(bag, '--topic', '/one') == 0
    assert run(bag, '--topic', '/two', '--index', '1') == 1
    assert 'the stamp is ignored' in capsys.readouterr().out
    assert 'has 2 trajectories' in rejected(bag, '--topic', '/one', '--index', '2')
    answer = rejected(bag, '--topic', '/three')
    assert 'no trajectories on /three; topics with trajectories: /one, /two' in answer


def test_a_broken_message_is_rejected(tmp_path: Path) -> None:
    write_bag(tmp_path / 'bag', [message(10**9)[:70]], '/one')
    assert 'a broken message: that of ' in rejected(tmp_path / 'bag')


@pytest.mark.ros
def test_a_trajectory_of_a_live_topic_is_checked() -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    from trajectory_msgs.msg import JointTrajectory

    domain_id = new_domain_id()
    with ros_node(domain_id) as node:
        publisher = node.create_publisher(JointTrajectory, 'motion', 10)
        with RosProcess(
            'rnea_ros.tools.check_trajectory', '--topic', 'motion', '--urdf', URDF,
            domain_id=domain_id,
        ) as process:
            assert wait_until(publisher.get_subscription_count)
            publisher.publish(message(1_500_000_000))
            assert process.wait() == 0, process.output
            assert 'fine: within all known limits' in process.output


def test_a_silent_topic_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    live = replace_live_node(monkeypatch, 'rnea_ros.tools.live.topics')
    error = rejected('--topic', 'motion', '--timeout', '7')
    assert 'no message on /motion in 7 s' in error
    assert live.now == pytest.approx(107.0, abs=0.02)
