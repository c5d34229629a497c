# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A wrench acts on the robot (tau = ID - J^T f), in the axes of any link, base or world."""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros import BaseMotion, ReferenceFrame, RobotModel, Wrench
from support.cases import each
from support.models.comparison import assert_equal
from support.models.oracle_pairs import Pair
from support.models.oracles import Array, Pinocchio, random_state, random_wrenches
from support.models.robots import SHIPPED, load

pytest_plugins = ('support.models.model_fixtures',)

SEEDS = range(2)


def vector(values: ArrayLike) -> Array:
    return np.asarray(values, dtype=np.float64)


def random_wrench(seed: int) -> Wrench:
    """Return a wrench at a point, in its link's own frame."""
    force, torque, point = np.random.default_rng(seed).normal(size=(3, 3))
    return Wrench(force, torque, point=point)


def point_of(wrench: Wrench) -> Array:
    assert wrench.point is not None
    return vector(wrench.point)


def pose_of(model: RobotModel, q: Array, frame: str | ReferenceFrame) -> Array:
    """Return a frame's pose in the world."""
    if frame is ReferenceFrame.WORLD:
        return np.eye(4)
    name = model.link_names[0] if frame is ReferenceFrame.ROOT_LINK else frame
    return model.forward_kinematics(q, name)


def stated_in(
    model: RobotModel, q: Array, wrench: Wrench, link_name: str, frame: str | ReferenceFrame
) -> Wrench:
    """Return a wrench that is given in its link's frame in the axes of another frame."""
    change = np.linalg.inv(pose_of(model, q, frame)) @ pose_of(model, q, link_name)
    R = change[:3, :3]
    point = change @ np.append(point_of(wrench), 1.0)
    return Wrench(R @ vector(wrench.force), R @ vector(wrench.torque), frame, point[:3])


@pytest.mark.oracle
@each('seed', SEEDS)
def test_a_wrench_in_any_frame_acts_as_pinocchios_jacobian_says(pair: Pair, seed: int) -> None:
    model, (q, qd, qdd) = pair.model, pair.motion(seed)
    wrenches = random_wrenches(seed, model.link_names)
    expected = pair.pinocchio.inverse_dynamics(q, qd, qdd)
    for name, given in wrenches.items():
        J = pair.pinocchio.jacobian(q, name)
        for wrench in given:
            expected = expected - J.T @ in_link(pair, q, wrench, name)
    assert_equal(model.inverse_dynamics(q, qd, qdd, wrenches), expected)


def in_link(pair: Pair, q: Array, wrench: Wrench, name: str) -> Array:
    """Return [moment; force] in a link's axes about its origin, with Pinocchio's poses."""
    link_pose = oracle_pose(pair.pinocchio, pair, q, name)
    frame_pose = oracle_pose(pair.pinocchio, pair, q, wrench.frame or name)
    change = np.linalg.inv(link_pose) @ frame_pose
    R = change[:3, :3]
    force, torque = R @ vector(wrench.force), R @ vector(wrench.torque)
    if wrench.point is not None:
        at = change @ np.append(point_of(wrench), 1.0)
        torque = torque + np.cross(at[:3], force)
    return np.concatenate([torque, force])


def oracle_pose(pinocchio: Pinocchio, pair: Pair, q: Array, frame: str | ReferenceFrame) -> Array:
    if frame is ReferenceFrame.WORLD:
        return np.eye(4)
    name = pair.model.link_names[0] if frame is ReferenceFrame.ROOT_LINK else frame
    return pinocchio.link_poses(q, [name])[0]


@each('seed', SEEDS)
def test_forward_dynamics_take_wrenches_in_every_frame(pair: Pair, seed: int) -> None:
    model, (q, qd, tau) = pair.model, pair.motion(seed)
    name, wrench = model.link_names[-1], random_wrench(seed)
    J, M = model.jacobian(q, name, point_of(wrench)), model.mass_matrix(q)
    six = np.concatenate([vector(wrench.torque), vector(wrench.force)])
    share = np.linalg.solve(M, J.T @ six)
    expected = model.forward_dynamics(q, qd, tau) + share
    for frame in (name, model.link_names[0], *ReferenceFrame):
        other = stated_in(model, q, wrench, name, frame)
        qdd = model.forward_dynamics(q, qd, tau, {name: other})
        np.testing.assert_allclose(
            qdd, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max(), err_msg=str(frame)
        )


def test_a_link_named_base_is_not_mistaken_for_the_root_link() -> None:
    # A UR's link 'base' is turned by half a turn about z from its root link, 'base_link'.
    arm = load(SHIPPED[2])
    q, rest = np.array([0.3, -1.2, 1.5, -0.8, 1.1, 0.4]), np.zeros(6)

    def efforts(frame: str | ReferenceFrame, force: tuple[float, ...]) -> Array:
        return arm.inverse_dynamics(q, rest, rest, {'tool0': Wrench(force, frame=frame)})

    assert 'base' in arm.link_names[1:]
    assert_equal(efforts('base', (1, 2, 3)), efforts(ReferenceFrame.ROOT_LINK, (-1, -2, 3)))
    assert_equal(efforts('base_link', (1, 2, 3)), efforts(ReferenceFrame.ROOT_LINK, (1, 2, 3)))
    assert not any('base' in f'{frame.name} {frame.value}'.lower() for frame in ReferenceFrame)


def test_the_bases_motion_does_not_change_what_a_wrench_takes_off(pair: Pair) -> None:
    moving = pair.model.with_base_motion(BaseMotion((1, 2, 3), (3, 2, 1), (2, 1, 3), (1, 3, 2)))
    motion = pair.motion(0)
    wrenches = random_wrenches(0, moving.link_names)
    there, here = (
        model.inverse_dynamics(*motion, wrenches) - model.inverse_dynamics(*motion)
        for model in (moving, pair.model)
    )
    # Small differences of large efforts.
    np.testing.assert_allclose(there, here, rtol=1e-9, atol=1e-9)


FORCE = (1.0, -2.0, 3.0)


@each('nothing', [None, {}, {'fer_hand': []}, {'fer_hand': ()}])
def test_no_wrench_changes_nothing(panda: RobotModel, nothing: Any) -> None:
    state = random_state(0, panda.nv)
    np.testing.assert_array_equal(
        panda.inverse_dynamics(*state, nothing), panda.inverse_dynamics(*state)
    )


def test_a_wrench_acts_on_one_call_alone(panda: RobotModel) -> None:
    state = random_state(0, panda.nv)
    free = panda.inverse_dynamics(*state)
    panda.inverse_dynamics(*state, {'fer_hand': Wrench(force=FORCE)})
    np.testing.assert_array_equal(panda.inverse_dynamics(*state), free)
    np.testing.assert_array_equal(
        panda.bias_torques(*state[:2]), panda.inverse_dynamics(*state[:2], np.zeros(panda.nv))
    )


def test_a_wrench_is_not_changed_by_assignment() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Wrench().force = FORCE  # type: ignore[misc]


def test_a_wrench_is_zero_by_default() -> None:
    zero = (0.0, 0.0, 0.0)
    assert Wrench() == Wrench(force=zero, torque=zero, frame=None, point=None)
