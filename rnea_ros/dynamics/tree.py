# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The kinematic tree: bodies that joints connect, each numbered after its parent.

A :class:`TreeBuilder` takes links and joints as a robot description has them. It lumps what is
fixed into the body that carries it, turns every body frame so that its joint's axis is z, and
numbers the bodies. The :class:`KinematicTree` that it builds is frozen and valid by construction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ..errors import TreeError
from .inertia import RigidBodyInertia
from .joints import JointKind
from .placement import Placement, rotation_from_z_to

BASE = 0

BODY = np.dtype(
    [
        ('parent', np.int64),
        ('kind', np.int64),
        ('coordinate', np.int64),
        ('ratio', np.float64),          # a mimic joint moves by ratio q + offset
        ('offset', np.float64),
        ('E_T', np.float64, (3, 3)),    # X_T: from the parent body's coordinates at q = 0
        ('r_T', np.float64, (3,)),
        ('mass', np.float64),
        ('h', np.float64, (3,)),
        ('J', np.float64, (3, 3)),
        ('E', np.float64, (3, 3)),      # X_up at the present q
        ('r', np.float64, (3,)),
        ('v', np.float64, (6,)),        # spatial velocity, acceleration, force
        ('a', np.float64, (6,)),
        ('f', np.float64, (6,)),
        ('f_ext', np.float64, (6,)),
    ],
    align=True,
)
"""One body as the kernels see it: what the tree fixes, then what a recursion writes."""


@dataclass(frozen=True)
class Coordinate:
    """
    How a joint takes its position from a coordinate of the tree: position = ratio q + offset.

    :param name: the coordinate; by convention the name of the independent joint
    :param ratio: 1 for the independent joint, the multiplier of a mimic joint
    :param offset: 0 for the independent joint, rad or m
    """

    name: str
    ratio: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class MovingJoint:
    """
    A joint of one degree of freedom.

    :param kind: revolute or prismatic
    :param axis: unit vector in the joint frame, shape (3,)
    :param coordinate: where its position comes from
    """

    kind: JointKind
    axis: NDArray[np.float64]
    coordinate: Coordinate


@dataclass(frozen=True)
class Frame:
    """
    A frame that is fixed to a body.

    :param body: the body's number, 0 for the base
    :param placement: where the frame stands in the body's coordinates
    """

    body: int
    placement: Placement


@dataclass(frozen=True)
class KinematicTree:
    """
    Bodies and joints for the kernels; made by :class:`TreeBuilder`.

    :param bodies: base first, parent before child, dtype :data:`BODY`, read-only
    :param coordinates: names in the order of q
    :param frames: every link by its name, those behind fixed joints too
    """

    bodies: NDArray[np.void]
    coordinates: tuple[str, ...]
    frames: Mapping[str, Frame]


class TreeBuilder:
    """
    Collects links from the root outwards.

    :param root: the name of the root link; it does not move
    :param coordinates: names of the coordinates, in the order of q
    """

    def __init__(self, root: str, coordinates: Sequence[str]) -> None:
        self._coordinates = tuple(coordinates)
        self._frames = {root: Frame(BASE, Placement.identity())}
        self._inertias = [RigidBodyInertia.zero()]
        self._joints: list[tuple[int, MovingJoint, Placement]] = []

    def add_link(
        self,
        name: str,
        parent: str,
        placement: Placement,
        joint: MovingJoint | None,
        inertia: RigidBodyInertia,
    ) -> None:
        """
        Attach a link to one that was added before.

        :param name: the link's name, new to the tree
        :param parent: the parent link's name
        :param placement: where the joint frame stands in the parent link, at joint position 0
        :param joint: how the link moves, or None where it is fixed to its parent
        :param inertia: of the link, about its own origin, in its own coordinates
        :raises TreeError: unknown parent or coordinate, name taken, axis not of unit length,
            numbers that are not finite
        """
        if name in self._frames:
            raise TreeError(f'link {name!r}', 'the tree has a link of this name already')
        if parent not in self._frames:
            raise TreeError(f'link {name!r}', f'the tree has no parent link {parent!r}')
        carrier = self._frames[parent]
        inertia_numbers = (inertia.mass, *inertia.h, *inertia.J.flat)
        if not np.isfinite((*placement.translation, *inertia_numbers)).all():
            raise TreeError(f'link {name!r}', 'its placement or inertia is not finite')
        if joint is None:
            frame = Frame(carrier.body, carrier.placement @ placement)
            self._inertias[frame.body] += inertia.seen_from(frame.placement)
        else:
            if joint.coordinate.name not in self._coordinates:
                raise TreeError(
                    f'link {name!r}', f'the tree has no coordinate {joint.coordinate.name!r}'
                )
            if not abs(np.linalg.norm(joint.axis) - 1.0) < 1e-9:
                raise TreeError(f'link {name!r}', f'joint axis {joint.axis} is no unit vector')
            aligned = Placement(rotation_from_z_to(joint.axis), np.zeros(3))
            frame = Frame(len(self._inertias), aligned.inverse())
            in_parent_body = carrier.placement @ placement @ aligned
            self._joints.append((carrier.body, joint, in_parent_body))
            self._inertias.append(inertia.seen_from(frame.placement))
        self._frames[name] = frame

    def build(self) -> KinematicTree:
        """Return the tree of what was added so far."""
        bodies = np.zeros(len(self._inertias), dtype=BODY)
        bodies['E_T'] = bodies['E'] = np.eye(3)
        for body, inertia in zip(bodies, self._inertias, strict=True):
            body['mass'], body['h'], body['J'] = inertia.mass, inertia.h, inertia.J
        for body, (parent, joint, placement) in zip(bodies[1:], self._joints, strict=True):
            coordinate = joint.coordinate
            body['parent'], body['kind'] = parent, joint.kind
            body['coordinate'] = self._coordinates.index(coordinate.name)
            body['ratio'], body['offset'] = coordinate.ratio, coordinate.offset
            body['E_T'], body['r_T'] = placement.rotation.T, placement.translation
        bodies.setflags(write=False)
        return KinematicTree(bodies, self._coordinates, MappingProxyType(dict(self._frames)))
