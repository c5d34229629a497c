# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Distances between links that may touch, and from walls; what is not checked, in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Array, Indices
from ..errors import RneaError, one_line
from ..robot import RobotModel
from ..urdf import RobotDescription, disabled_pairs

if TYPE_CHECKING:
    from .scene import Scene

Pair = tuple[str, str]

REACH = 0.03  # greatest distance that is computed; larger ones count as this, m

MAX_LINKS = 200  # with shapes; the pairs take memory
RANDOM_POSES = 1000
ALWAYS = 0.95  # a pair that touches in this share of random poses is left out, as in MoveIt
FAR = 100.0  # distances from walls up to which their change is seen, m
STILL = 1e-3  # a link whose distance from a wall changes by less is left out, m


class CollisionsNotCheckedError(RneaError):
    """Collisions cannot be checked, for a reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(f'collisions are not checked: {reason}')


@dataclass(frozen=True)
class Wall:
    """A plane that links must not cross."""

    name: str  # for messages, such as ``floor``
    point: tuple[float, float, float]  # on the plane, in the root link's frame, m
    normal: tuple[float, float, float]  # towards the robot


@dataclass(frozen=True)
class Nearest:
    """The smallest distance of some poses."""

    pair: Pair  # two links, or a link and a wall
    distance: float  # m; negative in a collision; :data:`REACH` if nothing is nearer
    row: int  # number of the pose


class _Contacts(NamedTuple):
    """Contacts of a pose."""

    pair: Indices  # number of the pair of links
    geom: Indices
    distance: Array
    point: Array
    normal: Array


NO_CONTACTS = _Contacts(
    np.zeros(0, dtype=np.intp), np.zeros((0, 2), dtype=np.intp), np.zeros(0), *np.zeros((2, 0, 3))
)


class CollisionModel:
    """
    Distances between the convex shapes of a robot; create it by :func:`collision_model`.

    :param pairs: pairs of links, or of a link and a wall
    :param walls: names of the walls
    :param remarks: what is left out, a sentence each
    :param is_complete: whether all collision shapes of the URDF were read
    """

    def __init__(
        self, model: RobotModel, scene: Scene, pairs: Sequence[Pair], walls: Sequence[str] = (),
        remarks: Sequence[str] = (), *, is_complete: bool = True, reach: float = REACH
    ) -> None:
        import mujoco

        self.walls = frozenset(walls)
        self.pairs, self.remarks, self.is_complete = tuple(pairs), tuple(remarks), is_complete
        self._mujoco, self._reach = mujoco, reach
        try:
            self._scene, self._pair_of = scene.compiled(pairs, reach)
        except ValueError as error:
            raise CollisionsNotCheckedError(f'MuJoCo rejects them: {one_line(error)}') from error
        self._data = mujoco.MjData(self._scene)
        self._latest: list[_Contacts] = []
        self._latest_q = np.zeros((0, model.nv))
        # MuJoCo's joint positions are motion @ q + offset.
        self._motion = np.zeros((self._scene.nv, model.nv))
        self._offset = np.zeros(self._scene.nv)
        assert model.description is not None
        for joint in model.description.joints.values():
            if joint.moves:
                row = self._scene.joint(joint.name).id
                leader, factor = joint.name, 1.0
                if joint.mimic is not None:
                    leader, factor = joint.mimic.joint, joint.mimic.multiplier
                    self._offset[row] = joint.mimic.offset
                self._motion[row, model.position_indices(leader).start] = factor

    def distances(self, q: Array) -> Array:
        """Return each pair's distance, (N, pairs), m, cut at the reach; q: shape (N, n)."""
        found = np.full((len(q), len(self.pairs)), self._reach)
        self._latest = [self._contacts(row) for row in q @ self._motion.T + self._offset]
        self._latest_q = q.copy()
        for row, contacts in zip(found, self._latest, strict=True):
            np.minimum.at(row, contacts.pair, contacts.distance)
        return found

    def slopes(self, q: Array, weight: Array) -> Array:
        """Return the derivatives, shape (N, n), of a sum with weights of shape (N, pairs)."""
        mujoco, scene, data = self._mujoco, self._scene, self._data
        slopes = np.zeros_like(q)
        ends = np.zeros((2, 3, scene.nv))
        if not np.array_equal(q, self._latest_q):
            self.distances(q)
        for row in np.flatnonzero(weight.any(axis=1)):
            contacts = self._latest[row]
            data.qpos[:] = self._motion @ q[row] + self._offset
            mujoco.mj_kinematics(scene, data)
            mujoco.mj_comPos(scene, data)
            for number in np.flatnonzero(weight[row]):
                touching = np.flatnonzero(contacts.pair == number)
                if not touching.size:
                    continue
                nearest = touching[contacts.distance[touching].argmin()]
                for jacobian, geom in zip(ends, contacts.geom[nearest], strict=True):
                    body = scene.geom_bodyid[geom]
                    mujoco.mj_jac(scene, data, jacobian, None, contacts.point[nearest], body)
                normal = contacts.normal[nearest]
                slopes[row] += weight[row, number] * (normal @ (ends[1] - ends[0]) @ self._motion)
        return slopes

    def nearest(self, q: Array) -> Nearest:
        """Return the smallest distance of N poses, shape (N, n)."""
        distances = self.distances(q)
        row, pair = np.unravel_index(distances.argmin(), distances.shape)
        return Nearest(self.pairs[pair], float(distances[row, pair]), int(row))

    def _contacts(self, position: Array) -> _Contacts:
        """Return the contacts within the reach at a position of MuJoCo's joints."""
        data = self._data
        data.qpos[:] = position
        self._mujoco.mj_kinematics(self._scene, data)
        self._mujoco.mj_collision(self._scene, data)
        if not data.ncon:
            return NO_CONTACTS
        found = data.contact
        geom = found.geom.copy()
        return _Contacts(
            self._pair_of[geom[:, 0], geom[:, 1]], geom, found.dist.copy(), found.pos.copy(),
            found.frame[:, :3].copy(),
        )


def collision_model(
    model: RobotModel, urdf: Path | None = None, srdf: Path | None = None,
    walls: Sequence[Wall] = (), walled: Sequence[str] = ()
) -> CollisionModel:
    """
    Return the collision model of a robot with joints of one axis.

    Left out are adjacent links, and pairs that an SRDF disables; without an SRDF, pairs that touch
    in nearly all random poses. Walls apply to the links that move towards or away from them,
    without those that are beyond in nearly all poses.

    :param urdf: path of the URDF, for relative names of meshes
    :param walled: the links that must not cross the walls; empty for all
    :raises CollisionsNotCheckedError: MuJoCo is missing, or the URDF has no usable shapes
    """
    description = model.description
    if description is None or not (description.shapes or description.unread_shapes):
        raise CollisionsNotCheckedError('the URDF has no collision shapes')
    for name in model.joints_of_several_axes:
        raise CollisionsNotCheckedError(f'joint {name!r} has more than one axis')
    try:
        from .scene import Scene

        scene = Scene(description, urdf)
    except ImportError as error:
        raise CollisionsNotCheckedError('MuJoCo is missing: pip install mujoco') from error
    links = [name for name in description.links if name in scene.shaped]
    if len(links) > MAX_LINKS:
        raise CollisionsNotCheckedError(f'{len(links)} links have shapes, at most {MAX_LINKS}')
    disabled = disabled_pairs(srdf) if srdf is not None else frozenset()
    pairs = _movable_pairs(description, links)
    pairs = [pair for pair in pairs if frozenset(pair) not in disabled]
    for wall in walls:
        scene.add_wall(wall.name, wall.point, wall.normal)
    barred = [(name, wall.name) for wall in walls for name in walled or links if name in links]
    poses = _random_poses(model)
    always = []
    if pairs and srdf is None:
        touching = (CollisionModel(model, scene, pairs).distances(poses) < 0.0).mean(axis=0)
        always = [pair for pair, share in zip(pairs, touching, strict=True) if share > ALWAYS]
        pairs = [pair for pair in pairs if pair not in always]
    if barred and not walled:
        far = CollisionModel(model, scene, barred, reach=FAR).distances(poses[:100])
        moves = np.ptp(far, axis=0) > STILL
        barred = [pair for pair, does in zip(barred, moves, strict=True) if does]
        beyond = (far[:, moves] < 0.0).mean(axis=0) > ALWAYS
        always += [pair for pair, is_beyond in zip(barred, beyond, strict=True) if is_beyond]
        barred = [pair for pair in barred if pair not in always]
    remarks = _remarks(description, links, scene.unread, always, srdf is not None)
    if not pairs and not barred:
        raise CollisionsNotCheckedError('; '.join(remarks))
    return CollisionModel(
        model, scene, [*pairs, *barred], [wall.name for wall in walls], remarks,
        is_complete=not scene.unread
    )


def _remarks(
    description: RobotDescription, links: Collection[str], unread: Mapping[str, str],
    always: Sequence[Pair], has_srdf: bool
) -> list[str]:
    """Return what is left out, a sentence each."""
    remarks = []
    if unread:
        (name, why), *others = unread.items()
        also = f'; also without those of {", ".join(other for other, _ in others)}'
        remarks.append(f'without the shape of link {name}: {why}{also if others else ""}')
    without = [name for name, link in description.links.items()
               if name not in {*links, *unread} and link.inertial is not None
               and link.inertial.mass > 0.0]  # fmt: skip
    if without:
        remarks.append(f'links without collision shape: {", ".join(without)}')
    text = ', '.join(f'{one} and {other}' for one, other in always)
    remarks.append(
        'not compared: adjacent links'
        + (f'; what touches in nearly all poses: {text}' if always else '')
        + ('; pairs of the SRDF' if has_srdf else ' (or name the pairs in an SRDF: --srdf)')
    )
    return remarks


def _movable_pairs(description: RobotDescription, links: Collection[str]) -> list[Pair]:
    """Return the pairs of links with shapes that move relative to each other and do not adjoin."""
    body = {description.root: description.root}
    above: dict[str, str | None] = {description.root: None}  # next body with shapes, to the root
    for joint in description.joints.values():
        body[joint.child] = joint.child if joint.moves else body[joint.parent]
    has_shape = {body[name] for name in links}
    for joint in description.joints.values():
        if joint.moves:
            parent = body[joint.parent]
            above[joint.child] = parent if parent in has_shape else above[parent]
    found = []
    for one, other in combinations([name for name in body if name in links], 2):
        first, second = body[one], body[other]
        if first != second and above[first] != second and above[second] != first:
            found.append((one, other))
    return found


def _random_poses(model: RobotModel) -> Array:
    """Return random joint positions within the limits, shape (N, n)."""
    lower, upper = model.position_lower, model.position_upper
    # Limits that are exchanged are named by what needs them.
    free = ~(np.isfinite(lower) & (lower <= upper) & (upper / 2.0 - lower / 2.0 < 2.0 * math.pi))
    lower, upper = np.where(free, -math.pi, lower), np.where(free, math.pi, upper)
    return np.random.default_rng(0).uniform(lower, upper, (RANDOM_POSES, model.nv))
