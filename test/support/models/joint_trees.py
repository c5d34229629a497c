# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Trees with joints of every type, built side by side: here and in Pinocchio."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros import RobotModel
from rnea_ros.dynamics.tree import FIXED, Placement, RigidBodyInertia, TreeBuilder, joint_types
from support.models.oracles import (
    Array,
    PinocchioDynamics,
    random_moments,
    random_rotation,
    skew,
)

GRAVITY = (1.0, -2.0, -9.0)

SIZES = {
    'fixed': (0, 0), 'revolute': (1, 1), 'prismatic': (1, 1), 'helical': (1, 1),
    'cylindrical': (2, 2), 'planar': (3, 3), 'spherical': (4, 3), 'floating': (7, 6),
}
"""Positions and velocities of each type of joint."""

MOVING = tuple(kind for kind in SIZES if kind != 'fixed')


@dataclass(frozen=True)
class Part:
    """A link and the joint above it, of the same name; R, p: joint frame in the parent link."""

    name: str
    parent: str
    kind: str
    R: Array
    p: Array
    axis: Array
    pitch: float
    mass: float
    com: Array
    J_com: Array


def random_parts(seed: int, kinds: Sequence[str], *, branches: bool = True) -> list[Part]:
    """Return a tree of joints of these types, each on any part before it or on the last."""
    rng = np.random.default_rng(seed)
    names = ['base']
    parts = []
    for i, kind in enumerate(kinds):
        axis = rng.normal(size=3)
        if kind == 'planar':
            axis[2] = abs(axis[2])  # there is one smallest rotation to it
        parts.append(Part(
            f'{kind}_{i}', str(rng.choice(names)) if branches else names[-1], kind,
            random_rotation(rng), rng.normal(scale=0.3, size=3), axis / np.linalg.norm(axis),
            float(rng.normal()), float(rng.uniform(0.1, 5.0)), rng.normal(scale=0.2, size=3),
            random_moments(rng),
        ))
        names.append(parts[-1].name)
    return parts


def random_kinds(seed: int) -> list[str]:
    """Return types of joints, each at most a few times."""
    rng = np.random.default_rng(seed)
    return [str(kind) for kind in rng.choice(tuple(SIZES), size=rng.integers(3, 12))]


def random_motion(seed: int, parts: Sequence[Part]) -> tuple[Array, Array, Array]:
    """Return q, with quaternions of unit length, qd and qdd."""
    rng = np.random.default_rng(seed)
    q = [np.zeros(0)]
    for part in parts:
        own = rng.normal(size=SIZES[part.kind][0])
        if part.kind in ('spherical', 'floating'):
            own[-4:] /= np.linalg.norm(own[-4:])
        q.append(own)
    qd, qdd = rng.normal(size=(2, sum(SIZES[part.kind][1] for part in parts)))
    return np.concatenate(q), qd, qdd


def places(parts: Sequence[Part]) -> Iterator[tuple[Part, slice, slice]]:
    """Return every part that moves with its places in q and qd."""
    i = j = 0
    for part in parts:
        nq, nv = SIZES[part.kind]
        if nv:
            yield part, slice(i, i + nq), slice(j, j + nv)
        i, j = i + nq, j + nv


def smallest_rotation_of_z_to(axis: Array) -> Array:
    """Return the matrix that turns z to a unit vector about the normal of both."""
    z = np.array([0.0, 0.0, 1.0])
    quaternion = np.append(np.cross(z, axis), 1.0 + z @ axis)
    quaternion /= np.linalg.norm(quaternion)
    u, w = skew(quaternion[:3]), quaternion[3]
    R: Array = np.eye(3) + 2.0 * w * u + 2.0 * u @ u
    return R


def model_of(
    parts: Sequence[Part], gravity: ArrayLike = GRAVITY, order: Sequence[str] | None = None
) -> RobotModel:
    """Return the code under test, with coordinates in the order of its joints or another."""
    builder = TreeBuilder('base', order)
    for part in parts:
        name, axis = part.name, part.axis
        joint = {
            'fixed': FIXED, 'revolute': joint_types.revolute(name, axis),
            'prismatic': joint_types.prismatic(name, axis),
            'helical': joint_types.helical(name, part.pitch, axis),
            'cylindrical': joint_types.cylindrical(name, axis),
            'planar': joint_types.planar(name, axis), 'spherical': joint_types.spherical(name),
            'floating': joint_types.floating(name),
        }[part.kind]
        inertia = RigidBodyInertia.from_centre_of_mass(part.mass, part.com, part.J_com)
        builder.add_link(name, part.parent, Placement(part.R, part.p), joint, inertia)
    return RobotModel.from_tree(builder.build(), gravity=gravity)


def tree_in_another_order() -> RobotModel:
    """Return a tree of joints that articulated bodies take, its coordinates in any order."""
    parts = random_parts(2, [kind for kind in MOVING if kind != 'helical'])
    names = np.random.default_rng(2).permutation([part.name for part in parts])
    return model_of(parts, order=[str(name) for name in names])


class PinocchioTree(PinocchioDynamics):
    """The tree in Pinocchio, planar and floating joints in the coordinates of this package."""

    def __init__(self, parts: Sequence[Part], gravity: ArrayLike = GRAVITY) -> None:
        self._pin = pin = pytest.importorskip('pinocchio')
        self._model = pin.Model()
        self._model.gravity.linear = np.array(gravity)
        self._parts = parts
        self._first_joint: dict[str, int] = {}
        carriers = {'base': (0, pin.SE3.Identity())}
        for part in parts:
            joint, link_in_joint = carriers[part.parent]
            placement = link_in_joint * pin.SE3(part.R, part.p)
            turned = pin.SE3.Identity()
            if part.kind == 'planar':
                turned.rotation = smallest_rotation_of_z_to(part.axis)
            for i, joint_model in enumerate(self._joint_models(part)):
                where = placement * turned if i == 0 else pin.SE3.Identity()
                joint = self._model.addJoint(joint, joint_model, where, f'{part.name}_{i}')
                self._first_joint.setdefault(part.name, joint)
                placement = turned.inverse()
            self._model.appendBodyToJoint(
                joint, pin.Inertia(part.mass, part.com, part.J_com), placement
            )
            self._model.addFrame(pin.Frame(part.name, joint, 0, placement, pin.FrameType.BODY))
            carriers[part.name] = (joint, placement)
        self._data = self._model.createData()
        self.nv = self._model.nv

    def _joint_models(self, part: Part) -> list[Any]:
        pin, axis = self._pin, part.axis
        if part.kind == 'helical':
            if not hasattr(pin, 'JointModelHelicalUnaligned'):
                pytest.skip(f'Pinocchio {pin.__version__} has no helical joints')
            return [pin.JointModelHelicalUnaligned(axis, part.pitch)]
        models: dict[str, list[Any]] = {
            'fixed': [],
            'revolute': [pin.JointModelRevoluteUnaligned(axis)],
            'prismatic': [pin.JointModelPrismaticUnaligned(axis)],
            'cylindrical': [
                pin.JointModelRevoluteUnaligned(axis), pin.JointModelPrismaticUnaligned(axis)
            ],
            'planar': [pin.JointModelPlanar()],
            'spherical': [pin.JointModelSpherical()],
            'floating': [pin.JointModelFreeFlyer()],
        }
        return models[part.kind]

    def _converted(self, q: Array, qd: Array) -> tuple[Array, Array, Array]:
        positions, B = np.zeros(self._model.nq), np.zeros((self.nv, self.nv))
        B_rate_qd = np.zeros(self.nv)
        for part, where_q, where_qd in places(self._parts):
            joint = self._model.joints[self._first_joint[part.name]]
            own, rates = q[where_q], qd[where_qd]
            block = np.eye(len(rates))
            in_v = slice(joint.idx_v, joint.idx_v + len(rates))
            if part.kind == 'floating':
                block = np.roll(block, 3, axis=0)
            if part.kind == 'planar':
                c, s = np.cos(own[2]), np.sin(own[2])
                block[:2, :2] = [[c, s], [-s, c]]
                v = block @ rates
                B_rate_qd[in_v] = v[2] * np.array([v[1], -v[0], 0.0])
                own = np.array([own[0], own[1], c, s])
            positions[joint.idx_q : joint.idx_q + len(own)] = own
            B[in_v, where_qd] = block
        return positions, B, B_rate_qd
