# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Target poses through the whole node in virtual time: what pulls the arm, what is rejected."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
from std_msgs.msg import Header

from rnea_ros.dynamics import quaternions
from support.cases import each
from support.ros.fake_robot import GRAVITY, MODEL, POSE
from support.ros.virtual_node import VirtualRig, virtual_node

TOPIC = '/feedforward/target_pose'
LINK = 'fer_link8'
NAN = float('nan')


@pytest.fixture
def rig() -> Iterator[VirtualRig]:
    parameters: Any = {
        'mode': 'cartesian_impedance', 'cartesian_impedance__link': LINK,
        'cartesian_impedance__null_stiffness': [0.0], 'rate': 250.0,
    }
    with virtual_node(**parameters) as rig:
        rig.tremble()
        rig.wait_until_controlled().wait_for_command(GRAVITY, 1e-6)
        yield rig


def pose(frame: str, position: Any, orientation: Any = (0.0, 0.0, 0.0, 1.0)) -> PoseStamped:
    x, y, z, w = map(float, orientation)
    return PoseStamped(
        header=Header(frame_id=frame),
        pose=Pose(position=Point(**dict(zip('xyz', map(float, position), strict=True))),
                  orientation=Quaternion(x=x, y=y, z=z, w=w)),
    )


def pulled(force: Any) -> Any:
    """Return the command that pulls the flange by a force in its own axes, N."""
    return GRAVITY + MODEL.jacobian(POSE, LINK)[3:].T @ np.array(force)


def test_a_pose_in_a_link_s_frame_pulls_the_arm_for_ever_until_the_mode_ends(
    rig: VirtualRig,
) -> None:
    for frame in (LINK, 'fer_link0', ''):
        T = MODEL.forward_kinematics(POSE, LINK)
        turn = quaternions.of_rotation(T[:3, :3])
        place = (0.0, 0.0, 0.02), (0.0, 0.0, 0.0, 1.0)
        if frame != LINK:
            place = tuple(T[:3, :3] @ (-0.02, 0.0, 0.0) + T[:3, 3]), tuple(turn)
        rig.publish(TOPIC, pose(frame, *place))
        rig.run(2.0)
        assert rig.newest_is(pulled((0.0, 0.0, 8.0) if frame == LINK else (-8.0, 0.0, 0.0)), 1e-6)
    rig.run(5.0)
    assert rig.newest_is(pulled((-8.0, 0.0, 0.0)), 1e-6)
    assert rig.change(mode='gravity').successful
    rig.run(2.0)
    assert rig.newest_is(GRAVITY, 1e-6)
    assert rig.change(mode='cartesian_impedance').successful
    rig.run(2.0)
    assert rig.newest_is(GRAVITY, 1e-6)  # the target is forgotten


@each(('message', 'word'), [
    (pose('', (NAN, 0.0, 0.3)), 'not_finite'),
    (pose('', (0.0, 0.0, 0.3), (0.0, NAN, 0.0, 1.0)), 'not_finite'),
    (pose('', (0.3, 0.0, 0.3), (0.0, 0.0, 0.0, 0.0)), 'not_unit_quaternion'),
    (pose('', (0.3, 0.0, 0.3), (0.0, 0.0, 0.8, 0.8)), 'not_unit_quaternion'),
    (pose('map', (0.3, 0.0, 0.3)), 'unknown_frame'),
    (pose('', (400.0, 0.0, 300.0)), 'position_out_of_range'),
    (pose(LINK, (0.0, 0.0, -2.0)), 'position_out_of_range'),
])
def test_an_unusable_pose_is_counted_logged_and_the_last_one_stays(
    rig: VirtualRig, message: PoseStamped, word: str
) -> None:
    rig.publish(TOPIC, pose(LINK, (0.0, 0.0, 0.02)))
    rig.run(2.0)
    before = rig.count(f'target_pose/{word}')
    for _ in range(3):
        rig.publish(TOPIC, message)
    rig.run(2.0)
    assert rig.count(f'target_pose/{word}') == before + 3
    assert rig.logged(f'error: target pose rejected: {word}: ')
    assert rig.newest_is(pulled((0.0, 0.0, 8.0)), 1e-6)


def test_a_mode_that_takes_no_poses_rejects_them(rig: VirtualRig) -> None:
    assert rig.change(mode='gravity').successful
    rig.publish(TOPIC, pose(LINK, (0.0, 0.0, 0.02)))
    rig.run(2.0)
    assert rig.count('target_pose/mode_without_motion') == 1
    assert rig.logged('mode gravity takes no target pose') == 1
    assert rig.newest_is(GRAVITY, 1e-6)
