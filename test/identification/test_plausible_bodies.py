# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Bodies stay plausible where efforts leave them open: total mass, centres of mass."""

from functools import cache
from pathlib import Path
import re

import numpy as np
import pytest

from rnea_ros import RobotModel, identification
from rnea_ros.errors import InputError
from rnea_ros.identification.plausibility.bounds import fixed_mass, link_points, mass_bounds
from support.models.robots import ROOT, load
from support.recorded.simulated_arms import arm_unlike, record

CYLINDER = '<geometry><cylinder radius="0.05" length="0.4"/></geometry>'


@cache
def model() -> RobotModel:
    return load(ROOT / 'urdf/ur5e.urdf')


@cache
def run() -> identification.Run:
    return identification.run_from(record(arm_unlike(model(), seed=7), 7, 15.0), model())


@pytest.mark.parametrize('factor', [0.8, 1.2])
def test_a_given_total_mass_is_kept_where_the_efforts_leave_it_open(factor: float) -> None:
    free = identification.identify(model(), run())
    total = factor * (free.parameters[::10].sum() + fixed_mass(model()))
    fit = identification.identify(model(), run(), total_mass=total)
    moving = total - fixed_mass(model())
    assert fit.parameters[::10].sum() == pytest.approx(moving, rel=0.03)
    assert (fit.comparison.identified.rms <= 1.05 * free.comparison.identified.rms).all()
    with pytest.raises(InputError, match='total_mass'):
        identification.identify(model(), run(), total_mass=0.5 * fixed_mass(model()))


def points_of(text: str) -> dict[str, np.ndarray]:
    description = RobotModel.from_urdf(text).description
    assert description is not None
    return link_points(description)


def with_geometry(geometry: str, origin: str = '0 0 0.1') -> str:
    """Return the URDF with one collision element, at the forearm."""
    text = (ROOT / 'urdf/ur5e.urdf').read_text(encoding='utf-8')
    text = re.sub('<(collision|visual)>.*?</(collision|visual)>', '', text, flags=re.DOTALL)
    collision = f'<collision><origin xyz="{origin}"/>{geometry}</collision>'
    before, tag, after = text.partition('<link name="forearm_link">')
    assert tag
    return f'{before}{tag}{collision}{after}'


def test_centres_of_mass_stay_inside_the_geometry_of_their_link() -> None:
    known = RobotModel.from_urdf(with_geometry(CYLINDER))
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
    points = points_of(with_geometry(geometry))['forearm_link']
    np.testing.assert_allclose([points.min(axis=0), points.max(axis=0)], [lower, upper])


def test_a_mesh_has_its_corners_and_a_missing_one_no_box(tmp_path: Path) -> None:
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 3.0]])
    path = tmp_path / 'a.stl'
    path.write_text('solid\n' + '\n'.join(f'vertex {x} {y} {z}' for x, y, z in corners))
    mesh = f'<geometry><mesh filename="file://{path}" scale="0.1 0.1 0.1"/></geometry>'
    points = points_of(with_geometry(mesh, '0 0 0'))['forearm_link']
    np.testing.assert_allclose(points, 0.1 * corners)
    path.unlink()
    assert 'forearm_link' not in points_of(with_geometry(mesh))
