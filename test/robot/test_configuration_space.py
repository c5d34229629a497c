# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Positions move by velocities and differ by one, also where they are no vector."""

from collections.abc import Callable

import numpy as np
import pytest

from rnea_ros import InputError, RobotModel
from rnea_ros.dynamics.quaternions import exponential, left_jacobian, logarithm
from support.cases import each
from support.models.comparison import assert_equal
from support.models.joint_trees import MOVING, Part, model_of, places, random_motion, random_parts
from support.models.oracles import Array, skew

SEEDS = range(3)
ANGLES = [0.0, 1e-300, 1e-20, 1e-9, 1e-8, 1e-5, 9.9e-3, 1.01e-2, 0.5, 3.0, 3.14159, np.pi]
LARGE_ANGLES = [np.pi + 1e-3, 5.0, 2.0 * np.pi, 7.0, 1000.0]


@pytest.fixture(params=SEEDS)
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(request.param)


def unit(rng: np.random.Generator, size: int = 3) -> Array:
    vector = rng.normal(size=size)
    direction: Array = vector / np.linalg.norm(vector)
    return direction


def tree(seed: int, *kinds: str) -> tuple[RobotModel, list[Part]]:
    parts = random_parts(seed, kinds)
    return model_of(parts), parts


def same_side(q: Array, as_in: Array, parts: list[Part]) -> Array:
    """Return q with the quaternion of each pair q, -q that is nearer to another position's."""
    q = q.copy()
    for part, where, _ in places(parts):
        if part.kind in ('spherical', 'floating'):
            turned = slice(where.stop - 4, where.stop)
            q[turned] *= np.sign(q[turned] @ as_in[turned])
    return q


@each('seed', range(10))
def test_the_difference_leads_from_one_position_to_the_other(seed: int) -> None:
    model, parts = tree(seed, *MOVING)
    q0, q1 = (random_motion(s, parts)[0] for s in (seed, seed + 100))
    arrived = model.integrate(q0, model.difference(q0, q1), 1.0)
    assert_equal(same_side(arrived, q1, parts), q1)


def test_a_position_differs_from_itself_by_nothing() -> None:
    model, parts = tree(0, *MOVING)
    q, v, _ = random_motion(0, parts)
    assert_equal(model.difference(q, q), np.zeros(model.nv))
    np.testing.assert_allclose(model.integrate(q, v, 0.0), q, rtol=1e-15)
    np.testing.assert_allclose(model.integrate(q, np.zeros(model.nv), 5.0), q, rtol=1e-15)


@each('angle', ANGLES)
def test_the_logarithm_undoes_the_exponential(angle: float, rng: np.random.Generator) -> None:
    turn = angle * unit(rng)
    found = logarithm(exponential(turn))
    if angle == np.pi:
        found *= np.sign(found @ turn)  # half a turn is one either way
    np.testing.assert_allclose(found, turn, rtol=1e-12, atol=0.0)


@each('angle', [*ANGLES, *LARGE_ANGLES[:-1]])
def test_the_left_jacobian_is_the_mean_of_the_rotations_on_the_way(
    angle: float, rng: np.random.Generator
) -> None:
    axis = unit(rng)
    # Forty points of Gauss and Legendre are exact to the last digit up to a whole turn.
    points, weights = np.polynomial.legendre.leggauss(40)
    a = angle * 0.5 * (points + 1.0)
    mean = (
        (0.5 * weights @ np.cos(a)) * np.eye(3) + (0.5 * weights @ np.sin(a)) * skew(axis)
        + (0.5 * weights @ (1.0 - np.cos(a))) * np.outer(axis, axis)
    )
    np.testing.assert_allclose(left_jacobian(angle * axis), mean, rtol=1e-13, atol=1e-14)


@each('kind', ['spherical', 'floating'])
def test_the_shorter_way_round_is_taken(kind: str) -> None:
    model, _ = tree(0, kind)
    q0 = model.neutral_position
    q1 = q0.copy()
    q1[-4:] = [0.0, 0.0, np.sin(0.75 * np.pi), np.cos(0.75 * np.pi)]  # three quarters about z
    assert_equal(model.difference(q0, q1)[:3], np.array([0.0, 0.0, -0.5 * np.pi]))
    q1[-4:] *= -1.0
    assert_equal(model.difference(q0, q1)[:3], np.array([0.0, 0.0, -0.5 * np.pi]))
    q0[-4:] *= -1.0
    assert_equal(model.difference(model.neutral_position, q0), np.zeros(model.nv))


@each('kind', ['revolute', 'helical', 'cylindrical', 'planar'])
def test_angles_of_other_joints_are_never_wrapped(kind: str) -> None:
    model, _ = tree(0, kind)
    q0, q1 = np.zeros(model.nq), np.full(model.nq, 7.0 * np.pi)
    np.testing.assert_array_equal(model.difference(q0, q1), q1)
    np.testing.assert_array_equal(model.integrate(q0, q1, 2.0), 2.0 * q1)


def test_a_quaternion_stays_of_unit_length_for_1000_steps() -> None:
    model, parts = tree(0, 'floating')
    start, v, _ = random_motion(0, parts)
    q = start
    for _ in range(1_000):
        q = model.integrate(q, v, 5e-3)
    assert abs(np.linalg.norm(q[-4:]) - 1.0) < 1e-15
    # Each step rounds by 1e-16: 1e-13 after as many steps that all err one way.
    there = model.integrate(start, v, 5.0)
    np.testing.assert_allclose(same_side(q, there, parts), there, atol=1e-13)


def to_pinocchio(kind: str, v: Array) -> Array:
    """Return velocities as Pinocchio orders them, [linear; angular]."""
    return np.roll(v, 3) if kind == 'floating' else v


@pytest.mark.oracle
@each('kind', ['spherical', 'floating'])
@each('angle', [*ANGLES, *LARGE_ANGLES])
def test_steps_and_differences_are_pinocchios(
    kind: str, angle: float, rng: np.random.Generator
) -> None:
    pinocchio = pytest.importorskip('pinocchio')
    joints = {
        'spherical': pinocchio.JointModelSpherical, 'floating': pinocchio.JointModelFreeFlyer
    }
    other = pinocchio.Model()
    other.addJoint(0, joints[kind](), pinocchio.SE3.Identity(), kind)
    model, parts = tree(0, kind)
    q, _, _ = random_motion(int(rng.integers(100)), parts)
    v = np.concatenate([angle * unit(rng), rng.normal(size=3)])[: model.nv]
    there = model.integrate(q, v, 1.0)
    # Roundings of an angle of 1000 rad are a thousand times those of 1 rad.
    expected = pinocchio.integrate(other, q, to_pinocchio(kind, v))
    np.testing.assert_allclose(
        same_side(expected, there, parts), there, rtol=1e-9, atol=1e-10 * max(1.0, angle)
    )
    back = to_pinocchio(kind, model.difference(q, there))
    expected = pinocchio.difference(other, q, there)
    if abs(angle - np.pi) < 1e-9:
        # Which way round half a turn goes, the last digit decides.
        back, expected = (pinocchio.integrate(other, q, way) for way in (back, expected))
        expected = same_side(expected, back, parts)
        if not np.allclose(same_side(expected, there, parts), there):
            return  # differences of some versions of Pinocchio do not lead back
    np.testing.assert_allclose(back, expected, rtol=1e-9, atol=1e-10 * max(1.0, angle))


@each('kind', ['spherical', 'floating'])
@each('length', [0.0, 1.0 - 2e-6, 1.0 - 9e-7, 1.0 + 9e-7, 1.0 + 2e-6, 1e200])
def test_a_length_within_a_millionth_is_taken_for_one(kind: str, length: float) -> None:
    model, parts = tree(0, 'revolute', kind, 'prismatic')
    good, _, _ = random_motion(0, parts)
    near, rest = good.copy(), np.zeros(model.nv)
    near[-5:-1] *= length
    given = near.copy()
    calls: list[tuple[str, Callable[[Array], Array]]] = [
        ('q', lambda q: model.integrate(q, rest, 1.0)),
        ('q0', lambda q: model.difference(q, good)), ('q1', lambda q: model.difference(good, q)),
        ('q', lambda q: model.inverse_dynamics(q, rest, rest)),
    ]
    for argument, call in calls:
        if abs(length - 1.0) < 1e-6:
            np.testing.assert_allclose(call(near), call(good), rtol=1e-13, atol=1e-14)
            continue
        with pytest.raises(InputError, match=rf"joint '{kind}_1' has length") as caught:
            call(near)
        assert caught.value.argument == argument
        named = float(caught.value.reason.split('has length ')[1].split(':')[0])
        np.testing.assert_allclose(named, length, rtol=1e-12)
    np.testing.assert_array_equal(near, given)


def test_the_neutral_position_is_a_position() -> None:
    model, parts = tree(0, *MOVING)
    q = model.neutral_position
    for part, where, _ in places(parts):
        own = q[where]
        if part.kind in ('spherical', 'floating'):
            assert own[-1] == 1.0
            own = own[:-1]
        assert not own.any()
    assert_equal(model.integrate(q, np.zeros(model.nv), 1.0), q)
    q[:] = 7.0
    assert model.neutral_position.max() == 1.0
