# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Positions move by velocities and differ by one, also where they are no vector."""

import numpy as np
import pytest

from rnea_ros import InputError
from rnea_ros.dynamics.quaternions import exponential, left_jacobian, logarithm
from support.cases import each
from support.models.comparison import assert_equal
from support.models.joint_trees import MOVING, Part, model_of, places, random_motion, random_parts
from support.models.oracles import Array, skew

ANGLES = [0.0, 1e-300, 1e-20, 1e-9, 1e-8, 1e-5, 9.9e-3, 1.01e-2, 0.5, 3.0, 3.14159, np.pi]
AXIS = np.array([0.48, -0.6, 0.64])
QUATERNIONS = ['spherical', 'floating']


def same_side(q: Array, as_in: Array, parts: list[Part]) -> Array:
    """Return q with the quaternion of each pair q, -q that is nearer to another position's."""
    q = q.copy()
    for part, where, _ in places(parts):
        if part.kind in QUATERNIONS:
            turned = slice(where.stop - 4, where.stop)
            q[turned] *= np.sign(q[turned] @ as_in[turned])
    return q


@each('seed', range(10))
def test_the_difference_leads_from_one_position_to_the_other(seed: int) -> None:
    parts = random_parts(seed, MOVING)
    model, (q0, v, _) = model_of(parts), random_motion(seed, parts)
    q1 = random_motion(seed + 100, parts)[0]
    arrived = model.integrate(q0, model.difference(q0, q1), 1.0)
    assert_equal(same_side(arrived, q1, parts), q1)
    assert_equal(model.difference(q0, q0), np.zeros(model.nv))
    for still in (model.integrate(q0, v, 0.0), model.integrate(q0, 0.0 * v, 5.0)):
        np.testing.assert_allclose(still, q0, rtol=1e-15)


@each('angle', ANGLES)
def test_the_logarithm_undoes_the_exponential(angle: float) -> None:
    found = logarithm(exponential(angle * AXIS))
    if angle == np.pi:
        found *= np.sign(found @ AXIS)  # half a turn is one either way
    np.testing.assert_allclose(found, angle * AXIS, rtol=1e-12, atol=0.0)


@each('angle', [*ANGLES, np.pi + 1e-3, 5.0, 2.0 * np.pi, 7.0])
def test_the_left_jacobian_is_the_mean_of_the_rotations_on_the_way(angle: float) -> None:
    # Forty points of Gauss and Legendre are exact to the last digit up to a whole turn.
    points, weights = np.polynomial.legendre.leggauss(40)
    a = angle * 0.5 * (points + 1.0)
    mean = (
        (0.5 * weights @ np.cos(a)) * np.eye(3) + (0.5 * weights @ np.sin(a)) * skew(AXIS)
        + (0.5 * weights @ (1.0 - np.cos(a))) * np.outer(AXIS, AXIS)
    )
    np.testing.assert_allclose(left_jacobian(angle * AXIS), mean, rtol=1e-13, atol=1e-14)


@each('kind', QUATERNIONS)
def test_the_shorter_way_round_is_taken(kind: str) -> None:
    model = model_of(random_parts(0, [kind]))
    q0 = model.neutral_position
    q1 = q0.copy()
    q1[-4:] = [0.0, 0.0, np.sin(0.75 * np.pi), np.cos(0.75 * np.pi)]  # three quarters about z
    for sign in (1.0, -1.0):
        q1[-4:] *= sign
        assert_equal(model.difference(q0, q1)[:3], np.array([0.0, 0.0, -0.5 * np.pi]))
    q0[-4:] *= -1.0
    assert_equal(model.difference(model.neutral_position, q0), np.zeros(model.nv))


@each('kind', ['revolute', 'helical', 'cylindrical', 'planar'])
def test_angles_of_other_joints_are_never_wrapped(kind: str) -> None:
    model = model_of(random_parts(0, [kind]))
    q0, q1 = np.zeros(model.nq), np.full(model.nq, 7.0 * np.pi)
    np.testing.assert_array_equal(model.difference(q0, q1), q1)
    np.testing.assert_array_equal(model.integrate(q0, q1, 2.0), 2.0 * q1)


@pytest.mark.oracle
@each('angle', [1e-8, 0.5, 3.0, 5.0, 1000.0])
def test_steps_and_differences_are_pinocchios(angle: float) -> None:
    pinocchio = pytest.importorskip('pinocchio')
    other = pinocchio.Model()
    other.addJoint(0, pinocchio.JointModelFreeFlyer(), pinocchio.SE3.Identity(), 'free')
    parts = random_parts(0, ['floating'])
    model, (q, qd, _) = model_of(parts), random_motion(0, parts)
    v = np.concatenate([angle * AXIS, qd[3:]])
    # Roundings of an angle of 1000 rad are a thousand times those of 1 rad. Pinocchio's
    # velocities are [linear; angular].
    atol, there = 1e-10 * max(1.0, angle), model.integrate(q, v, 1.0)
    expected = pinocchio.integrate(other, q, np.roll(v, 3))
    assert_equal(same_side(expected, there, parts), there, atol=atol)
    expected = pinocchio.difference(other, q, there)
    assert_equal(np.roll(model.difference(q, there), 3), expected, atol=atol)


@each('kind', QUATERNIONS)
@each('length', [0.0, 0.5, 1.0 - 2e-6, 1.0 - 9e-7, 1.0 + 9e-7, 1.0 + 2e-6, 1e200])
def test_a_length_within_a_millionth_is_taken_for_one(kind: str, length: float) -> None:
    parts = random_parts(0, ['revolute', kind, 'prismatic'])
    model, (good, _, _) = model_of(parts), random_motion(0, parts)
    near, rest = good.copy(), np.zeros(model.nv)
    near[-5:-1] *= length
    if abs(length - 1.0) < 1e-6:
        found = model.inverse_dynamics(near, rest, rest)
        np.testing.assert_allclose(
            found, model.inverse_dynamics(good, rest, rest), rtol=1e-13, atol=1e-14
        )
    else:
        with pytest.raises(InputError, match=rf"^q: .*joint '{kind}_1' has length"):
            model.inverse_dynamics(near, rest, rest)
    if length:
        np.testing.assert_allclose(model.normalised(near), good, rtol=1e-13)
    else:
        with pytest.raises(InputError, match=rf"^q: the quaternion of joint '{kind}_1' is zero"):
            model.normalised(near)


def test_the_neutral_position_is_a_position() -> None:
    parts = random_parts(0, MOVING)
    model = model_of(parts)
    q = model.neutral_position
    for part, where, _ in places(parts):
        unit = part.kind in QUATERNIONS
        np.testing.assert_array_equal(q[where], [*np.zeros(where.stop - where.start - 1), unit])
    q[:] = 7.0
    assert model.neutral_position.max() == 1.0
