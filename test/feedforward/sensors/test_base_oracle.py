# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
An arm on a base that moves needs what the same arm needs whose base is a joint that moves so.

The oracle is Pinocchio's robot on a floating base. What an IMU reads is computed from the motion
of its link there, never by the sum that is tested.
"""

from functools import cache
import math
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.dynamics import quaternions
from rnea_ros.feedforward.base_imu import BaseState
from rnea_ros.feedforward.settings import BaseUse
from support.cases import each
from support.control.base_rig import MOUNT_RPY, MOUNT_XYZ, Array, BaseRig, G
from support.models.oracle_pairs import Pair
from support.models.oracles import random_tree
from support.models.robots import SHIPPED, description, joint, link, load

ROBOTS = [SHIPPED[0].read_text(encoding='utf-8'), random_tree(3), random_tree(19)]
GRAVITY = np.array((0.0, 0.0, -G))
CUTOFF = 100.0
DELAY = 1.0 / (2.0 * math.pi * CUTOFF)


def assert_equal(actual: Any, expected: Any) -> None:
    # A base that accelerates brings large terms that cancel.
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9)


@cache
def with_imu(urdf: str) -> tuple[RobotModel, RobotModel, Any]:
    """Return the robot with an IMU askew on its root link: fixed, floating, and in Pinocchio."""
    root = description(load(urdf)).root
    mount = joint('imu_mount', 'fixed', root, 'imu', xyz=MOUNT_XYZ, rpy=MOUNT_RPY)
    model = load(urdf.replace('</robot>', f'{link("imu")}{mount}</robot>'))
    floating = RobotModel.from_description(description(model), floating_base=True)
    return model, floating, Pair('moving', description(model).text).free_pinocchio


class Moving:
    """
    A robot with an IMU askew on its root link, whose base and joints move at random.

    :ivar orientation: what an ideal IMU reads in its own axes, by the motion of its link in the
        world; also ``turn``, ``turn_rate`` and ``push``
    """

    def __init__(self, urdf: str, *, at_rest: bool) -> None:
        rng = np.random.default_rng(0)
        self.model, floating, self._pinocchio = with_imu(urdf)
        n = self.model.nv
        place = np.concatenate([rng.normal(size=3), quaternions.exponential(rng.normal(size=3))])
        self.q = np.concatenate([place, rng.normal(size=n)])
        self.qd, self.qdd = rng.normal(size=(2, 6 + n))
        if at_rest:
            self.qd[:6] = self.qdd[:6] = 0.0
        pose = floating.forward_kinematics(self.q, 'imu')
        v = floating.link_velocity(self.q, self.qd, 'imu')
        a = floating.link_acceleration(self.q, self.qd, self.qdd, 'imu')
        self.turn, self.turn_rate = v[:3], a[:3]
        self.push = a[3:] + np.cross(v[:3], v[3:]) - pose[:3, :3].T @ GRAVITY
        self.orientation = quaternion_of(pose[:3, :3])
        self.gravity = quaternions.rotation(self.q[3:7]).T @ GRAVITY

    def assert_efforts_are_pinocchios(self, state: BaseState) -> None:
        """Assert it of the efforts on a base that moves as a sensor says."""
        workspace = self.model.workspace()
        workspace.set_base_motion(*state)
        tau = workspace.inverse_dynamics(self.q[7:].copy(), self.qd[6:], self.qdd[6:])
        assert_equal(tau, self._pinocchio.inverse_dynamics(self.q, self.qd, self.qdd)[6:])


def quaternion_of(R: Array) -> Array:
    """Return the quaternion of a rotation that is no half turn."""
    w = 0.5 * math.sqrt(1.0 + np.trace(R))
    vector = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    return np.append(np.array(vector) / (4.0 * w), w)


def rig_of(model: RobotModel, use: BaseUse) -> BaseRig:
    return BaseRig(
        model, use=use, link='imu', motion_cutoff=CUTOFF, tilt_cutoff=CUTOFF, fade=0.01,
        max_acceleration=1000.0, max_angular_velocity=100.0,
    )


@pytest.mark.oracle
@each('with_orientation', [True, False])
@each('urdf', ROBOTS)
def test_efforts_on_a_tilted_base_are_pinocchios(urdf: str, with_orientation: bool) -> None:
    moving = Moving(urdf, at_rest=True)
    orientation = moving.orientation if with_orientation else None
    rig = rig_of(moving.model, BaseUse.TILT)
    state = rig.run(0.1, orientation=orientation, push=moving.push)
    moving.assert_efforts_are_pinocchios(state)
    assert_equal(state.gravity, moving.gravity)


@pytest.mark.oracle
@each('with_orientation', [True, False])
@each('urdf', ROBOTS)
def test_efforts_on_a_moving_base_are_pinocchios(urdf: str, with_orientation: bool) -> None:
    moving = Moving(urdf, at_rest=False)
    rig = rig_of(moving.model, BaseUse.MOTION)
    push_rate = np.random.default_rng(5).normal(size=3)
    # On signals that change at constant rates a low-pass of first order is a pure delay; after
    # 0.1 s one of 100 Hz has forgotten its start to 1e-20.
    for t in DELAY + 1e-3 * np.arange(-99, 1):
        rig.now += 1e-3
        assert rig.feed(
            orientation=moving.orientation if with_orientation else None,
            turn=moving.turn + t * moving.turn_rate, push=moving.push + t * push_rate,
            stamp=10.0 + t,  # to a fraction of the microsecond that a double has left today
        ) is None
        state = rig.sample()
    moving.assert_efforts_are_pinocchios(state)
    if with_orientation:  # it separates gravity from acceleration
        v, w = moving.qd[3:6], moving.qd[:3]
        assert_equal(state.gravity, moving.gravity)
        assert_equal(state.velocity, [*w, 0.0, 0.0, 0.0])
        assert_equal(state.acceleration, [*moving.qdd[:3], *moving.qdd[3:6] + np.cross(w, v)])

