# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Inertias of simple shapes, and of bodies made of them, are MuJoCo's and the tables'."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros import InputError
from rnea_ros.dynamics.tree import RigidBodyInertia, shapes
from support.cases import each
from support.models.oracles import Array


def moments(kind: str, size: Sequence[float], mass: float) -> Array:
    """Return J of a shape about its centre, as MuJoCo has it."""
    mujoco: Any = pytest.importorskip('mujoco')
    robot = mujoco.MjSpec()
    body = robot.worldbody.add_body(name='body')
    body.add_freejoint()
    kinds = mujoco.mjtGeom
    body.add_geom(
        type=getattr(kinds, f'mjGEOM_{kind}'), size=[*size, 0.0, 0.0, 0.0][:3], mass=mass
    )
    model, R = robot.compile(), np.zeros(9)
    mujoco.mju_quat2Mat(R, model.body_iquat[1])
    axes = R.reshape(3, 3)
    J: Array = axes @ np.diag(model.body_inertia[1]) @ axes.T
    return J


def assert_same(
    found: RigidBodyInertia, mass: float, J: Array, com: ArrayLike = (0.0, 0.0, 0.0),
    rtol: float = 1e-9,
) -> None:
    np.testing.assert_allclose(found.mass, mass, rtol=rtol)
    np.testing.assert_allclose(
        found.com, np.asarray(com, dtype=np.float64), rtol=rtol, atol=1e-12
    )
    np.testing.assert_allclose(found.J_com, J, rtol=rtol, atol=rtol * float(np.abs(J).max()))


@pytest.mark.oracle
def test_solid_shapes_are_mujocos_and_hollow_ones_their_differences() -> None:
    mass, x, y, z = np.random.default_rng(0).uniform(0.1, 2.0, size=4)
    for solid, kind, size in (
        (shapes.box(mass, (x, y, z)), 'BOX', (x / 2, y / 2, z / 2)),
        (shapes.ellipsoid(mass, (x, y, z)), 'ELLIPSOID', (x, y, z)),
        (shapes.sphere(mass, x), 'SPHERE', (x,)),
        (shapes.cylinder(mass, x, z), 'CYLINDER', (x, z / 2)),
    ):
        assert_same(solid, mass, moments(kind, size, mass))
    r = 0.7 * x
    ball, hole = mass, mass * 0.7**3
    J = moments('SPHERE', (x,), ball) - moments('SPHERE', (r,), hole)
    assert_same(shapes.sphere(ball - hole, x, r), ball - hole, J)
    hole = mass * 0.7**2
    J = moments('CYLINDER', (x, z / 2), mass) - moments('CYLINDER', (r, z / 2), hole)
    assert_same(shapes.cylinder(mass - hole, x, z, r), mass - hole, J)


def test_a_cone_is_a_stack_of_discs() -> None:
    mass, R, h = np.random.default_rng(0).uniform(0.1, 2.0, size=3)
    slices = 20000
    z = (np.arange(slices) + 0.5) * h / slices
    r = R * (1.0 - z / h)
    m = mass * r**2 / np.sum(r**2)
    com = m @ z / mass
    across = np.sum(m * (r**2 / 4.0 + (z - com) ** 2))
    along = np.sum(m * r**2 / 2.0)
    J = np.diag([across, across, along])
    assert_same(shapes.cone(mass, R, h), mass, J, (0.0, 0.0, com), rtol=1e-7)  # steps of the stack


@each(('inertia', 'expected'), [
    pytest.param(shapes.cylinder(3.0, 0.0, 2.0), (1.0, 1.0, 0.0), id='rod: m l^2 / 12'),
    pytest.param(shapes.cylinder(4.0, 1.0, 0.0, 1.0), (2.0, 2.0, 4.0), id='hoop: m r^2 / 2, 1'),
    pytest.param(shapes.box(12.0, (1.0, 2.0, 0.0)), (4.0, 1.0, 5.0), id='plate: m b^2 / 12'),
    pytest.param(shapes.sphere(3.0, 1.0, 1.0), (2.0, 2.0, 2.0), id='shell: 2/3 m r^2'),
    pytest.param(shapes.sphere(3.0, 0.0), (0.0, 0.0, 0.0), id='point'),
])
def test_moments_are_those_of_tables(inertia: RigidBodyInertia, expected: Sequence[float]) -> None:
    np.testing.assert_allclose(inertia.J, np.diag(expected), rtol=1e-15, atol=0.0)


@each(('make', 'match'), [
    pytest.param(lambda: shapes.box(-1.0, (1, 1, 1)), '^mass: is -1.0, below 0', id='mass'),
    pytest.param(lambda: shapes.box(1.0, (1, -1, 1)), '^size: is -1.0, below 0', id='size'),
    pytest.param(
        lambda: shapes.sphere(1.0, 0.1, 0.2), '^inner_radius: is 0.2, above the radius 0.1',
        id='inner radius',
    ),
])
def test_a_size_no_body_has_is_rejected(make: Callable[[], RigidBodyInertia], match: str) -> None:
    with pytest.raises(InputError, match=match):
        make()
