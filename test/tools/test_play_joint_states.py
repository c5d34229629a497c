# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Recordings of real arms: read, played over DDS, and compared with what the node commands."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
import signal
from typing import Any, TypeAlias

import numpy as np
import pytest
from recordings import recording
from robots import ROOT
from ros_process import NO_ROS, RosProcess, new_domain_id, ros_node

import rnea_ros

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('rosbags', reason='rosbags is not installed')

from rnea_ros.recordings import BagError, read_joint_states
from rnea_ros.tools.play_joint_states import main

PANDA_ARM = ROOT / 'urdf/panda_arm.urdf'
JOINTS = tuple(f'fer_joint{number}' for number in range(1, 8))

Sent: TypeAlias = tuple[float, Sequence[float]]
"""When a message was sent, s, and the efforts in it, N m."""


def relative_error(predicted: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """Return RMS of the difference over RMS of the measured effort, by joint."""
    difference = np.sqrt(np.mean((predicted - measured) ** 2, axis=0))
    relative: np.ndarray = difference / np.sqrt(np.mean(measured**2, axis=0))
    return relative


def test_samples_come_in_order_with_their_own_times() -> None:
    samples = list(read_joint_states(recording('panda_exciting_trajectory.db3')))
    times = np.array([sample.time for sample in samples])
    assert len(samples) == 727
    assert times[0] == 0.0
    assert (np.diff(times) > 0.0).all()
    assert times[-1] == pytest.approx(24.2, abs=0.1)
    assert all(sample.names == JOINTS for sample in samples)
    assert all(len(sample.effort) == 7 for sample in samples)


def test_the_gravity_model_explains_what_the_real_panda_measured() -> None:
    samples = list(read_joint_states(recording('panda_exciting_trajectory.db3')))
    model = rnea_ros.RobotModel.from_urdf(PANDA_ARM)
    predicted = np.array([model.gravity_torques(sample.position) for sample in samples])
    measured = np.array([sample.effort for sample in samples])
    assert (relative_error(predicted, measured)[1:4] < 0.10).all()


@pytest.mark.parametrize('name', ['absent.db3', 'notes.txt'])
def test_a_file_that_is_no_bag_is_rejected_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / 'notes.txt').write_text('not a bag')
    with pytest.raises(BagError, match=name):
        list(read_joint_states(tmp_path / name))


def test_a_topic_that_the_bag_does_not_have_is_rejected() -> None:
    bag = recording('panda_exciting_trajectory.db3')
    with pytest.raises(BagError, match='topics with joint states: /joint_states'):
        list(read_joint_states(bag, '/elsewhere'))


@pytest.mark.parametrize(
    ('arguments', 'reason'),
    [
        ((), 'name a recording'),
        (('--bag', 'none.db3'), 'none.db3 does not exist'),
        (('a', '--bag', 'b'), 'not both a and b'),
        (('none.db3',), 'none.db3 does not exist'),
        (('none.db3', '--urdf', 'none.urdf'), 'none.urdf'),
        (('none.db3', '--speed', '0'), '--speed: 0'),
        (('none.db3', '--wait', 'nan'), '--wait'),
        (('none.db3', '--dance'), '--dance'),
    ],
)
def test_bad_arguments_and_files_are_rejected_with_one_line(
    arguments: tuple[str, ...], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code: object
    try:
        code = main(list(arguments))
    except SystemExit as error:
        code = error.code
    (line,) = capsys.readouterr().err.splitlines()
    assert code == 2
    assert line.startswith('play_joint_states: ')
    assert reason in line


@pytest.mark.ros
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_without_a_traceback(number: signal.Signals) -> None:
    bag = str(recording('panda_exciting_trajectory.db3'))
    module = 'rnea_ros.tools.play_joint_states'
    with RosProcess(module, bag, domain_id=new_domain_id()) as process:
        process.wait_for('waiting for a subscription')
        process.send(number)
        assert process.wait() == 0
        assert 'interrupted' in process.output
        assert 'Traceback' not in process.output


def pairs(commands: Sequence[Sent], samples: Sequence[Sent]) -> tuple[np.ndarray, np.ndarray]:
    """Return the last command after each sample and before the next, and the sample's efforts."""
    sent = np.array([at for at, _ in commands])
    found = [
        (commands[last][1], effort)
        for (at, effort), (following, _) in pairwise(samples)
        if (last := int(np.searchsorted(sent, following)) - 1) >= 0 and sent[last] > at
    ]
    predicted, measured = np.array(found).swapaxes(0, 1)
    return predicted, measured


@pytest.mark.ros
def test_gravity_commands_match_the_efforts_that_the_real_panda_measured() -> None:
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray

    bag = recording('panda_exciting_trajectory.db3')
    domain_id = new_domain_id()
    commands: list[Sent] = []
    samples: list[Sent] = []

    def on_command(message: Any, info: Any) -> None:
        commands.append((1e-9 * info['source_timestamp'], message.data))

    def on_sample(message: Any, info: Any) -> None:
        samples.append((1e-9 * info['source_timestamp'], message.effort))

    with ros_node(domain_id) as node:
        topic = 'effort_controller/commands'
        node.create_subscription(Float64MultiArray, topic, on_command, 1000)
        node.create_subscription(JointState, 'joint_states', on_sample, 1000)
        options = (
            f'-p joints:=[{",".join(JOINTS)}] -p joint_states_timeout:=2.0 '
            '-p hardware_compensates:=[none]'
        )
        with RosProcess(
            'rnea_ros.node.feedforward_node',
            '--ros-args',
            *options.split(),
            '-p',
            'ramp_duration:=0.1',
            domain_id=domain_id,
        ) as control:
            with RosProcess(
                'rnea_ros.tools.play_joint_states',
                str(bag),
                '--urdf',
                str(PANDA_ARM),
                domain_id=domain_id,
            ) as player:
                control.wait_for('active')
                assert player.wait(60.0) == 0
            assert '727 joint states sent' in player.output
    predicted, measured = pairs(commands, samples)
    count = len(predicted)
    assert count > 500, f'{count} of 727 samples were paired with a command'
    settled = slice(30, None)  # after the ramp
    errors = relative_error(predicted[settled], measured[settled])
    print('RMS of the difference over RMS of the effort:', np.round(errors, 3))
    assert (errors[1:4] < 0.10).all()
