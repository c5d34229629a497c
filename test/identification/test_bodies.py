# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Bodies are physical: pseudo-inertias, priors, strict inertias, plausible masses and centres."""

from functools import cache
from pathlib import Path
import re

import numpy as np
import pytest

from rnea_ros import RobotModel, identification
from rnea_ros.arrays import Array
from rnea_ros.errors import InputError
from rnea_ros.identification.plausibility.bounds import fixed_mass, link_points, mass_bounds
from rnea_ros.identification.pseudo_inertia import pseudo_inertias, regular, standard_parameters
from support.models.robots import SHIPPED, description, joint, link, load, robot
from support.recorded.simulated_arms import arm_unlike, min_eigenvalues, record

UR5E = SHIPPED[2]
CYLINDER = '<geometry><cylinder radius="0.05" length="0.4"/></geometry>'


@cache
def model() -> RobotModel:
    return load(UR5E)


@cache
def run() -> identification.Run:
    return identification.run_from(record(arm_unlike(model(), seed=7), 7, 10.0), model())


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
    phi = model().inertial_parameters
    np.testing.assert_allclose(regular(phi), phi, rtol=1e-9, atol=1e-12)
    point = robot(link('base'), link('a', 2.0, (0.1, 0, 0), (0,) * 6), link('b'),
                  joint('j', 'revolute', 'base', 'a'), joint('k', 'revolute', 'a', 'b'))
    degenerate = load(point).inertial_parameters
    assert not (min_eigenvalues(degenerate) > 0.0).any()
    repaired = regular(degenerate)
    assert (min_eigenvalues(repaired) > 0.0).all()
    np.testing.assert_allclose(repaired[:4], degenerate[:4], rtol=1e-9)


def test_strict_inertia_accepts_points_and_rods_but_no_body_without_mass() -> None:
    phi = model().inertial_parameters
    for place in np.random.default_rng(0).normal(size=(20, 3)):
        for lever in (np.zeros(3), np.array([0.1, 0.2, -0.1])):
            phi[:10] = of_points(np.array([0.7, 0.7]), np.array([place - lever, place + lever]))
            accepted = model().with_inertial_parameters(phi, strict_inertia=True)
            np.testing.assert_allclose(accepted.inertial_parameters, phi, atol=1e-12)
    phi[10] = 0.0
    assert model().with_inertial_parameters(phi).inertial_parameters[10] == 0.0
    with pytest.raises(InputError, match=f"link '{model().body_names[1]}' has a mass of 0 kg"):
        model().with_inertial_parameters(phi, strict_inertia=True)


def test_a_given_total_mass_is_kept_where_the_efforts_leave_it_open() -> None:
    free = identification.identify(model(), run())
    total = 1.2 * (free.parameters[::10].sum() + fixed_mass(model()))
    fit = identification.identify(model(), run(), total_mass=total)
    moving = total - fixed_mass(model())
    assert fit.parameters[::10].sum() == pytest.approx(moving, rel=0.03)
    assert (fit.comparison.identified.rms <= 1.05 * free.comparison.identified.rms).all()
    with pytest.raises(InputError, match='total_mass'):
        identification.identify(model(), run(), total_mass=0.5 * fixed_mass(model()))


def with_geometry(geometry: str, origin: str = '0 0 0.1') -> RobotModel:
    """Return the UR5e with one collision element, at the forearm."""
    text = UR5E.read_text(encoding='utf-8')
    text = re.sub('<(collision|visual)>.*?</(collision|visual)>', '', text, flags=re.DOTALL)
    collision = f'<collision><origin xyz="{origin}"/>{geometry}</collision>'
    tag = '<link name="forearm_link">'
    return RobotModel.from_urdf(text.replace(tag, f'{tag}{collision}'))


def test_centres_of_mass_stay_inside_the_geometry_of_their_link() -> None:
    known = with_geometry(CYLINDER)
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


@pytest.mark.parametrize(('geometry', 'lower', 'upper'), [
    ('<geometry><box size="0.2 0.4 0.6"/></geometry>', (-0.1, -0.2, -0.2), (0.1, 0.2, 0.4)),
    ('<geometry><sphere radius="0.1"/></geometry>', (-0.1, -0.1, 0.0), (0.1, 0.1, 0.2)),
    (CYLINDER, (-0.05, -0.05, -0.1), (0.05, 0.05, 0.3)),
])
def test_primitives_have_boxes(
    geometry: str, lower: tuple[float, ...], upper: tuple[float, ...]
) -> None:
    points = link_points(description(with_geometry(geometry)))['forearm_link']
    np.testing.assert_allclose([points.min(axis=0), points.max(axis=0)], [lower, upper])


def test_a_mesh_has_its_corners_and_a_missing_one_no_box(tmp_path: Path) -> None:
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 3.0]])
    path = tmp_path / 'a.stl'
    path.write_text('solid\n' + '\n'.join(f'vertex {x} {y} {z}' for x, y, z in corners))
    mesh = f'<geometry><mesh filename="file://{path}" scale="0.1 0.1 0.1"/></geometry>'
    links = description(with_geometry(mesh, '0 0 0'))
    np.testing.assert_allclose(link_points(links)['forearm_link'], 0.1 * corners)
    path.unlink()
    assert 'forearm_link' not in link_points(links)
