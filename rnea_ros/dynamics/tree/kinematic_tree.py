# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The kinematic tree: bodies connected by joints; a body's number is higher than its parent's.

A :class:`TreeBuilder` takes the links and joints of a robot description. It merges links at fixed
joints into their parent's body, turns every body frame so that its joint's axis is z, and
numbers the bodies. The resulting :class:`KinematicTree` is frozen and valid.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, finite_array, finite_number, finite_vector
from ...errors import InputError, TreeError, brief
from ..kernels import BASE, BODY, DEGREES, FIRST_COLUMN, POSITIONS, JointKind
from .joint_types import JointType, Movement
from .rigid_body import Placement, RigidBodyInertia, rotation_from_z_to

WORLD = ''
"""The name of the frame that a floating base moves in; no link may have it."""

FIXED: JointType = ()
"""A joint that does not move."""


@dataclass(frozen=True)
class Frame:
    """A frame that is fixed to a body: the body's number, 0 for the base, and its pose there."""

    body: int
    placement: Placement


@dataclass(frozen=True)
class JointCoordinates:
    """A joint's parts of q, and of qd, qdd and tau."""

    positions: slice
    velocities: slice


@dataclass(frozen=True)
class TreeLink:
    """The arguments of one :meth:`TreeBuilder.add_link`."""

    name: str
    parent: str
    placement: Placement
    joint: JointType
    inertia: RigidBodyInertia


@dataclass(frozen=True)
class KinematicTree:
    """
    Bodies and joints for the kernels; made by :class:`TreeBuilder`.

    :param bodies: base first, parent before child, dtype :data:`~rnea_ros.dynamics.kernels.BODY`,
        read-only
    :param joints: coordinates of the independent joints, in the order of q
    :param frames: frames of all links by name, including those behind fixed joints
    :param links: the links that the tree was built from, the root first
    :param separate_bodies: names of links at fixed joints that are not merged into a body
    """

    bodies: NDArray[np.void]
    joints: Mapping[str, JointCoordinates]
    frames: Mapping[str, Frame]
    links: tuple[TreeLink, ...]
    separate_bodies: frozenset[str] = frozenset()

    def __reduce__(self) -> tuple[object, ...]:
        # Rebuild from the links: a MappingProxyType cannot be pickled.
        return (_tree, (self.links, tuple(self.joints), self.separate_bodies))

    @property
    def nq(self) -> int:
        """The number of position coordinates."""
        return int(self.bodies[BASE]['q_index'])

    @property
    def nv(self) -> int:
        """The number of velocity coordinates."""
        return int(self.bodies[BASE]['qd_index'])

    @property
    def shared_coordinates(self) -> bool:
        """Whether mimic joints or screws move two bodies by one coordinate."""
        return int(self.bodies['qd_size'].sum()) > self.nv

    @cached_property
    def link_frames(self) -> dict[str, tuple[int, Array]]:
        """
        Frames as kernels take them, by link, without the world: number of the body, and (4, 3).

        E, from the body's coordinates to the frame's, and below it r, the frame's origin in the
        body's coordinates.
        """
        links = [name for name in self.frames if name != WORLD]
        placements = [self.frames[name].placement for name in links]
        frames = np.empty((len(links), 4, 3))
        for E_r, placement in zip(frames, placements, strict=True):
            E_r[:3], E_r[3] = placement.rotation.T, placement.translation
        return {name: (self.frames[name].body, f) for name, f in zip(links, frames, strict=True)}

    def quaternions(self) -> list[tuple[str, int, int, bool]]:
        """Return (name, index in q, index in qd, is floating) of all joints with a quaternion."""
        found = []
        for name, joint in self.joints.items():
            positions = joint.positions.stop - joint.positions.start
            if positions > joint.velocities.stop - joint.velocities.start:
                floats = positions == POSITIONS[JointKind.FLOATING]
                found.append((name, joint.positions.start, joint.velocities.start, floats))
        return found


class TreeBuilder:
    """
    Collects links from the root outwards.

    :param root: the name of the root link; it does not move
    :param joints: names of the independent joints, in the order of q; by default in the order of
        the links
    :param inertia: inertia of the root link, about its origin
    """

    def __init__(
        self, root: str = WORLD, joints: Sequence[str] | None = None,
        inertia: RigidBodyInertia | None = None,
    ) -> None:
        self._order = None if joints is None else tuple(joints)
        base = inertia or RigidBodyInertia.zero()
        self._links = [TreeLink(root, root, Placement.identity(), FIXED, base)]
        self._names = {root}

    def add_link(
        self, name: str, parent: str, placement: Placement, joint: JointType,
        inertia: RigidBodyInertia,
    ) -> None:
        """
        Attach a link to a link that was added before.

        :param placement: pose of the joint frame in the parent link's frame
        :param joint: from :mod:`~rnea_ros.dynamics.tree.joint_types`
        :param inertia: of the link, about its own origin, in its own coordinates
        :raises TreeError: unknown parent or joint, a second link of the same name, an axis not of
            unit length, arguments of another type, numbers that are not finite
        """
        _check_types(name, parent, placement, joint, inertia)
        if name in self._names:
            raise TreeError(f'link {name!r}', 'the tree has a link of this name already')
        if parent not in self._names:
            raise TreeError(f'link {name!r}', f'the tree has no parent link {parent!r}')
        for movement in joint:
            coordinate = movement.coordinate
            if self._order is not None and coordinate.joint not in self._order:
                raise TreeError(f'link {name!r}', f'the tree has no joint {coordinate.joint!r}')
            if not abs(np.linalg.norm(movement.axis) - 1.0) < 1e-9:
                raise TreeError(f'link {name!r}', f'axis {movement.axis} is not a unit vector')
        self._names.add(name)
        self._links.append(TreeLink(name, parent, placement, joint, inertia))

    def build(self) -> KinematicTree:
        """Return the tree of the links added so far."""
        return _tree(tuple(self._links), self._order)


def _check_types(
    name: str, parent: str, placement: Placement, joint: JointType, inertia: RigidBodyInertia
) -> None:
    """Raise an error if arguments of :meth:`TreeBuilder.add_link` are not of their types."""
    try:
        names = [name, parent, *(movement.coordinate.joint for movement in joint)]
        if not all(isinstance(given, str) for given in names):
            raise TypeError(f'expected names, got {brief(names)}')
        finite_vector('translation', placement.translation, 3)
        finite_array('rotation', placement.rotation, (3, 3))
        finite_number('mass', inertia.mass)
        finite_vector('h', inertia.h, 3)
        finite_array('J', inertia.J, (3, 3))
        for movement in joint:
            finite_number('joint ratio', movement.coordinate.ratio)
            finite_number('joint offset', movement.coordinate.offset)
    except (AttributeError, TypeError, InputError) as error:
        raise TreeError(f'link {brief(name)}', str(error)) from error


def with_separate_bodies(tree: KinematicTree, links: Iterable[str]) -> KinematicTree:
    """Return the tree with links at fixed joints as separate bodies, to compute their forces."""
    return _tree(tree.links, tuple(tree.joints), tree.separate_bodies.union(links))


def with_added_inertia(tree: KinematicTree, link: str, inertia: RigidBodyInertia) -> KinematicTree:
    """Return the tree with more inertia on a link, about its origin, in its coordinates."""
    links = tuple(
        replace(old, inertia=old.inertia + inertia) if old.name == link else old
        for old in tree.links
    )
    return _tree(links, tuple(tree.joints), tree.separate_bodies)


def _tree(
    links: tuple[TreeLink, ...], order: Sequence[str] | None,
    separate_bodies: frozenset[str] = frozenset(),
) -> KinematicTree:
    """Merge links at fixed joints, align joint axes with z, and number bodies and coordinates."""
    root, *others = links
    frames = {root.name: Frame(BASE, Placement.identity())}
    inertias = [root.inertia]
    # Parent, movement (None: fixed) and placement of each body after the base
    rows: list[tuple[int, Movement | None, Placement]] = []
    for link in others:
        carrier = frames[link.parent]
        body, placement = carrier.body, carrier.placement @ link.placement
        for movement in link.joint:
            aligned = Placement(rotation_from_z_to(movement.axis), np.zeros(3))
            rows.append((body, movement, placement @ aligned))
            inertias.append(RigidBodyInertia.zero())
            body, placement = len(rows), aligned.inverse()
        if not link.joint and link.name in separate_bodies:
            rows.append((body, None, placement))
            inertias.append(RigidBodyInertia.zero())
            body, placement = len(rows), Placement.identity()
        inertias[body] += link.inertia.transformed(placement)
        frames[link.name] = Frame(body, placement)

    joints = _numbered(tuple(movement for _, movement, _ in rows if movement), order)
    bodies = np.zeros(len(inertias), dtype=BODY)
    bodies['E_T'] = bodies['E'] = bodies['link_axes'] = np.eye(3)
    base = bodies[BASE]
    for place in joints.values():  # the last one leaves nq and nv in the base's record
        base['q_index'], base['qd_index'] = place.positions.stop, place.velocities.stop
    for record, inertia in zip(bodies, inertias, strict=True):
        record['mass'], record['h'], record['J'] = inertia.mass, inertia.h, inertia.J
    for record, (parent, movement_or_none, placement) in zip(bodies[1:], rows, strict=True):
        record['parent'] = parent
        record['E_T'], record['r_T'] = placement.rotation.T, placement.translation
        if movement_or_none is not None:
            _write_movement(record, movement_or_none, joints)
    for link in others:
        if link.joint:
            frame = frames[link.name]
            bodies[frame.body]['link_axes'] = frame.placement.rotation
    bodies.setflags(write=False)
    return KinematicTree(
        bodies, MappingProxyType(joints), MappingProxyType(frames), links, separate_bodies
    )


def _write_movement(
    record: np.void, movement: Movement, joints: Mapping[str, JointCoordinates]
) -> None:
    coordinate = movement.coordinate
    place = joints[coordinate.joint]
    record['kind'], record['qd_size'] = movement.kind, DEGREES[movement.kind]
    record['column'] = FIRST_COLUMN[movement.kind]
    record['q_index'] = place.positions.start + coordinate.index
    record['qd_index'] = place.velocities.start + coordinate.index
    record['ratio'], record['offset'] = coordinate.ratio, coordinate.offset


def _numbered(
    movements: Sequence[Movement], order: Sequence[str] | None
) -> dict[str, JointCoordinates]:
    """Return the parts of q and qd of each joint."""
    sizes: dict[str, tuple[int, int]] = dict.fromkeys(order or (), (0, 0))
    for movement in movements:
        index, name = movement.coordinate.index, movement.coordinate.joint
        positions, velocities = sizes.get(name, (0, 0))
        sizes[name] = (
            max(positions, index + POSITIONS[movement.kind]),
            max(velocities, index + DEGREES[movement.kind]),
        )
    joints, nq, nv = {}, 0, 0
    for name, (positions, velocities) in sizes.items():
        joints[name] = JointCoordinates(slice(nq, nq + positions), slice(nv, nv + velocities))
        nq, nv = nq + positions, nv + velocities
    return joints
