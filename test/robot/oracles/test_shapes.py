# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Inertias of simple shapes, and of bodies made of them, are MuJoCo's and the tables'."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from rnea_ros import InputError
from rnea_ros.dynamics.tree import Placement, RigidBodyInertia, shapes
from support.cases import each
from support.models.oracles import Array

SEEDS = range(5)


def mujoco_body(
    parts: Sequence[tuple[str, Sequence[float], float, Placement]], *, shells: bool = False
) -> tuple[float, Array, Array]:
    """Return mass, centre of mass and J about it, of a body of shapes; in the body's axes."""
    mujoco: Any = pytest.importorskip('mujoco')
    robot = mujoco.MjSpec()
    body = robot.worldbody.add_body(name='body')
    body.add_freejoint()
    for kind, size, mass, placement in parts:
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, placement.rotation.reshape(-1))
        geom = body.add_geom(
            type=getattr(mujoco.mjtGeom, f'mjGEOM_{kind}'), size=[*size, 0.0, 0.0, 0.0][:3],
            mass=mass, pos=placement.translation, quat=quaternion,
        )
        if shells:
            geom.typeinertia = mujoco.mjtGeomInertia.mjINERTIA_SHELL
    model = robot.compile()
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, model.body_iquat[1])
    axes = R.reshape(3, 3)
    J: Array = axes @ np.diag(model.body_inertia[1]) @ axes.T
    return float(model.body_mass[1]), np.array(model.body_ipos[1]), J


def assert_same(
    found: RigidBodyInertia, expected: tuple[float, Array, Array], rtol: float = 1e-9
) -> None:
    mass, com, J = expected
    scale = float(np.abs(J).max())
    np.testing.assert_allclose(found.mass, mass, rtol=rtol)
    np.testing.assert_allclose(found.com, com, rtol=rtol, atol=1e-12)
    np.testing.assert_allclose(found.J_com, J, rtol=rtol, atol=rtol * scale)


HERE = Placement.identity()


@pytest.mark.oracle
@each('seed', SEEDS)
def test_solid_shapes_are_mujocos(seed: int) -> None:
    mass, x, y, z = np.random.default_rng(seed).uniform(0.1, 2.0, size=4)
    for found, kind, size in (
        (shapes.box(mass, (x, y, z)), 'BOX', (x / 2, y / 2, z / 2)),
        (shapes.ellipsoid(mass, (x, y, z)), 'ELLIPSOID', (x, y, z)),
        (shapes.sphere(mass, x), 'SPHERE', (x,)),
        (shapes.cylinder(mass, x, z), 'CYLINDER', (x, z / 2)),
    ):
        assert_same(found, mujoco_body([(kind, size, mass, HERE)]))


@pytest.mark.oracle
@each('seed', SEEDS)
def test_hollow_shapes_are_differences_of_mujocos(seed: int) -> None:
    rng = np.random.default_rng(seed)
    R, z, density = rng.uniform(0.5, 2.0, size=3)
    r = R * rng.uniform(0.2, 0.9)
    hollow: Callable[..., RigidBodyInertia]
    for hollow, kind, outer, inner, volumes in (
        (shapes.sphere, 'SPHERE', (R,), (r,), (4 / 3 * np.pi * R**3, 4 / 3 * np.pi * r**3)),
        (
            shapes.cylinder, 'CYLINDER', (R, z / 2), (r, z / 2),
            (np.pi * R * R * z, np.pi * r * r * z),
        ),
    ):
        masses = [density * volume for volume in volumes]
        _, _, J_outer = mujoco_body([(kind, outer, masses[0], HERE)])
        _, _, J_inner = mujoco_body([(kind, inner, masses[1], HERE)])
        lengths = (R, r) if kind == 'SPHERE' else (R, z, r)
        found = hollow(masses[0] - masses[1], *lengths)
        assert_same(found, (masses[0] - masses[1], np.zeros(3), J_outer - J_inner))


@pytest.mark.oracle
def test_a_spherical_shell_is_mujocos() -> None:
    expected = mujoco_body([('SPHERE', (0.3,), 2.0, HERE)], shells=True)
    assert_same(shapes.sphere(2.0, 0.3, inner_radius=0.3), expected)


@each('seed', SEEDS)
def test_a_cone_is_a_stack_of_discs(seed: int) -> None:
    mass, R, h = np.random.default_rng(seed).uniform(0.1, 2.0, size=3)
    slices = 20000
    z = (np.arange(slices) + 0.5) * h / slices
    r = R * (1.0 - z / h)
    m = mass * r**2 / np.sum(r**2)
    com = m @ z / mass
    across = np.sum(m * (r**2 / 4.0 + (z - com) ** 2))
    along = np.sum(m * r**2 / 2.0)
    expected = (mass, np.array([0.0, 0.0, com]), np.diag([across, across, along]))
    assert_same(shapes.cone(mass, R, h), expected, rtol=1e-7)  # the stack's steps


@each(('inertia', 'moments'), [
    pytest.param(shapes.cylinder(3.0, 0.0, 2.0), (1.0, 1.0, 0.0), id='rod: m l^2 / 12'),
    pytest.param(shapes.cylinder(4.0, 1.0, 0.0), (1.0, 1.0, 2.0), id='disc: m r^2 / 4, / 2'),
    pytest.param(shapes.cylinder(4.0, 1.0, 0.0, 1.0), (2.0, 2.0, 4.0), id='hoop: m r^2 / 2, 1'),
    pytest.param(shapes.box(12.0, (1.0, 2.0, 0.0)), (4.0, 1.0, 5.0), id='plate: m b^2 / 12'),
    pytest.param(shapes.sphere(5.0, 1.0), (2.0, 2.0, 2.0), id='ball: 2/5 m r^2'),
    pytest.param(shapes.sphere(3.0, 1.0, 1.0), (2.0, 2.0, 2.0), id='shell: 2/3 m r^2'),
    pytest.param(shapes.sphere(3.0, 0.0), (0.0, 0.0, 0.0), id='point'),
])
def test_moments_are_those_of_tables(inertia: RigidBodyInertia, moments: Sequence[float]) -> None:
    np.testing.assert_allclose(inertia.J, np.diag(moments), rtol=1e-15, atol=0.0)


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
