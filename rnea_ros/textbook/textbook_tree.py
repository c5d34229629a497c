# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A kinematic tree as in textbooks: numbered bodies, each with a joint, a mass and a frame.

The formulations share only this description with the kernels. Body 0 is the base, which is not
listed: body i is element i - 1 of the sequence, and follows its parent. Its joint turns it about,
or moves it along, the z axis of its own frame.

The arguments of the formulations of trees:

- ``bodies``: those of :func:`bodies_of`
- ``q``, ``qd``, ``qdd``: joint positions, rad or m, velocities and accelerations, shape (n,) each
- ``tau``: joint efforts, shape (n,), N m or N
- ``gravity``: acceleration of free fall in the base frame, shape (3,), m/s^2
- ``external``: external force on each body, [moment; force] about the body frame's origin, in body
  coordinates, shape (1 + bodies, 6); row 0, for the base, has no effect
"""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np

from ..arrays import Array
from ..dynamics.kernels import JointKind
from ..dynamics.tree import KinematicTree
from ..errors import TreeError

Z = np.array([0.0, 0.0, 1.0])
"""The joint's axis, in the coordinates of the body that it moves."""
Z.setflags(write=False)


@dataclass(frozen=True)
class Body:
    """
    One moving body and the joint that carries it.

    :param parent: the parent body's number, 0 for the base
    :param coordinate: the index of its joint's position in q
    :param prismatic: the joint moves the body along z, and does not turn it about z
    :param rotation: the body frame's axes in the parent's frame at joint position 0, shape (3, 3)
    :param position: the body frame's origin in the parent's frame at joint position 0, (3,), m
    :param mass: kg
    :param com: centre of mass, in body coordinates, shape (3,), m
    :param inertia: about the centre of mass, in body coordinates, shape (3, 3), kg m^2
    """

    parent: int
    coordinate: int
    prismatic: bool
    rotation: Array
    position: Array
    mass: float
    com: Array
    inertia: Array

    def pose(self, q: Array) -> tuple[Array, Array]:
        """Return the body frame's rotation, (3, 3), and origin, (3,), m, in the parent's frame."""
        at = q[self.coordinate]
        if self.prismatic:
            return self.rotation, self.position + at * self.rotation[:, 2]
        c, s = math.cos(at), math.sin(at)
        about_z = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        return self.rotation @ about_z, self.position


def bodies_of(tree: KinematicTree) -> tuple[Body, ...]:
    """
    Return the moving bodies of a tree.

    :param tree: every body moves about or along one axis, by a coordinate of its own
    :raises TreeError: a joint is fixed, spherical or floating, follows another joint, or is
        helical; a body has a first moment but no mass
    """
    bodies: list[Body] = []
    for number, record in enumerate(tree.bodies[1:], start=1):
        kind = JointKind(int(record['kind']))
        if kind not in (JointKind.REVOLUTE, JointKind.PRISMATIC):
            reason = f'its joint is {kind.name.lower()}, not revolute or prismatic'
            raise TreeError(_name(tree, number), reason)
        coordinate, ratio, offset = int(record['qd_index']), record['ratio'], record['offset']
        shared = any(body.coordinate == coordinate for body in bodies)
        if shared or ratio != 1.0 or offset != 0.0:
            reason = f'it has no coordinate of its own: {ratio} q[{coordinate}] + {offset}'
            raise TreeError(_name(tree, number), reason)
        mass, h, J = float(record['mass']), record['h'], record['J']
        if mass == 0.0 and h.any():
            raise TreeError(_name(tree, number), f'it has no mass but the first moment {h}')
        com = h / mass if mass else np.zeros(3)
        bodies.append(Body(
            parent=int(record['parent']),
            coordinate=coordinate,
            prismatic=kind == JointKind.PRISMATIC,
            rotation=record['E_T'].T,
            position=record['r_T'],
            mass=mass,
            com=com,
            inertia=J - mass * (np.dot(com, com) * np.eye(3) - np.outer(com, com)),
        ))
    return tuple(bodies)


def chain_of(tree: KinematicTree) -> tuple[Body, ...]:
    """
    Return the moving bodies of a serial chain, from the base to the tip.

    :param tree: as for :func:`bodies_of`, without branches, coordinates counted from the base
    :raises TreeError: as :func:`bodies_of`; a branch; coordinates in another order
    """
    bodies = bodies_of(tree)
    for number, body in enumerate(bodies, start=1):
        if body.parent != number - 1:
            raise TreeError(_name(tree, number), 'it branches off: the tree is not a serial chain')
        if body.coordinate != number - 1:
            reason = f'it is number {number} of the chain, and moves by q[{body.coordinate}]'
            raise TreeError(_name(tree, number), reason)
    return bodies


def _name(tree: KinematicTree, number: int) -> str:
    # A joint of several movements has massless bodies before that of its link.
    link = next(name for name, frame in tree.frames.items() if frame.body >= number)
    return f'body {number}, of link {link!r}'


def cross(a: Array, b: Array) -> Array:
    """Return a x b, shape (3,)."""
    # Ten times as fast as numpy.cross for single vectors.
    return np.array([
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ])


def skew(a: Array) -> Array:
    """Return [a], the matrix for which [a] b = a x b, shape (3, 3)."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
