# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The examples with ROS, against the simulated arm and the node."""

from collections.abc import Iterator
from contextlib import ExitStack
from importlib import import_module
import sys
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.models.robots import ROOT, load
from support.ros.ros_process import (
    NO_ROS,
    RosProcess,
    isolated,
    new_domain_id,
    ros_node,
    wait_until,
)

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

pytestmark = pytest.mark.ros

ROBOT = 'urdf:=urdf/panda_arm.urdf state_rate:=250.0 publish_clock:=true lockstep:=true'
NODE = (
    'rate:=250.0 trigger:=joint_states use_sim_time:=true hardware_compensates:=[none] '
    'mode:=computed_torque gains.kp:=[100.0] gains.kd:=[20.0] constraints.fer_joint7.goal:=0.02'
)
"""In lockstep: a busy machine changes nothing."""

RECORDER = QoSProfile(depth=20_000, reliability=ReliabilityPolicy.BEST_EFFORT)
"""
A reliable recorder waits for a lost state up to 3 s: a whole motion in lockstep.

Lockstep sends thousands of states a second: with a depth of 1000 a recorder that stands still for
a second can lose the motion.
"""


def arguments(text: str) -> list[str]:
    """Return command-line arguments that set parameters."""
    return ['--ros-args', *(part for each in text.split() for part in ('-p', each))]


@pytest.fixture(scope='module')
def arm() -> Iterator[Any]:
    """Give an arm under the node: its domain, and the measured positions of its last joint."""
    domain_id = new_domain_id()
    with ExitStack() as running:
        for module, text in (('sim.simulated_robot', ROBOT), ('node.feedforward_node', NODE)):
            process = running.enter_context(
                RosProcess(f'rnea_ros.{module}', *arguments(text), domain_id=domain_id)
            )
        process.wait_for(' active')
        node = running.enter_context(ros_node(domain_id))
        positions: list[float] = []
        node.create_subscription(
            JointState, 'joint_states', lambda state: positions.append(state.position[-1]),
            RECORDER,
        )
        assert wait_until(lambda: positions)
        yield SimpleNamespace(domain_id=domain_id, positions=positions)


def output_of(arm: Any, name: str) -> str:
    """Return what an example wrote before it ended."""
    path, program = str(ROOT / f'examples/{name}.py'), (sys.executable, '-u')
    with RosProcess(path, domain_id=arm.domain_id, program=program) as example:
        assert example.wait() == 0, example.output
        text: str = example.output
        return text


def test_the_arm_follows_the_trajectory_that_is_sent(arm: Any) -> None:
    start = arm.positions[-1]
    assert 'sent: fer_joint7' in output_of(arm, 'send_trajectory')
    assert wait_until(lambda: max(arm.positions) > start + 0.29)
    assert wait_until(lambda: arm.positions[-1] < start + 0.01)


def test_no_trajectory_is_sent_to_one_of_two_robots(arm: Any) -> None:
    path = str(ROOT / 'examples/send_trajectory.py')
    with ros_node(arm.domain_id, 'simulated_robot') as second:
        second.create_publisher(JointState, 'joint_states', 1)
        with RosProcess(path, domain_id=arm.domain_id, program=(sys.executable, '-u')) as example:
            assert example.wait() != 0
            assert 'two robots on one domain?' in example.output
            assert 'sent:' not in example.output


def test_a_goal_succeeds(arm: Any) -> None:
    pytest.importorskip('control_msgs', reason='control_msgs is not installed')
    assert 'error code 0' in output_of(arm, 'send_goal')


def test_the_terms_show_a_payload_that_was_set_at_run_time(arm: Any) -> None:
    def gravity() -> float:
        (row,) = (r for r in output_of(arm, 'read_terms').splitlines() if 'fer_joint4' in r)
        return float(row.split()[1])

    # After a motion the arm is held; without one this payload, which is not there, lifts it.
    output_of(arm, 'send_trajectory')
    before = gravity()
    assert '2.0 kg on fer_link7' in output_of(arm, 'payload_at_run_time')
    assert wait_until(lambda: gravity() - before > 1.0)


def test_the_cartesian_impedance_answers_joint_states(monkeypatch: pytest.MonkeyPatch) -> None:
    import rclpy

    example = import_module('cartesian_impedance')
    model, domain_id = load(ROOT / 'urdf/panda_arm.urdf'), new_domain_id()
    for name, value in isolated(domain_id).items():
        monkeypatch.setenv(name, value)
    pose = np.array([0.0, -0.8, 0.0, -2.2, 0.0, 1.6, 0.8])
    moved = pose + 0.01
    # This also compiles the law, for up to a minute on a busy machine, before an answer is due.
    expected = example.CartesianImpedance(model, pose).efforts(moved, np.zeros(7))
    received: list[JointState] = []
    with ros_node(domain_id) as node:
        rclpy.init()
        law = example.Impedance(model)
        spinner = threading.Thread(target=lambda: rclpy.spin(law), daemon=True)
        spinner.start()
        node.create_subscription(JointState, 'feedforward/additional_effort', received.append, 10)
        publisher = node.create_publisher(JointState, 'joint_states', 10)
        names = model.joint_names[::-1]

        def answer(q: np.ndarray) -> np.ndarray:
            state = JointState(name=names, position=q[::-1].tolist(), velocity=[0.0] * 7)
            known = len(received)
            assert wait_until(lambda: publisher.publish(state) or len(received) > known)
            assert tuple(received[-1].name) == model.joint_names
            return np.array(received[-1].effort)

        np.testing.assert_allclose(answer(pose), 0.0, atol=1e-9)
        assert wait_until(lambda: np.allclose(answer(moved), expected))
        rclpy.shutdown()
        spinner.join()
