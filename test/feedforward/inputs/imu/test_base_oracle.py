# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
An arm on a base that moves needs what the same arm needs whose base is a joint that moves so.

The oracle is the robot on a floating base, here and in Pinocchio: what an IMU reads is worked out
from the motion of its link there, never by the sum that is tested.
"""

from dataclasses import dataclass
from functools import cache
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros import BaseMotion, RobotModel
from rnea_ros.dynamics import quaternions
from rnea_ros.feedforward.inputs.imu.base_sensor import BaseState
from rnea_ros.feedforward.settings import BaseUse
from support.control.base_rig import MOUNT_RPY, MOUNT_XYZ, Array, BaseRig, G
from support.models.oracle_pairs import Pair, rate
from support.models.oracles import Pinocchio
from support.models.robots import description, joint, link, load, robot

pytest_plugins = ('support.models.model_fixtures',)

SEEDS = range(3)
GRAVITY = np.array((0.0, 0.0, -G))
STEPS = 100
"""Of one millisecond: a low-pass of 100 Hz has forgotten its start after them, to 1e-20."""

CUTOFF = 100.0
DELAY = 1.0 / (2.0 * math.pi * CUTOFF)


def assert_equal(actual: ArrayLike, expected: ArrayLike) -> None:
    # A base that accelerates brings large terms that cancel.
    np.testing.assert_allclose(
        np.asarray(actual, dtype=np.float64), np.asarray(expected, dtype=np.float64),
        rtol=1e-9, atol=1e-9,
    )


@dataclass(frozen=True)
class Readings:
    """What an ideal IMU reads, in its own axes."""

    orientation: Array
    turn: Array
    turn_rate: Array
    push: Array


@cache
def with_imu(urdf: str) -> tuple[RobotModel, RobotModel]:
    """Return the robot with an IMU askew on its root link, on a fixed and a floating base."""
    root = description(load(urdf)).root
    mount = joint('imu_mount', 'fixed', root, 'imu', xyz=MOUNT_XYZ, rpy=MOUNT_RPY)
    model = load(urdf.replace('</robot>', f'{link("imu")}{mount}</robot>'))
    return model, RobotModel.from_description(description(model), floating_base=True)


class Moving:
    """
    A robot with an IMU askew on its root link, whose base and joints move at random.

    :param urdf: XML text
    :param seed: of the motion
    :param at_rest: whether the base stands still, tilted
    """

    def __init__(self, urdf: str, seed: int, *, at_rest: bool = False) -> None:
        rng = np.random.default_rng(seed)
        self.model, self.floating = with_imu(urdf)
        n = self.model.nv
        place = np.concatenate([rng.normal(size=3), quaternions.exponential(rng.normal(size=3))])
        self.q = np.concatenate([place, rng.normal(size=n)])
        self.qd, self.qdd = rng.normal(size=(2, 6 + n))
        if at_rest:
            self.qd[:6] = self.qdd[:6] = 0.0

    def readings(self) -> Readings:
        """Return what the IMU reads, by the motion of its link in the world."""
        pose = self.floating.forward_kinematics(self.q, 'imu')
        v = self.floating.link_velocity(self.q, self.qd, 'imu')
        a = self.floating.link_acceleration(self.q, self.qd, self.qdd, 'imu')
        push = a[3:] + np.cross(v[:3], v[3:]) - pose[:3, :3].T @ GRAVITY
        mounted = self.model.forward_kinematics(self.model.neutral_position, 'imu')[:3, :3]
        np.testing.assert_allclose(quaternions.rotation(self.q[3:7]) @ mounted, pose[:3, :3])
        turn = quaternions.logarithm(quaternion_of(mounted))
        orientation = quaternions.product(self.q[3:7], quaternions.exponential(turn))
        return Readings(orientation, v[:3], a[:3], push)

    def efforts(self) -> Array:
        """Return what the joints need, by the robot on a floating base."""
        efforts: Array = self.floating.inverse_dynamics(self.q, self.qd, self.qdd)[6:]
        return efforts

    def efforts_on(self, state: BaseState) -> Array:
        """Return what the joints need on a base that moves as a sensor says."""
        workspace = self.model.workspace()
        workspace.set_base_motion(*state)
        tau = workspace.inverse_dynamics(self.q[7:].copy(), self.qd[6:], self.qdd[6:])
        return np.array(tau)

    def efforts_by_base_motion(self) -> Array:
        """Return what the joints need, by a model that is given the motion of its base."""
        v, w = self.qd[3:6], self.qd[:3]
        base = BaseMotion(v, w, self.qdd[3:6] + np.cross(w, v), self.qdd[:3])
        gravity = quaternions.rotation(self.q[3:7]).T @ GRAVITY
        model = self.model.with_gravity(gravity).with_base_motion(base)
        return model.inverse_dynamics(self.q[7:], self.qd[6:], self.qdd[6:])


def quaternion_of(R: Array) -> Array:
    """Return the quaternion of a rotation that is no half turn."""
    w = 0.5 * math.sqrt(1.0 + np.trace(R))
    vector = np.array((R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])) / (4.0 * w)
    return np.append(vector, w)


def rig_of(model: RobotModel, use: BaseUse, cutoff: float = CUTOFF) -> BaseRig:
    return BaseRig(
        model, use=use, link='imu', motion_cutoff=cutoff, tilt_cutoff=CUTOFF, fade=0.01,
        max_acceleration=1000.0, max_angular_velocity=100.0,
    )


def sensed(moving: Moving, *, with_orientation: bool = True) -> BaseState:
    """
    Return what a sensor says of a motion that goes through this one a filter's delay ago.

    On signals that change at constant rates a low-pass of first order is a pure delay.
    """
    readings = moving.readings()
    push_rate = np.random.default_rng(5).normal(size=3)
    rig = rig_of(moving.model, BaseUse.MOTION)
    for t in DELAY + 1e-3 * np.arange(1 - STEPS, 1):
        rig.now += 1e-3
        reason = rig.feed(
            orientation=readings.orientation if with_orientation else None,
            turn=readings.turn + t * readings.turn_rate,
            push=readings.push + t * push_rate,
            stamp=10.0 + t,  # to a fraction of the microsecond that a double has left today
        )
        assert reason is None
        state = rig.sample()
    return state


@pytest.mark.parametrize('seed', SEEDS)
@pytest.mark.parametrize('with_orientation', [True, False])
def test_efforts_on_a_tilted_base_are_those_on_a_joint_that_is_tilted(
    urdf: str, seed: int, with_orientation: bool
) -> None:
    moving = Moving(urdf, seed, at_rest=True)
    readings = moving.readings()
    rig = rig_of(moving.model, BaseUse.TILT)
    orientation = readings.orientation if with_orientation else None
    state = rig.run(1e-3 * STEPS, orientation=orientation, push=readings.push)
    assert_equal(moving.efforts_on(state), moving.efforts())
    assert_equal(state.gravity, quaternions.rotation(moving.q[3:7]).T @ GRAVITY)


@pytest.mark.parametrize('seed', SEEDS)
@pytest.mark.parametrize('with_orientation', [True, False])
def test_a_moving_base_acts_like_a_joint(urdf: str, seed: int, with_orientation: bool) -> None:
    moving = Moving(urdf, seed)
    found = moving.efforts_on(sensed(moving, with_orientation=with_orientation))
    assert_equal(found, moving.efforts())
    assert_equal(found, moving.efforts_by_base_motion())


@cache
def pinocchio_of(urdf: str) -> Pinocchio:
    """Return Pinocchio's robot on a floating base."""
    return Pair('moving', urdf).free_pinocchio


@pytest.mark.oracle
@pytest.mark.parametrize('seed', SEEDS)
def test_efforts_on_a_moving_base_are_pinocchios(urdf: str, seed: int) -> None:
    moving = Moving(urdf, seed)
    pinocchio = pinocchio_of(description(moving.model).text)
    expected = pinocchio.inverse_dynamics(moving.q, moving.qd, moving.qdd)[6:]
    assert_equal(moving.efforts_on(sensed(moving)), expected)


@pytest.mark.parametrize('seed', SEEDS)
def test_orientation_separates_gravity_from_acceleration(urdf: str, seed: int) -> None:
    moving = Moving(urdf, seed)
    state = sensed(moving)
    v, w = moving.qd[3:6], moving.qd[:3]
    assert_equal(state.gravity, quaternions.rotation(moving.q[3:7]).T @ GRAVITY)
    assert_equal(state.velocity, [*w, 0.0, 0.0, 0.0])
    assert_equal(state.acceleration, [*moving.qdd[:3], *(moving.qdd[3:6] + np.cross(w, v))])


class Ship:
    """
    A base that heaves, sways, rolls and pitches at once.

    :param seed: of amplitudes, frequencies and phases
    """

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self._way, self._turn = rng.normal(scale=0.5, size=(2, 3))
        self._rates = rng.uniform(0.5, 3.0, size=(2, 3))
        self._phases = rng.uniform(0.0, math.tau, size=(2, 3))

    def place(self, t: float) -> Array:
        """Return where the root link is in the world."""
        place: Array = self._way * np.sin(self._rates[0] * t + self._phases[0])
        return place

    def turned(self, t: float) -> Array:
        """Return the root link's axes in the world."""
        angles = self._turn * np.sin(self._rates[1] * t + self._phases[1])
        return quaternions.rotation(quaternions.exponential(angles))

    def angular_velocity(self, t: float) -> Array:
        """Return it in the root link's axes, by differences."""
        W = self.turned(t).T @ rate(lambda dt: self.turned(t + dt))
        return np.array((W[2, 1], W[0, 2], W[1, 0]))

    def read(self, t: float, r: Array) -> Array:
        """Return what an accelerometer at a point of the root link reads, in its axes."""
        h = 1e-4

        def at(time: float) -> Array:
            point: Array = self.place(time) + self.turned(time) @ r
            return point

        acceleration = (at(t + h) - 2.0 * at(t) + at(t - h)) / h**2
        reading: Array = self.turned(t).T @ (acceleration - GRAVITY)
        return reading


@pytest.mark.parametrize('seed', SEEDS)
def test_a_ship_s_motion_is_found_from_where_its_imu_is(seed: int) -> None:
    ship = Ship(seed)
    model = Moving(robot(link('deck', 1.0)), seed).model
    pose = model.forward_kinematics(model.neutral_position, 'imu')
    R, r = pose[:3, :3], pose[:3, 3]
    rig = rig_of(model, BaseUse.MOTION, 10.0 * CUTOFF)
    for t in 1e-5 * np.arange(10 * STEPS):
        rig.now += 1e-5
        turn, push = R.T @ ship.angular_velocity(t), R.T @ ship.read(t, r)
        assert rig.feed(orientation=None, turn=turn, push=push, stamp=10.0 + t) is None
        state = rig.sample()
    then = t - 0.1 * DELAY
    # A low-pass is a delay but for the square of its time constant times the second rate, and
    # angular acceleration comes half an interval later.
    felt = state.acceleration[3:] - state.gravity
    np.testing.assert_allclose(felt, ship.read(then, np.zeros(3)), atol=5e-5)
    np.testing.assert_allclose(state.velocity[:3], ship.angular_velocity(then), atol=5e-6)
    alpha = (ship.angular_velocity(then + 1e-3) - ship.angular_velocity(then - 1e-3)) / 2e-3
    np.testing.assert_allclose(state.acceleration[:3], alpha, atol=5e-5)


def test_an_imu_at_the_edge_of_a_turntable_is_moved_to_its_centre() -> None:
    # By hand: 2 rad/s at a radius of 0.5 m are 2 m/s^2, towards the centre.
    bolts = joint('bolts', 'fixed', 'centre', 'edge', xyz=(0.5, 0.0, 0.0))
    urdf = robot(link('centre', 1.0), link('edge'), bolts)
    rig = BaseRig(load(urdf), use=BaseUse.MOTION)
    turning: dict[str, Any] = {'turn': (0.0, 0.0, 2.0), 'push': (-2.0, 0.0, G)}
    state = rig.run(2.0, frame_id='edge', **turning)
    assert_equal(np.concatenate(state), [0.0, 0.0, -G, 0.0, 0.0, 2.0, *[0.0] * 9])
    state = BaseRig(load(urdf), use=BaseUse.MOTION).run(2.0, frame_id='centre', **turning)
    assert_equal(state.acceleration, [0.0, 0.0, 0.0, -2.0, 0.0, 0.0])
