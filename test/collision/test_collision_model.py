# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Distances between links and from walls, which pairs are compared, and what is said."""

from pathlib import Path
import sys

import numpy as np
import pytest

from rnea_ros import UrdfError, collision
from rnea_ros.collision import REACH, CollisionsNotCheckedError, Wall, collision_model
from support.cases import each
from support.models.robots import ARM, joint, link, load, vendor_robots
from support.models.shaped_arm import boxes, shaped, shaped_arm, tip_distance, write_stl

mujoco = pytest.importorskip('mujoco', reason='MuJoCo is not installed')
ELBOWS = np.linspace(2.2, 3.0, 9)
POSES = np.column_stack((np.linspace(-1.0, 1.0, 9), ELBOWS))
FLOOR = Wall('the floor', (0.0, 0.0, -0.4), (0.0, 0.0, 1.0))


def test_the_distance_of_two_spheres_is_exact_up_to_the_reach() -> None:
    model = collision_model(load(shaped_arm()))
    assert model.pairs == (('base', 'lower'),)
    exact = np.minimum([tip_distance(elbow) for elbow in ELBOWS], REACH)
    assert exact.min() < 0.0 < exact.max()
    np.testing.assert_allclose(model.distances(POSES)[:, 0], exact, atol=1e-9)
    nearest = model.nearest(POSES)
    assert (nearest.pair, nearest.row) == (('base', 'lower'), 8)


def test_slopes_are_the_derivatives_of_distances() -> None:
    model = collision_model(load(shaped_arm()), walls=[FLOOR])
    q = np.random.default_rng(0).uniform((0.6, -3.0), (1.2, 3.0), (200, 2))
    weight = np.random.default_rng(1).normal(size=(len(q), len(model.pairs)))
    weight *= model.distances(q) < REACH - 1e-3
    step = 1e-6
    numeric = np.column_stack([
        (weight * (model.distances(q + side) - model.distances(q - side))).sum(axis=1) / (2 * step)
        for side in step * np.eye(2)
    ])
    assert np.count_nonzero(numeric) > 20
    np.testing.assert_allclose(model.slopes(q, weight), numeric, atol=1e-6)


def test_the_distance_from_a_wall_is_that_of_the_shape() -> None:
    model = collision_model(load(shaped_arm()), walls=[FLOOR], walled=['lower'])
    assert model.pairs[1:] == (('lower', 'the floor'),)
    (distance,) = model.distances(np.array([[0.5, 0.0]]))[:, 1]
    assert distance == pytest.approx(0.4 - 0.7 * np.sin(0.5) - 0.05, abs=1e-9)
    # Links that cannot approach a wall are left out.
    model = collision_model(load(shaped_arm()), walls=[FLOOR])
    assert set(model.pairs[1:]) == {('upper', 'the floor'), ('lower', 'the floor')}


def test_pairs_that_touch_in_nearly_all_poses_are_left_out_and_named() -> None:
    model = collision_model(load(shaped_arm('<sphere radius="0.7"/>')), walls=[FLOOR])
    assert ('base', 'lower') not in model.pairs
    assert 'touches in nearly all poses: base and lower' in model.remarks[-1]


def test_disabled_pairs_of_an_srdf_are_left_out(tmp_path: Path) -> None:
    srdf = tmp_path / 'arm.srdf'
    pair = '<disable_collisions link1="lower" link2="base" reason="Never"/>'
    srdf.write_text(f'<robot name="shaped">{pair}</robot>', encoding='utf-8')
    model = collision_model(load(shaped_arm()), srdf=srdf, walls=[FLOOR])
    assert {other for _, other in model.pairs} == {'the floor'}
    assert 'pairs of the SRDF' in model.remarks[-1]


def test_rigidly_connected_links_are_never_compared() -> None:
    more = link('tool', 0.1) + joint('mount', 'fixed', 'lower', 'tool', xyz=(0.2, 0, 0))
    text = shaped(shaped_arm(more=more), 'tool', '<box size="0.2 0.2 0.2"/>')
    assert set(collision_model(load(text)).pairs) == {('base', 'lower'), ('base', 'tool')}


def test_a_gap_in_a_mesh_is_free(tmp_path: Path) -> None:
    walls = boxes(
        ((-0.5, -0.2, -0.2), (-0.3, 0.2, 0.2)), ((0.3, -0.2, -0.2), (0.5, 0.2, 0.2)),
        ((-0.5, -0.2, -0.25), (0.5, 0.2, -0.2)),
    )
    write_stl(tmp_path / 'trough.stl', walls)
    mesh = '<mesh filename="trough.stl" scale="1 1 1"/>'
    model = collision_model(load(shaped_arm(mesh)), tmp_path / 'arm.urdf')
    assert model.distances(np.array([[0.0, 3.0]])) > 0.0  # the tip is between the sides
    assert model.distances(np.array([[-0.77, 1.955]])) < 0.0


def tool(name: str) -> str:
    return link(name, 0.1) + joint(f'mount of {name}', 'fixed', 'lower', name)


@pytest.mark.parametrize(
    ('shape', 'reason'),
    [('missing.stl', 'missing.stl is not found'), ('a.step', 'only STL, OBJ and DAE are read')],
)
def test_a_mesh_that_cannot_be_read_is_named(tmp_path: Path, shape: str, reason: str) -> None:
    (tmp_path / 'a.step').write_text('', encoding='utf-8')
    text, mesh = shaped_arm(more=tool('tool') + tool('cap')), f'<mesh filename="{shape}"/>'
    text = shaped(shaped(text, 'tool', mesh), 'cap', mesh)
    model = collision_model(load(text), tmp_path / 'arm.urdf')
    assert not model.is_complete
    assert model.remarks[0].startswith('without the shape of link tool: ')
    assert model.remarks[0].count(shape) == 1
    assert model.remarks[0].endswith(f'{reason}; also without those of cap')


@each(('shape', 'reason'), [
    ('<box size="0 0 0"/>', '<box> in <collision> has size (0.0, 0.0, 0.0) at (0.0, 0.0, 0.0) m'),
    ('<sphere radius="-1"/>', 'has size (-1.0,)'), ('<sphere radius="1e300"/>', 'has size'),
    ('<cylinder radius="nan" length="1"/>', 'has size (nan, 1.0)'),
    ('<mesh filename="a.stl" scale="1 1 0"/>', 'has size'), ('', 'needs one of'),
    ('<mesh filename="a.stl" scale="900000 1 1"/>', 'is larger than 1e+06 m'),
    ('<box size="1 1"/>', 'has 2 sizes'), ('<box size="a b c"/>', 'is not numbers'),
    (f'<mesh filename="{"a" * 300}.stl"/>', 'is not found'),
])
def test_only_an_unusable_shape_is_left_out(tmp_path: Path, shape: str, reason: str) -> None:
    write_stl(tmp_path / 'a.stl', boxes(((0, 0, 0), (2, 2, 2))))
    model = collision_model(load(shaped_arm(shape)), tmp_path / 'arm.urdf', walls=[FLOOR])
    assert set(model.pairs) == {('upper', 'the floor'), ('lower', 'the floor')}
    assert model.remarks[0].startswith('without the shape of link base: ')
    assert reason in model.remarks[0]
    assert not model.is_complete


def test_exchanged_limits_are_left_to_what_needs_them() -> None:
    text = shaped_arm().replace('lower="-3" upper="3"', 'lower="3" upper="-3"')
    assert text != shaped_arm()
    model = collision_model(load(text))
    assert model.pairs == (('base', 'lower'),)


def test_what_mujoco_or_the_memory_cannot_take_is_a_reason(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UrdfError, match="link 'the floor': has the name of a wall"):
        collision_model(load(shaped_arm().replace('"lower"', '"the floor"')), walls=[FLOOR])
    with monkeypatch.context() as patch:
        patch.setattr(mujoco.MjSpec, 'compile', lambda _: int('no hull'))  # a ValueError
        with pytest.raises(CollisionsNotCheckedError, match=r'MuJoCo rejects them: .*no hull'):
            collision_model(load(shaped_arm()))
    monkeypatch.setattr(collision.model, 'MAX_LINKS', 2)
    with pytest.raises(CollisionsNotCheckedError, match='3 links have shapes, at most 2'):
        collision_model(load(shaped_arm()))


def test_the_remedy_is_named_where_nothing_can_be_checked(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CollisionsNotCheckedError, match='the URDF has no collision shapes'):
        collision_model(load(ARM))
    monkeypatch.setitem(sys.modules, 'rnea_ros.collision.scene', None)
    with pytest.raises(CollisionsNotCheckedError, match='pip install mujoco'):
        collision_model(load(shaped_arm()))


@pytest.mark.parametrize('urdf', vendor_robots('ur5_robot'))
def test_no_collision_of_exact_meshes_is_missed(urdf: Path) -> None:
    pin = pytest.importorskip('pinocchio', reason='Pinocchio is not installed')
    model = load(urdf)
    ours = collision_model(model, urdf)
    exact = pin.buildModelFromUrdf(str(urdf))
    share = next(parent for parent in urdf.parents if parent.name == 'example-robot-data').parent
    shapes = pin.buildGeomFromUrdf(
        exact, str(urdf), pin.GeometryType.COLLISION, package_dirs=[str(share)]
    )
    for one, other in ours.pairs:
        pair = (shapes.getGeometryId(f'{name}_0') for name in (one, other))
        shapes.addCollisionPair(pin.CollisionPair(*pair))
    data, found = exact.createData(), pin.GeometryData(shapes)
    assert list(exact.names[1:]) == list(model.joint_names)
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (40, model.nv))
    touches = []
    for pose in q:
        pin.computeCollisions(exact, data, shapes, found, pose, False)
        touches.append([result.isCollision() for result in found.collisionResults])
    assert np.count_nonzero(touches) > 20
    assert (ours.distances(q)[np.array(touches)] < 1e-5).all()
