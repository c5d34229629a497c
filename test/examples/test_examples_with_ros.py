# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The examples with ROS, as programs, against the simulated arm and the node in lockstep."""

from contextlib import ExitStack
import sys

import numpy as np
import pytest

from support.models.robots import ROOT, load
from support.ros.ros_process import NO_ROS, PATIENCE, RosProcess, ros_node, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')
pytest.importorskip('ruckig', reason='ruckig is not installed')

from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

pytestmark = pytest.mark.ros

ROBOT = (
    f'-p urdf:={ROOT}/urdf/panda_arm.urdf -p state_rate:=100.0 -p publish_clock:=true '
    '-p lockstep:=true'
)
NODE = (
    '-p rate:=100.0 -p trigger:=joint_states -p use_sim_time:=true -p mode:=computed_torque '
    '-p gains.kp:=[100.0] -p gains.kd:=[20.0] -p hardware_compensates:=[none] '
    '-p constraints.fer_joint7.goal:=0.02 -p cartesian_impedance.link:=fer_link8 '
    '-p stream.shaping:=ruckig'
)
PROGRAM = (sys.executable, '-u')
# A reliable recorder waits for a lost state for seconds: a whole motion in lockstep.
RECORDER = QoSProfile(depth=20_000, reliability=ReliabilityPolicy.BEST_EFFORT)


def test_the_examples_command_an_arm(domain_id: int) -> None:
    positions: list[list[float]] = []
    answers: list[JointState] = []

    def run(name: str, *arguments: str) -> RosProcess:
        path = str(ROOT / f'examples/{name}.py')
        return RosProcess(path, *arguments, domain_id=domain_id, program=PROGRAM)

    def output_of(name: str, *arguments: str, code: int = 0) -> str:
        """Return what an example wrote before it ended."""
        with run(name, *arguments) as example:
            assert example.wait(4.0 * PATIENCE) == code, example.output
            return example.output

    def gravity() -> float:
        (row,) = (r for r in output_of('read_terms').splitlines() if 'fer_joint4' in r)
        return float(row.split()[1])

    with ExitStack() as running:
        for module, text in (
            ('support.ros.patient_robot', ROBOT), ('rnea_ros.node.feedforward_node', NODE)
        ):
            process = running.enter_context(
                RosProcess(module, '--ros-args', *text.split(), domain_id=domain_id)
            )
        process.wait_for(' active')
        node = running.enter_context(ros_node(domain_id))
        node.create_subscription(
            JointState, 'joint_states', lambda state: positions.append(list(state.position)),
            RECORDER,
        )
        node.create_subscription(JointState, 'feedforward/additional_effort', answers.append, 10)
        assert wait_until(lambda: positions)
        pose = positions[-1]
        wrong = output_of('send_trajectory', 'elbow', code=1)
        assert wrong.startswith("send_trajectory: no joint 'elbow'; joints: fer_joint1, "), wrong
        assert 'sent: fer_joint7' in output_of('send_trajectory')
        assert wait_until(lambda: max(q[-1] for q in positions) > pose[-1] + 0.2)
        with run('stream_positions'):
            assert wait_until(lambda: positions[-1][-1] < pose[-1] - 0.2)
        # After a motion the arm is held; without one this payload, which is not there, lifts it.
        before = load(ROOT / 'urdf/panda_arm.urdf').gravity_torques(pose)[3]
        assert '2.0 kg on fer_link7' in output_of('payload_at_run_time')
        assert wait_until(lambda: gravity() - before > 1.0, 4.0 * PATIENCE)
        with run('cartesian_impedance') as impedance:
            assert wait_until(lambda: answers)
            impedance.wait_for('fer_link8 is ')
        assert (len(answers[0].name), len(answers[0].effort)) == (7, 7)
        setter = node.create_client(SetParameters, 'feedforward/set_parameters')
        mode = Parameter('mode', value='cartesian_impedance').to_parameter_msg()
        assert setter.wait_for_service(PATIENCE)
        assert wait_until(setter.call_async(SetParameters.Request(parameters=[mode])).done)
        positions.clear()
        assert 'fer_link8: +0.1 +0.0 m' in output_of('cartesian_target', 'fer_link8')
        # The example has its own clock; the arm may lag behind it.
        assert wait_until(lambda: np.ptp([q[3] for q in list(positions)] or [0.0]) > 0.02)
