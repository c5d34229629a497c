# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Recordings of real arms: read, played over DDS, and compared with what the node commands."""

from pathlib import Path
import signal

import numpy as np
import pytest

import rnea_ros
from support.models.robots import ROOT
from support.recorded.real_arms import recording
from support.ros.ros_process import NO_ROS, RosProcess, new_domain_id, ros_node

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('rosbags', reason='rosbags is not installed')

from rnea_ros.recordings import BagError, read_joint_states

PANDA_ARM = ROOT / 'urdf/panda_arm.urdf'
JOINTS = tuple(f'fer_joint{number}' for number in range(1, 8))


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


def gravity_and_measured_efforts() -> tuple[np.ndarray, np.ndarray]:
    """Return the model's gravity torque and the effort of each sample, shape (727, 7), N m."""
    samples = list(read_joint_states(recording('panda_exciting_trajectory.db3')))
    model = rnea_ros.RobotModel.from_urdf(PANDA_ARM)
    predicted = np.array([model.gravity_torques(sample.position) for sample in samples])
    return predicted, np.array([sample.effort for sample in samples])


def test_the_gravity_model_explains_what_the_real_panda_measured() -> None:
    predicted, measured = gravity_and_measured_efforts()
    assert (relative_error(predicted, measured)[1:4] < 0.10).all()


@pytest.mark.parametrize('name', ['absent.db3', 'notes.txt'])
def test_a_file_that_is_not_a_bag_is_rejected_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / 'notes.txt').write_text('not a bag')
    with pytest.raises(BagError, match=name):
        list(read_joint_states(tmp_path / name))


def test_a_topic_that_the_bag_does_not_have_is_rejected() -> None:
    bag = recording('panda_exciting_trajectory.db3')
    with pytest.raises(BagError, match='topics with joint states: /joint_states'):
        list(read_joint_states(bag, '/elsewhere'))


@pytest.mark.ros
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_without_a_traceback(number: signal.Signals) -> None:
    bag = str(recording('panda_exciting_trajectory.db3'))
    module = 'rnea_ros.tools.play_joint_states'
    with RosProcess(module, bag, domain_id=new_domain_id()) as process:
        process.wait_for('waiting for a subscription')
        process.send(number)
        assert process.wait() == 0, process.output
        assert 'interrupted' in process.output
        assert 'Traceback' not in process.output


@pytest.mark.ros
def test_gravity_commands_match_the_efforts_that_the_real_panda_measured() -> None:
    from std_msgs.msg import Float64MultiArray

    bag = recording('panda_exciting_trajectory.db3')
    domain_id = new_domain_id()
    commands: list[np.ndarray] = []
    with ros_node(domain_id) as node:
        node.create_subscription(
            Float64MultiArray, 'effort_controller/commands',
            lambda message: commands.append(np.array(message.data)), 1000,
        )
        options = (
            f'-p joints:=[{",".join(JOINTS)}] -p joint_states_timeout:=2.0 '
            '-p hardware_compensates:=[none]'
        )
        with RosProcess(
            'rnea_ros.node.feedforward_node', '--ros-args', *options.split(), '-p',
            'ramp_duration:=0.1', domain_id=domain_id,
        ) as control:
            with RosProcess(
                'rnea_ros.tools.play_joint_states', str(bag), '--urdf', str(PANDA_ARM),
                '--speed', '3', domain_id=domain_id,
            ) as player:
                control.wait_for('active')
                assert player.wait(60.0) == 0
            assert '727 joint states sent' in player.output
    predicted, measured = gravity_and_measured_efforts()
    differences = np.abs(np.array(commands)[:, None] - predicted).max(axis=2)
    # Between the ramps each command is the gravity of a sample, or limited in rate on its way from
    # one to another; a stall of the machine leaves samples out.
    of_sample = differences.min(axis=1) < 1e-6
    first, last = np.flatnonzero(of_sample)[[0, -1]]
    assert of_sample[first : last + 1].mean() > 0.95
    commanded = differences.min(axis=0) < 1e-6
    errors = relative_error(predicted[commanded], measured[commanded])
    print('RMS of the difference over RMS of the effort:', np.round(errors, 3))
    assert (errors[1:4] < 0.10).all()
