# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a joint carries, fixed or not: weight and inertia of all behind it, less what pushes."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros import ReferenceFrame, RobotModel, Wrench
from rnea_ros.urdf import Inertial
from support.cases import each
from support.models import oracle_pairs as pairs
from support.models.oracles import Array, random_wrenches
from support.models.robots import description, vendor_robots

pytest_plugins = ('support.models.model_fixtures',)

SEEDS = range(2)

Forces = Mapping[str, Sequence[Wrench]]


def assert_wrench(found: Wrench, force: ArrayLike, torque: ArrayLike, label: str = '') -> None:
    for actual, expected in ((found.force, force), (found.torque, torque)):
        np.testing.assert_allclose(
            vector(actual), vector(expected), rtol=1e-9, atol=1e-9, err_msg=label
        )


def vector(values: ArrayLike) -> Array:
    return np.asarray(values, dtype=np.float64)


def assert_moving_joints_carry_what_pinocchios_do(pair: pairs.Pair, loads: Forces) -> None:
    motion, names = pair.motion(0), pair.model.body_names
    names = names[:: 1 + len(names) // 8]  # at most 8, also of a humanoid
    carried = pair.pinocchio.joint_wrenches(*motion, names, loads)
    for name, (force, torque) in zip(names, carried, strict=True):
        found = pair.model.internal_wrench(*motion, name, loads)
        assert_wrench(found, force, torque, f'{pair.label}, {name}')


@pytest.mark.oracle
@pytest.mark.parametrize('path', vendor_robots())
def test_moving_joints_of_vendors_robots_carry_what_pinocchios_do(path: Path) -> None:
    pair = pairs.vendor_pair(path)
    loads = random_wrenches(0, pair.model.link_names)
    # Some at a point, some not; random trees have both in every frame.
    few = {name: wrenches[::3] for name, wrenches in loads.items()}
    assert_moving_joints_carry_what_pinocchios_do(pair, few)


class LinkByLink:
    """The forces on every link of a robot in motion, in the world."""

    def __init__(self, pair: pairs.Pair, motion: pairs.Motion, wrenches: Forces) -> None:
        model, pinocchio = pair.model, pair.pinocchio
        self._children: dict[str, list[str]] = {name: [] for name in model.link_names}
        for read in description(model).joints.values():
            self._children[read.parent].append(read.child)
        poses = pinocchio.link_poses(motion[0], model.link_names)
        self._poses = dict(zip(model.link_names, poses, strict=True))
        self._forces: dict[str, list[tuple[Array, Array, Array]]] = {}
        for name, read_link in description(model).links.items():
            self._forces[name] = [self._pushed(name, wrench) for wrench in wrenches.get(name, ())]
            if read_link.inertial is not None:
                v, a = pinocchio.link_motion(*motion, name)
                needed = self._needed(name, read_link.inertial, v, a, model.gravity)
                self._forces[name].append(needed)

    def through_the_joint_above(self, name: str) -> tuple[Array, Array]:
        """Return force and torque on a link and all behind it, in the link's frame."""
        R, origin = self._poses[name][:3, :3], self._poses[name][:3, 3]
        force, torque = np.zeros(3), np.zeros(3)
        behind = [name]
        while behind:
            part = behind.pop()
            behind += self._children[part]
            for one, moment, point in self._forces[part]:
                force += one
                torque += moment + np.cross(point - origin, one)
        return R.T @ force, R.T @ torque

    def _needed(
        self, name: str, inertial: Inertial, v: Array, a: Array, gravity: Array
    ) -> tuple[Array, Array, Array]:
        """Return force, moment and the centre of mass of m (a - g) and J alpha + w x J w."""
        R, origin = self._poses[name][:3, :3], self._poses[name][:3, 3]
        (w, u), (alpha, a_O), c = (v[:3], v[3:]), (a[:3], a[3:]), vector(inertial.origin.xyz)
        acceleration = a_O + np.cross(w, u) + np.cross(alpha, c) + np.cross(w, np.cross(w, c))
        J = pairs.moments_of(inertial)
        force = inertial.mass * (R @ acceleration - gravity)
        return force, R @ (J @ alpha + np.cross(w, J @ w)), R @ c + origin

    def _pushed(self, name: str, wrench: Wrench) -> tuple[Array, Array, Array]:
        """Return what a wrench takes off: force, moment and where it acts."""
        frame: Array = np.eye(4)
        if wrench.frame is ReferenceFrame.ROOT_LINK:
            frame = next(iter(self._poses.values()))
        elif wrench.frame is not ReferenceFrame.WORLD:
            frame = self._poses[wrench.frame or name]
        R, point = frame[:3, :3], self._poses[name][:3, 3]
        if wrench.point is not None:
            point = R @ vector(wrench.point) + frame[:3, 3]
        return -R @ vector(wrench.force), -R @ vector(wrench.torque), point


@pytest.mark.oracle
@each('seed', SEEDS)
def test_internal_wrenches_satisfy_newton_and_euler(pair: pairs.Pair, seed: int) -> None:
    model, motion = pair.model, pair.motion(seed)
    wrenches = random_wrenches(seed, model.link_names)
    by_links = LinkByLink(pair, motion, wrenches)
    for name in model.link_names[0 if pair.floating else 1 :]:
        found = model.internal_wrench(*motion, name, wrenches)
        assert found.frame == name
        assert_wrench(found, *by_links.through_the_joint_above(name), name)


def test_a_copy_under_another_gravity_has_cuts_of_its_own(panda: RobotModel) -> None:
    at_rest = (np.ones(8), np.zeros(8), np.zeros(8), 'fer_hand')
    weight = panda.internal_wrench(*at_rest)
    light = panda.with_gravity(0.1 * panda.gravity).internal_wrench(*at_rest)
    assert_wrench(light, 0.1 * vector(weight.force), 0.1 * vector(weight.torque))
