# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Bodies are physical and plausible, and become mass properties of links, each counted once."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
import re
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel, identification
from rnea_ros.arrays import Array
from rnea_ros.errors import InputError
from rnea_ros.identification.plausibility.bounds import fixed_mass, link_points, mass_bounds
from rnea_ros.identification.pseudo_inertia import pseudo_inertias, regular, standard_parameters
from rnea_ros.identification.result import link_inertials
from rnea_ros.urdf import with_inertials
from support.models.robots import SHIPPED, description, joint, link, load, robot, vendor_robots
from support.recorded.simulated_arms import arm_unlike, min_eigenvalues, record

UR5E = SHIPPED[2]
MODEL = load(UR5E)


@cache
def run() -> identification.Run:
    return identification.run_from(record(arm_unlike(MODEL, seed=7), 7, 10.0), MODEL)


def of_points(masses: Array, places: Array) -> Array:
    """Return the inertial parameters of some points."""
    J = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, places, strict=True))
    xx, xy, xz, yy, yz, zz = np.asarray(J)[np.triu_indices(3)]
    return np.array([masses.sum(), *(masses @ places), xx, xy, yy, xz, yz, zz])


def test_the_pseudo_inertia_of_points_is_their_second_moment() -> None:
    random = np.random.default_rng(1)
    masses, places = random.uniform(0.1, 1.0, 5), random.normal(size=(5, 3))
    phi = of_points(masses, places)
    homogeneous = np.column_stack([places, np.ones(5)])
    expected = (homogeneous.T * masses) @ homogeneous
    np.testing.assert_allclose(pseudo_inertias(phi)[0], expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(standard_parameters(expected[np.newaxis]), phi, rtol=1e-9)
    assert min_eigenvalues(phi)[0] > 0.0


def test_a_regular_prior_keeps_real_bodies_and_repairs_others() -> None:
    phi = MODEL.inertial_parameters
    np.testing.assert_allclose(regular(phi), phi, rtol=1e-9, atol=1e-12)
    point = robot(link('base'), link('a', 2.0, (0.1, 0, 0), (0,) * 6), link('b'),
                  joint('j', 'revolute', 'base', 'a'), joint('k', 'revolute', 'a', 'b'))
    degenerate = load(point).inertial_parameters
    assert not (min_eigenvalues(degenerate) > 0.0).any()
    repaired = regular(degenerate)
    assert (min_eigenvalues(repaired) > 0.0).all()
    np.testing.assert_allclose(repaired[:4], degenerate[:4], rtol=1e-9)


def test_strict_inertia_accepts_points_and_rods_but_no_body_without_mass() -> None:
    phi = MODEL.inertial_parameters
    for place in np.random.default_rng(0).normal(size=(20, 2, 3)):
        for ends in (place, place[[0, 0]]):
            phi[:10] = of_points(np.array([0.7, 0.7]), ends)
            accepted = MODEL.with_inertial_parameters(phi, strict_inertia=True)
            np.testing.assert_allclose(accepted.inertial_parameters, phi, atol=1e-12)
    phi[10] = 0.0
    assert MODEL.with_inertial_parameters(phi).inertial_parameters[10] == 0.0
    with pytest.raises(InputError, match=f"link '{MODEL.body_names[1]}' has a mass of 0 kg"):
        MODEL.with_inertial_parameters(phi, strict_inertia=True)


def test_a_given_total_mass_is_kept_where_the_efforts_leave_it_open() -> None:
    free = identification.identify(MODEL, run())
    total = 1.2 * (free.parameters[::10].sum() + fixed_mass(MODEL))
    fit = identification.identify(MODEL, run(), total_mass=total)
    moving = total - fixed_mass(MODEL)
    assert fit.parameters[::10].sum() == pytest.approx(moving, rel=0.03)
    assert (fit.comparison.identified.rms <= 1.05 * free.comparison.identified.rms).all()
    for unusable in (0.5 * fixed_mass(MODEL), 1e300):
        with pytest.raises(InputError, match='total_mass'):
            identification.identify(MODEL, run(), total_mass=unusable)


def with_geometry(geometry: str) -> RobotModel:
    """Return the UR5e with one collision element, at the forearm."""
    text = UR5E.read_text(encoding='utf-8')
    text = re.sub('<(collision|visual)>.*?</(collision|visual)>', '', text, flags=re.DOTALL)
    collision = f'<collision><origin xyz="0 0 0.1"/><geometry>{geometry}</geometry></collision>'
    tag = '<link name="forearm_link">'
    return load(text.replace(tag, f'{tag}{collision}'))


def test_centres_of_mass_stay_inside_the_geometry_of_their_link() -> None:
    known = with_geometry('<cylinder radius="0.05" length="0.4"/>')
    body = known.body_names.index('forearm_link')
    sideways = known.inertial_parameters.copy()
    A, b = mass_bounds(known, None)
    sideways[10 * body + 1] = 0.2 * sideways[10 * body]
    assert (A @ sideways - b > 0.1).sum() == 1
    fit = identification.identify(known, run())
    mass, *h = fit.parameters[10 * body : 10 * body + 4]
    x, y, z = np.array(h) / mass
    # The URDF has the centre of mass at x = -0.242 m, outside the cylinder.
    assert -0.26 < x < 0.06
    assert abs(y) < 0.06
    assert -0.11 < z < 0.31


@pytest.mark.parametrize(('shape', 'lower', 'upper'), [
    ('<box size="0.2 0.4 0.6"/>', (-0.1, -0.2, -0.2), (0.1, 0.2, 0.4)),
    ('<sphere radius="0.1"/>', (-0.1, -0.1, 0.0), (0.1, 0.1, 0.2)),
    ('<cylinder radius="0.05" length="0.4"/>', (-0.05, -0.05, -0.1), (0.05, 0.05, 0.3)),
    ('<mesh filename="file://{path}" scale="0.1 0.1 0.1"/>', (0.0, 0.0, 0.1), (0.1, 0.2, 0.4)),
    ('<mesh filename="file://{path}.none"/>', None, None),
])
def test_shapes_have_boxes_where_they_can_be_read(
    shape: str, lower: Sequence[float] | None, upper: Sequence[float] | None, tmp_path: Path
) -> None:
    path = tmp_path / 'a.stl'
    path.write_text('solid\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 2 3')
    links = description(with_geometry(shape.format(path=path)))
    points = link_points(links).get('forearm_link')
    assert (points is None) is (lower is None)
    if points is not None and lower is not None and upper is not None:
        np.testing.assert_allclose([points.min(axis=0), points.max(axis=0)], [lower, upper])


ROBOTS = [*SHIPPED, *vendor_robots('baxter', 'kinova', 'so100', 'talos_left_arm', 'ur5_gripper')]


def another_body(phi: Array, rng: np.random.Generator) -> Array:
    """Return a body heavier than another and around it: the other, and points of mass."""
    return phi + of_points(rng.uniform(0.1, 1.0, 4), rng.uniform(-0.2, 0.2, (4, 3)))


@pytest.mark.oracle
@pytest.mark.parametrize('path', ROBOTS)
def test_the_written_urdf_has_the_identified_parameters_and_torques(path: Any) -> None:
    pinocchio = pytest.importorskip('pinocchio', reason='Pinocchio (pin) is not installed')
    model = load(path)
    rng = np.random.default_rng(7)
    bodies = model.inertial_parameters.reshape(-1, 10)
    phi = np.concatenate([another_body(body, rng) for body in bodies])
    changed = model.with_inertial_parameters(phi)
    np.testing.assert_allclose(changed.inertial_parameters, phi, rtol=1e-9, atol=1e-10)
    text = with_inertials(description(model).text, link_inertials(model, phi)[0])
    np.testing.assert_allclose(load(text).inertial_parameters, phi, rtol=1e-7, atol=1e-8)
    if not model.has_one_axis_joints_only:
        return
    oracle = pinocchio.buildModelFromXML(text)
    names = [*oracle.names][1:]
    if oracle.nq != oracle.nv or oracle.nv != model.nv or set(names) != {*model.joint_names}:
        return  # mimic and continuous joints, which Pinocchio reads in other coordinates
    order = [model.joint_names.index(name) for name in names]
    q, qd, qdd = rng.uniform(-1.0, 1.0, (3, model.nv))
    tau = pinocchio.rnea(oracle, oracle.createData(), q[order], qd[order], qdd[order])
    for ours in (model.regressor(q, qd, qdd) @ phi, changed.inverse_dynamics(q, qd, qdd)):
        np.testing.assert_allclose(tau, ours[order], rtol=1e-6, atol=1e-6)


def arm(*more: str, moving: str = '') -> RobotModel:
    return load(robot(
        link('base', 3.0), moving or link('arm', 1.0, (0.1, 0.0, 0.0), rpy=(0.3, 0.0, 1.0)),
        joint('shoulder', 'revolute', 'base', 'arm', axis=(0, 1, 0)), *more,
    ))


def tool(mass: float) -> tuple[str, str]:
    return (
        link('tool', mass, (0.0, 0.0, 0.1), inertia=(1e-3, 0.0, 0.0, 1e-3, 0.0, 1e-3)),
        joint('mount', 'fixed', 'arm', 'tool', xyz=(0.2, 0.0, 0.0), rpy=(0.0, 1.0, 0.0)),
    )


@pytest.mark.parametrize(('mass', 'fits'), [(0.1, True), (2.5, False)])
def test_a_tool_keeps_its_mass_only_if_it_fits_into_the_body(mass: float, fits: bool) -> None:
    model = arm(*tool(mass))
    phi = model.inertial_parameters
    phi = another_body(phi, np.random.default_rng(1)) if fits else 0.3 * phi
    inertials, (note,) = link_inertials(model, phi)
    read = load(with_inertials(description(model).text, inertials))
    before, after = (description(each).links['tool'].inertial for each in (model, read))
    assert after == (before if fits else None)
    assert f'tool, fixed to it, {"stays as before" if fits else "is removed"}' in note
    np.testing.assert_allclose(read.inertial_parameters, phi, rtol=1e-8, atol=1e-9)


def test_the_mass_stays_on_a_body_that_is_fixed_to_a_frame_without_mass() -> None:
    model = arm(*tool(2.5), moving=link('arm'))
    inertials, notes = link_inertials(model, 0.3 * model.inertial_parameters)
    assert inertials.keys() == {'tool'}
    assert notes == ()


def test_bodies_with_unchanged_parameters_and_the_base_stay_as_written() -> None:
    hand = (link('hand', 0.5), joint('wrist', 'revolute', 'arm', 'hand'))
    stand = (link('stand', 9.0), joint('bolts', 'fixed', 'base', 'stand'))
    model = arm(*hand, *stand)
    phi = model.inertial_parameters.copy()
    assert link_inertials(model, phi * (1.0 + 1e-12)) == ({}, ())
    phi[10:] *= 1.5
    assert link_inertials(model, phi)[0].keys() == {'hand'}


def test_the_inertial_frame_keeps_its_axes() -> None:
    model = arm()
    inertials, _ = link_inertials(model, 2.0 * model.inertial_parameters)
    before, after = description(model).links['arm'].inertial, inertials['arm']
    assert before is not None
    assert after is not None
    assert after.origin.rpy == before.origin.rpy
    np.testing.assert_allclose(after.origin.xyz, before.origin.xyz, atol=1e-9)
    np.testing.assert_allclose(after.inertia, 2.0 * np.array(before.inertia), atol=1e-9)
