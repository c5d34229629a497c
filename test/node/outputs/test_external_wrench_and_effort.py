# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""External wrench and external effort over DDS: frames, stamps, contact and their end."""

from array import array
from typing import Any

import numpy as np
import pytest

from rnea_ros import Wrench
from support.ros.fake_robot import GRAVITY, JOINTS, MODEL, POSE, FakeRobot, node
from support.ros.ros_process import NO_ROS, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
from geometry_msgs.msg import WrenchStamped

from rnea_ros.ros import seconds

pytestmark = pytest.mark.ros

PUSH = np.array([3.0, -4.0, 12.0])
SENSORS = ('flange', 'pushed')
OPTIONS = ' '.join([
    f'-p wrench_inputs.names:=[{",".join(SENSORS)}]',
    *(
        f'-p wrench_inputs.{name}.topic:={name}/wrench -p wrench_inputs.{name}.timeout:=1.0'
        for name in SENSORS
    ),
    '-p wrench_inputs.pushed.publish_frame:=base',
])


def test_wrenches_name_their_frame_and_end_with_readings(robot: FakeRobot, domain_id: int) -> None:
    message = WrenchStamped()
    message.header.frame_id = 'fer_link8'
    message.wrench.force.x, message.wrench.force.y, message.wrench.force.z = PUSH.tolist()
    publishers = [
        robot.node.create_publisher(WrenchStamped, f'{name}/wrench', 5) for name in SENSORS
    ]
    received: dict[str, list[Any]] = {name: [] for name in SENSORS}
    for name in SENSORS:
        topic = f'feedforward/wrench/{name}'
        robot.node.create_subscription(WrenchStamped, topic, received[name].append, 100)

    def send() -> None:
        message.header.stamp = robot.node.get_clock().now().to_msg()
        for publisher in publishers:
            publisher.publish(message)

    timer = robot.node.create_timer(0.005, send)
    pose = MODEL.forward_kinematics(POSE, 'fer_link8')
    force = pose[:3, :3] @ PUSH
    expected = {
        'flange': ('fer_link8', PUSH, np.zeros(3)),
        'pushed': ('fer_link0', force, np.cross(pose[:3, 3], force)),
    }
    with node(domain_id, OPTIONS):
        assert wait_until(lambda: all(len(each) > 100 for each in received.values()))
        for name, (frame, along, about) in expected.items():
            newest = received[name][-1]
            assert newest.header.frame_id == frame
            assert numbers(newest.wrench.force) == pytest.approx(along, abs=1e-6)
            assert numbers(newest.wrench.torque) == pytest.approx(about, abs=1e-6)
            stamps = [seconds(each.header.stamp) for each in received[name]]
            assert (np.diff(stamps) > 0.0).all()
        timer.cancel()
        assert wait_until(lambda: 'wrench_stale' in robot.diagnostics.get('flags', ''))
        # What was sent before may still come; with readings, 200 messages came each second.
        assert wait_until(lambda: quiet(robot, received))


def quiet(robot: FakeRobot, received: dict[str, list[Any]]) -> bool:
    """Return whether no message comes between two reports of the node."""
    reports, counts = robot.reports, [len(each) for each in received.values()]
    assert wait_until(lambda: robot.reports > reports + 1)
    return [len(each) for each in received.values()] == counts


def numbers(vector: Any) -> list[float]:
    return [vector.x, vector.y, vector.z]


def test_a_sensor_name_must_be_a_valid_topic_name(domain_id: int) -> None:
    with node(domain_id, "-p wrench_inputs.names:=['left-hand']") as process:
        process.wait_for('wrench_inputs.names: ')


LINK = 'fer_link8'
FORCE, TORQUE = (12.0, -7.0, 5.0), (0.5, 0.0, -1.0)


def stamp_of(message: Any) -> tuple[int, int]:
    """Return the stamp of a message, s and ns."""
    stamp = message.header.stamp
    return int(stamp.sec), int(stamp.nanosec)


def test_external_efforts_and_contacts_are_published(robot: FakeRobot, domain_id: int) -> None:
    from geometry_msgs.msg import WrenchStamped
    from sensor_msgs.msg import JointState

    still = np.zeros(7)
    pushed = MODEL.inverse_dynamics(POSE, still, still, {LINK: Wrench(FORCE, TORQUE)})
    efforts: list[Any] = []
    wrenches: list[Any] = []
    robot.message.effort = array('d', GRAVITY)
    with node(domain_id, f'-p external_effort.link:={LINK}') as process:
        robot.node.create_subscription(
            JointState, '/feedforward/external_effort', efforts.append, 10
        )
        robot.node.create_subscription(
            WrenchStamped, '/feedforward/external_wrench', wrenches.append, 10
        )
        assert wait_until(lambda: robot.diagnostics.get('state') == 'active')
        assert wait_until(lambda: len(efforts) > 10 and len(wrenches) > 10)
        assert robot.set_parameters(contact__action='flag')[0].successful
        assert efforts[-1].name == list(JOINTS)
        np.testing.assert_allclose(efforts[-1].effort, 0.0, atol=1e-6)
        assert robot.diagnostics['contact'] == ''

        robot.message.effort = array('d', pushed)
        assert wait_until(
            lambda: np.allclose(efforts[-1].effort, GRAVITY - pushed, rtol=1e-3, atol=1e-3)
        )
        settled = stamp_of(efforts[-1])
        assert wait_until(lambda: stamp_of(wrenches[-1]) >= settled)
        wrench = wrenches[-1]
        assert wrench.header.frame_id == LINK
        force, torque = wrench.wrench.force, wrench.wrench.torque
        np.testing.assert_allclose((force.x, force.y, force.z), FORCE, rtol=0.01)
        np.testing.assert_allclose((torque.x, torque.y, torque.z), TORQUE, atol=0.01)
        assert wait_until(lambda: robot.diagnostics.get('flags') == 'contact')
        assert robot.diagnostics['contact'].split()[0] in JOINTS
        assert robot.diagnostics['external_wrench_determined'] == '6'
        process.wait_for('contact: fer_joint')

        robot.message.effort = array('d', GRAVITY)
        assert wait_until(lambda: robot.diagnostics.get('flags') == '')
