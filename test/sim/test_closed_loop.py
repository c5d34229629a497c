# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The node and the simulated robot, each in its own process, over DDS, in simulated time."""

import math
import signal
from typing import Any

import numpy as np
import pytest

from support.models.robots import ROOT
from support.ros.ros_process import NO_ROS, PATIENCE, RosProcess, ros_node, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('mujoco', reason='mujoco is not installed')

from lifecycle_msgs.srv import GetState
from rclpy.duration import Duration
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from rnea_ros.ros import PolledSubscription, RepeatedRequest, seconds, trajectory_message
from rnea_ros.sim.demo.arm import DemoArm
from rnea_ros.sim.demo.motion import reference_positions

pytestmark = pytest.mark.ros

ROBOT = (
    f'-p urdf:={ROOT}/urdf/panda_arm.urdf -p state_rate:=500.0 -p publish_clock:=true '
    '-p lockstep:=true -p command_delay:=2'
)
NODE = (
    '-p rate:=500.0 -p trigger:=joint_states -p use_sim_time:=true -p mode:=computed_torque '
    '-p gains.kp:=[100.0] -p gains.kd:=[20.0] -p predict_state:=true '
    '-p hardware_compensates:=[none] -p ramp_duration:=0.5'
)
# A busy machine may lose states; it must not wait for them while newer ones come.
EVERY = QoSProfile(depth=20_000, reliability=ReliabilityPolicy.BEST_EFFORT)


def test_computed_torque_tracks_a_fast_motion_and_ramps_down(domain_id: int) -> None:
    motion = DemoArm.load('panda_arm', seconds=3.0).plan.motion
    states: list[Any] = []
    with (
        ros_node(domain_id) as node,
        RosProcess(
            'support.ros.patient_robot', '--ros-args', *ROBOT.split(), domain_id=domain_id
        ) as robot,
        RosProcess(
            'rnea_ros.node.feedforward_node', '--ros-args', *NODE.split(), domain_id=domain_id
        ) as control,
    ):
        recorder: PolledSubscription[Any] = PolledSubscription(
            node, JointState, 'joint_states', EVERY
        )

        def time() -> float:
            states.extend(recorder.take_all())
            return seconds(states[-1].header.stamp) if states else -math.inf

        control.wait_for(' active')
        assert wait_until(lambda: time() > 0.0)
        robot.send(signal.SIGSTOP)  # time stands still until the node has the motion
        start = time() + 1.0
        publisher = node.create_publisher(JointTrajectory, 'feedforward/joint_trajectory', 1)
        assert wait_until(lambda: publisher.get_subscription_count() > 0)
        knots = (motion.positions, motion.velocities, motion.accelerations)
        publisher.publish(
            trajectory_message(motion.joint_names, motion.times, *knots, start_time=start)
        )
        assert publisher.wait_for_all_acked(Duration(seconds=PATIENCE))
        client = node.create_client(GetState, 'feedforward/get_state')
        assert wait_until(RepeatedRequest(client, GetState.Request()).poll)
        robot.send(signal.SIGCONT)
        assert wait_until(lambda: time() > start + motion.duration, 4.0 * PATIENCE)
        assert 'rejected' not in control.output

        control.send(signal.SIGINT)
        assert control.wait() == 0
        assert 'stopped' in control.output
    t = np.array([seconds(state.header.stamp) for state in states]) - start
    during = (t >= 0.0) & (t <= motion.duration)
    measured = np.array([state.position for state in states])[during]
    errors = measured - reference_positions(motion, states[0].name, t[during])
    rms = np.sqrt(np.mean(errors**2))
    print(f'RMS {1e3 * rms:.2f} mrad of {during.sum()} states')
    assert rms < 0.5e-3
