# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Exciting motions keep links apart and above a floor; a recording counts; the second motion."""

from pathlib import Path

import numpy as np
import pytest

from rnea_ros import RneaError, RobotModel
from rnea_ros.collision import CollisionModel, collision_model
from rnea_ros.identification import Run
from rnea_ros.identification.excitation import (
    Excitation,
    JointLimits,
    Region,
    excite,
    known_motion,
    report,
)
from rnea_ros.identification.excitation.bounds import Constraints
from rnea_ros.identification.excitation.criterion import Information
from rnea_ros.identification.excitation.motion import FourierBasis
from rnea_ros.identification.excitation.search import Objective
from support.models.robots import load, vendor_robots
from support.models.shaped_arm import LOWER, TIP, UPPER, shaped_arm, tip_distance

START = {'elbow': 2.2, 'shoulder': 0.5}


def excited(model: RobotModel, collisions: CollisionModel | None, **options: object) -> Excitation:
    limits = JointLimits.of(model)
    return excite(model, limits, collisions=collisions, seconds=0.3, **options)  # type: ignore[arg-type]


def test_both_motions_keep_links_apart_at_all_times() -> None:
    pytest.importorskip('mujoco', reason='MuJoCo is not installed')
    model = load(shaped_arm())
    found = excited(model, collision_model(model), start=START)
    for motion in (found.motion, found.validation):
        q = motion.at(np.arange(0.0, motion.duration, 1e-3))[0]
        assert min(tip_distance(elbow) for elbow in q[:, 1]) >= 0.01
    assert 'no collision in either motion, every ms: ' in report(found)
    touching = excited(model, None, start=START)
    elbow = touching.motion.sampled()[1][0][:, 1]
    assert min(tip_distance(angle) for angle in elbow) < 0.0, 'the case is too easy'
    assert 'no collision' not in report(touching)
    request = touching.motion.request(model.joint_names)
    with pytest.raises(RneaError, match=r'link base: .* lower in the motion, after'):
        known_motion(
            model, JointLimits.of(model), request, [0.0, 0.0], collisions=collision_model(model)
        )


def test_shapes_stay_above_the_floor() -> None:
    pytest.importorskip('mujoco', reason='MuJoCo is not installed')
    model = load(shaped_arm())
    region = Region.above(-0.2, ['lower'])
    shapes = collision_model(model, walls=region.walls, walled=['lower'])

    def lowest(found: Excitation) -> float:
        q = found.motion.sampled()[1][0]
        angle = q.sum(axis=1)
        return float((-UPPER * np.sin(q[:, 0]) - LOWER * np.sin(angle) - TIP).min())

    assert lowest(excited(model, shapes, region=region)) >= -0.2
    assert lowest(excited(model, None)) < -0.2, 'the case is too easy'


def test_the_slopes_of_the_search_are_those_of_its_objective() -> None:
    model, moves = load(shaped_arm()), [0, 1]
    start, random = np.array([0.5, 2.2]), np.random.default_rng(0)
    limits = JointLimits.of(model).with_margins(start, moves)
    samples = random.normal(size=(3, 50, 2))
    information = Information.of(model, (samples[0], samples[1], samples[2]), moves, np.ones(2))
    region = Region.above(-0.2, ['lower'])
    basis = FourierBasis.at(np.linspace(0.0, 10.0, 101), 10.0)
    constraints = Constraints.of(model, limits, region)
    objective = Objective(information, constraints, basis, start, moves)
    x, shift = random.normal(size=16), random.uniform(size=constraints.lower.shape)
    _, slopes = objective.penalised(x, shift, 100.0)
    h = 1e-6
    ends = [[objective.penalised(x + sign * step, shift, 100.0)[0] for sign in (-1.0, 1.0)]
            for step in h * np.eye(16)]  # fmt: skip
    moved = np.diff(ends)[:, 0] / (2.0 * h)
    np.testing.assert_allclose(slopes, moved, rtol=1e-4, atol=1e-5 * np.abs(moved).max())


def test_a_start_pose_in_collision_is_rejected_by_name() -> None:
    pytest.importorskip('mujoco', reason='MuJoCo is not installed')
    model = load(shaped_arm())
    with pytest.raises(RneaError, match='link base: collides with lower at the start pose, at -'):
        excited(model, collision_model(model), start={'elbow': 2.69})


def test_what_a_recording_determined_already_counts() -> None:
    model = load(shaped_arm())
    alone = excited(model, None)
    time, (q, qd, qdd) = alone.motion.sampled()
    segment = np.zeros(len(time), dtype=np.intp)
    run = Run('bag', time, q, qd, qdd, np.zeros_like(q), segment, model.joint_names)
    after = excited(model, None, after=run, joints=['shoulder'])
    without = excited(model, None, joints=['shoulder'])
    assert (after.accuracy.torque < without.accuracy.torque).all()
    again = excited(model, None, after=run)
    # The same motion twice: half the variance.
    np.testing.assert_allclose(
        again.accuracy.torque, alone.accuracy.torque / np.sqrt(2.0), rtol=0.2
    )


def test_the_second_motion_is_another_one() -> None:
    found = excited(load(shaped_arm()), None)
    q, other = (each.positions - found.start for each in (found.motion, found.validation))
    assert np.ptp(other, axis=0).min() > 0.1
    likeness = (q * other).sum() / np.sqrt((q**2).sum() * (other**2).sum())
    assert abs(likeness) < 0.7


@pytest.mark.parametrize('urdf', vendor_robots('ur5_robot'))
def test_a_motion_of_a_ur_has_no_collision_by_pinocchio(urdf: Path) -> None:
    pin = pytest.importorskip('pinocchio', reason='Pinocchio is not installed')
    pytest.importorskip('mujoco', reason='MuJoCo is not installed')
    model = load(urdf)
    ours = collision_model(model, urdf)
    motion = excited(model, ours, start={'shoulder_lift_joint': -1.57}).motion
    share = next(parent for parent in urdf.parents if parent.name == 'example-robot-data').parent
    exact = pin.buildModelFromUrdf(str(urdf))
    shapes = pin.buildGeomFromUrdf(
        exact, str(urdf), pin.GeometryType.COLLISION, package_dirs=[str(share)]
    )
    for pair in ours.pairs:
        shapes.addCollisionPair(
            pin.CollisionPair(*(shapes.getGeometryId(f'{name}_0') for name in pair))
        )
    data, found = exact.createData(), pin.GeometryData(shapes)
    for q in motion.at(np.linspace(0.0, motion.duration, 401))[0]:
        assert not pin.computeCollisions(exact, data, shapes, found, q, True)
