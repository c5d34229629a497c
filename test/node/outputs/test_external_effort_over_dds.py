# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""External efforts and contact, through the node and over real DDS."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest

from rnea_ros import Wrench
from support.ros.fake_robot import GRAVITY, JOINTS, MODEL, POSE, FakeRobot, node
from support.ros.ros_process import NO_ROS, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
pytestmark = pytest.mark.ros

LINK = 'fer_link8'
FORCE, TORQUE = (12.0, -7.0, 5.0), (0.5, 0.0, -1.0)


def stamp_of(message: Any) -> tuple[int, int]:
    """Return the stamp of a message, s and ns."""
    stamp = message.header.stamp
    return int(stamp.sec), int(stamp.nanosec)


def test_external_efforts_are_published_for_listeners_with_contacts(
    robot: FakeRobot, domain_id: int
) -> None:
    from geometry_msgs.msg import WrenchStamped
    from sensor_msgs.msg import JointState

    still = np.zeros(7)
    pushed = MODEL.inverse_dynamics(POSE, still, still, {LINK: Wrench(FORCE, TORQUE)})
    efforts: list[Any] = []
    wrenches: list[Any] = []
    robot.message.effort = array('d', GRAVITY)
    with node(domain_id, f'-p contact.action:=flag -p external_effort.link:={LINK}') as process:
        robot.node.create_subscription(
            JointState, '/feedforward/external_effort', efforts.append, 10
        )
        robot.node.create_subscription(
            WrenchStamped, '/feedforward/external_wrench', wrenches.append, 10
        )
        assert wait_until(lambda: robot.diagnostics.get('state') == 'active')
        assert wait_until(lambda: len(efforts) > 10 and len(wrenches) > 10)
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
