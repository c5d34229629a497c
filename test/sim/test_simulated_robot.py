# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The simulated robot as a process: its topics, services and end. Its rules: test_physics_loop."""

from functools import partial
import math
import os
import signal
import sys
from typing import Any

import pytest

from support.models.robots import SHIPPED, load
from support.ros.ros_process import NO_ROS, RosProcess, ros_node, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.srv import GetParameters
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rnea_ros.ros import RepeatedRequest
from rnea_ros.shared_memory import LOCALHOST_ONLY, RANGE
from rnea_ros.sim import simulated_robot as module

pytestmark = pytest.mark.ros

PANDA = SHIPPED[1]
JOINTS = [f'fer_joint{number}' for number in range(1, 8)]
POSTURE = [0.3, -0.7, 0.2, -2.0, 0.4, 1.6, 0.7]
ARGUMENTS = (
    f'-r __ns:=/left -r __node:=arm -p urdf:={PANDA} -p controller:=torque_controller '
    f'-p initial_positions:={POSTURE} -p state_rate:=200.0 -p publish_clock:=true '
    f'-p extra_damping:={[100.0] * 7} '  # with a slow arm no limit is reached while a test stalls
    '-p payload.link:=fer_link8 -p payload.mass:=2.0 -p wrench_link:=fer_link8 -p viewer:=true'
).replace(', ', ',').split()


def test_a_robot_in_a_namespace_has_the_topics_of_ros2_control(domain_id: int) -> None:
    received: dict[str, list[Any]] = {}
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    with (
        ros_node(domain_id, namespace='left') as node,
        RosProcess(
            'rnea_ros.sim.simulated_robot', '--ros-args', *ARGUMENTS, domain_id=domain_id
        ) as process,
    ):
        process.wait_for('viewer is gone: ros2 run rnea_ros panel shows the robot')
        for message, topic, qos in (
            (JointState, 'joint_states', 10), (String, 'robot_description', latched),
            (WrenchStamped, 'force_torque_sensor_broadcaster/wrench', 10), (Clock, '/clock', 10),
        ):
            received[topic] = []
            node.create_subscription(message, topic, received[topic].append, qos)
            assert wait_until(partial(len, received[topic])), process.output
        states = received['joint_states']
        assert states[0].name == JOINTS
        assert received['robot_description'][0].data == PANDA.read_text()
        wrench = received['force_torque_sensor_broadcaster/wrench'][0]
        force = wrench.wrench.force
        assert wrench.header.frame_id == 'fer_link8'
        assert math.hypot(force.x, force.y, force.z) == pytest.approx(2.0 * 9.81)
        (publisher,) = node.get_publishers_info_by_topic('/left/joint_states')
        assert publisher.qos_profile.reliability is ReliabilityPolicy.RELIABLE
        assert publisher.qos_profile.durability is DurabilityPolicy.VOLATILE
        nodes = {('arm', '/left'), ('torque_controller', '/left')}
        assert wait_until(lambda: nodes <= set(node.get_node_names_and_namespaces()))

        client = node.create_client(GetParameters, 'torque_controller/get_parameters')
        request = RepeatedRequest(client, GetParameters.Request(names=['joints']))
        assert wait_until(request.poll)
        assert request.response.values[0].string_array_value == JOINTS

        efforts = (load(PANDA).gravity_torques(POSTURE) + 0.25).tolist()
        commands = node.create_publisher(Float64MultiArray, 'torque_controller/commands', 1)
        assert wait_until(lambda: commands.get_subscription_count() == 1)
        commands.publish(Float64MultiArray(data=efforts))
        assert wait_until(lambda: states[-1].effort.tolist() == efforts)
        hand = node.create_publisher(JointTrajectory, 'arm/hand', 1)
        assert wait_until(lambda: hand.get_subscription_count() == 1)
        hand.publish(JointTrajectory(joint_names=['elbow'], points=[JointTrajectoryPoint()]))
        process.wait_for('the hand: ')
        process.send(signal.SIGINT)
        assert process.wait() == 0
        assert 'Traceback' not in process.output


def test_it_keeps_itself_off_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (RANGE, LOCALHOST_ONLY, 'ROS_DISTRO'):
        monkeypatch.setenv(name, '')
        monkeypatch.delenv(name)
    monkeypatch.setattr(module, 'NodeProcess', lambda *_: sys.exit(os.environ[RANGE]))
    with pytest.raises(SystemExit, match=r'^LOCALHOST$'):
        module.main([])
