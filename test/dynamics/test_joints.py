# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A joint turns about or slides along the body's own z axis, turns any way, or moves freely."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from rnea_ros.dynamics.kernels import BODY, DEGREES, FIRST_COLUMN, POSITIONS, JointKind
from rnea_ros.dynamics.kernels.joints import (
    add_joint_efforts,
    add_joint_motion,
    joint_transform,
    velocity_product,
)
from rnea_ros.dynamics.kernels.spatial import SpatialVector
from support.cases import each
from support.models.oracles import Array, motion_cross, motion_transform, random_rotation, skew

SEEDS = range(5)
FIRST_Q, FIRST_QD = 2, 3
"""Where the joint's numbers stand; those around them are not its own."""

ONE_AXIS = (JointKind.REVOLUTE, JointKind.PRISMATIC)
ANGLES = [-7.0, -np.pi, -0.3, 0.0, 0.3, np.pi / 2, np.pi, 100.0]
SUBSPACES = {
    JointKind.FIXED: np.zeros((6, 0)),
    JointKind.REVOLUTE: np.array([[0.0, 0, 1, 0, 0, 0]]).T,
    JointKind.PRISMATIC: np.array([[0.0, 0, 0, 0, 0, 1]]).T,
    JointKind.SPHERICAL: np.eye(6)[:, :3],
    JointKind.FLOATING: np.eye(6),
}


@pytest.fixture(params=SEEDS)
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(request.param)


def joint_body(
    kind: JointKind,
    E_T: Array | None = None,
    r_T: Array | None = None,
    ratio: float = 1.0,
    offset: float = 0.0,
) -> np.void:
    """Return the record of a body that such a joint moves."""
    bodies = np.zeros(2, dtype=BODY)
    body = bodies[1]
    body['kind'], body['dofs'], body['column'] = kind, DEGREES[kind], FIRST_COLUMN[kind]
    body['position'], body['dof'] = FIRST_Q, FIRST_QD
    body['ratio'], body['offset'] = ratio, offset
    body['E_T'] = np.eye(3) if E_T is None else E_T
    body['r_T'] = np.zeros(3) if r_T is None else r_T
    return cast(np.void, body)


def among_others(own: Array, start: int) -> Array:
    """Return a joint's numbers among others, which are none: they must not be read."""
    values = np.full(start + len(own) + 2, np.nan)
    values[start : start + len(own)] = own
    return values


def transform(body: np.void, q: Array) -> Array:
    """Return joint_transform's result as a six by six matrix."""
    E, r = joint_transform(body, among_others(q, FIRST_Q))
    return motion_transform(np.array(E), np.array(r))


def moved(body: np.void, m: Array, qd: Array) -> Array:
    return np.concatenate(add_joint_motion(body, pair(m), among_others(qd, FIRST_QD)))


def pair(m: Array) -> SpatialVector:
    return cast(SpatialVector, (tuple(m[:3].tolist()), tuple(m[3:].tolist())))


def turned_by(quaternion: Array) -> Array:
    """Return the matrix of v -> v + 2 w (u x v) + 2 u x (u x v)."""
    u, w = skew(quaternion[:3]), quaternion[3]
    matrix: Array = np.eye(3) + 2.0 * w * u + 2.0 * u @ u
    return matrix


def joint_alone(kind: JointKind, q: Array) -> Array:
    """Return X_J of the book's table 4.1."""
    if kind == JointKind.REVOLUTE:
        c, s = np.cos(q[0]), np.sin(q[0])
        return motion_transform(np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]), np.zeros(3))
    if kind == JointKind.PRISMATIC:
        return motion_transform(np.eye(3), np.array([0.0, 0.0, q[0]]))
    if kind == JointKind.FIXED:
        return np.eye(6)
    place = q[:3] if kind == JointKind.FLOATING else np.zeros(3)
    return motion_transform(turned_by(q[-4:]).T, place)


def random_position(rng: np.random.Generator, kind: JointKind) -> Array:
    q = rng.normal(size=POSITIONS[kind])
    if kind not in (*ONE_AXIS, JointKind.FIXED):
        q[-4:] /= np.linalg.norm(q[-4:])
    return q


def rates(kind: JointKind, q: Array, qd: Array) -> Array:
    """Return dq/dt: of a quaternion, half of its product with the angular velocity."""
    if kind in (*ONE_AXIS, JointKind.FIXED):
        return qd
    u, w = q[-4:-1], q[-1]
    turning = 0.5 * np.append(w * qd[:3] + np.cross(u, qd[:3]), -u @ qd[:3])
    if kind == JointKind.SPHERICAL:
        return turning
    return np.concatenate([turned_by(q[-4:]) @ qd[3:], turning])


@each('kind', JointKind)
def test_the_transform_is_the_joints_after_the_trees(
    kind: JointKind, rng: np.random.Generator
) -> None:
    E_T, r_T, q = random_rotation(rng), rng.normal(size=3), random_position(rng, kind)
    np.testing.assert_allclose(
        transform(joint_body(kind, E_T, r_T), q),
        joint_alone(kind, q) @ motion_transform(E_T, r_T),
        rtol=1e-9,
        atol=1e-10,
    )


@each('kind', ONE_AXIS)
@each('q', ANGLES)
def test_a_mimic_joint_moves_by_ratio_and_offset(kind: JointKind, q: float) -> None:
    np.testing.assert_allclose(
        transform(joint_body(kind, ratio=-2.5, offset=0.7), np.array([q])),
        joint_alone(kind, np.array([-2.5 * q + 0.7])),
        rtol=1e-9,
        atol=1e-10,
    )


def test_a_quaternion_is_x_y_z_w_and_turns_body_into_parent_coordinates() -> None:
    quarter_about_z = np.array([0.0, 0.0, np.sin(np.pi / 4), np.cos(np.pi / 4)])
    X = transform(joint_body(JointKind.SPHERICAL), quarter_about_z)
    body_x_in_parent = X[:3, :3].T @ np.array([1.0, 0.0, 0.0])
    np.testing.assert_allclose(body_x_in_parent, [0.0, 1.0, 0.0], atol=1e-15)


def test_position_of_a_floating_body_is_independent_of_its_orientation() -> None:
    rng = np.random.default_rng(2)
    E_T, r_T = random_rotation(rng), rng.normal(size=3)
    q = random_position(rng, JointKind.FLOATING)
    _, r = joint_transform(joint_body(JointKind.FLOATING, E_T, r_T), among_others(q, FIRST_Q))
    np.testing.assert_allclose(r, r_T + E_T.T @ q[:3], rtol=1e-9, atol=1e-10)


@each('kind', JointKind)
def test_the_joints_motion_is_added_by_its_subspace(
    kind: JointKind, rng: np.random.Generator
) -> None:
    S, m = SUBSPACES[kind], rng.normal(size=6)
    qd = rng.normal(size=S.shape[1])
    np.testing.assert_array_equal(moved(joint_body(kind), m, qd), m + S @ qd)


@each('kind', JointKind)
def test_the_joints_efforts_are_its_subspaces_share_and_add_up(
    kind: JointKind, rng: np.random.Generator
) -> None:
    S, f, body = SUBSPACES[kind], rng.normal(size=6), joint_body(kind)
    before = rng.normal(size=FIRST_QD + S.shape[1] + 2)
    tau = before.copy()
    add_joint_efforts(body, pair(f), tau)
    expected = before.copy()
    expected[FIRST_QD : FIRST_QD + S.shape[1]] += S.T @ f
    np.testing.assert_array_equal(tau, expected)


@each('kind', ONE_AXIS)
def test_a_mimic_joints_motion_and_efforts_are_the_leaders_times_the_ratio(
    kind: JointKind, rng: np.random.Generator
) -> None:
    S, body = SUBSPACES[kind][:, 0], joint_body(kind, ratio=-2.5, offset=0.7)
    m, f = rng.normal(size=(2, 6))
    np.testing.assert_allclose(moved(body, m, np.array([0.4])), m - S, rtol=1e-12)
    tau = np.zeros(FIRST_QD + 1)
    add_joint_efforts(body, pair(f), tau)
    np.testing.assert_allclose(tau[FIRST_QD], -2.5 * S @ f, rtol=1e-12)


@each(
    ('kind', 'ratio'), [*((kind, 1.0) for kind in JointKind), *((kind, -2.5) for kind in ONE_AXIS)]
)
def test_the_velocity_product_is_v_cross_the_joints_motion(
    kind: JointKind, ratio: float, rng: np.random.Generator
) -> None:
    S, v = SUBSPACES[kind], rng.normal(size=6)
    qd = rng.normal(size=S.shape[1])
    c = velocity_product(joint_body(kind, ratio=ratio), pair(v), among_others(qd, FIRST_QD))
    expected = motion_cross(v) @ (ratio * S @ qd)
    np.testing.assert_allclose(np.concatenate(c), expected, rtol=1e-9, atol=1e-10)


@each('kind', JointKind)
def test_the_motion_is_the_rate_of_the_transform(
    kind: JointKind, rng: np.random.Generator
) -> None:
    # dX/dt = -(S qd x) X, by central differences.
    h = 1e-5
    body = joint_body(kind, random_rotation(rng), rng.normal(size=3))
    q, qd = random_position(rng, kind), rng.normal(size=DEGREES[kind])
    ahead, behind = (transform(body, q + dt * rates(kind, q, qd)) for dt in (h, -h))
    motion = SUBSPACES[kind] @ qd
    np.testing.assert_allclose(
        (ahead - behind) / (2.0 * h), -motion_cross(motion) @ transform(body, q),
        rtol=1e-6, atol=1e-6,
    )
