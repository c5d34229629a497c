# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The collision shapes of a URDF as a MuJoCo model, which computes the distances.

MuJoCo compares convex shapes. A mesh is cut into slabs across its longest side, and each slab
becomes its convex hull: together they contain the surface of the mesh.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, pairwise
import math
from pathlib import Path

import mujoco
import numpy as np

from ..arrays import Array
from ..errors import UrdfError
from ..urdf import Origin, RobotDescription, Shape, shape_triangles

SLAB = 0.08  # thickness of a slab, m, about

MAX_SLABS = 8
THICKNESS = 1e-3  # least thickness of a hull, m; thinner ones are thickened


class Scene:
    """The links with their collision shapes, and walls; the URDF's path finds relative meshes."""

    def __init__(self, description: RobotDescription, urdf: Path | None) -> None:
        self.unread = dict(description.unread_shapes)
        """Links with a shape that cannot be read, and the reason."""
        self.shaped: set[str] = set()
        """Links with shapes, and walls."""
        self._spec = mujoco.MjSpec()
        root = description.root
        self._bodies = {root: self._spec.worldbody.add_body(name=f'/{root}')}
        for joint in description.joints.values():
            body = self._bodies[joint.parent].add_body(
                name=f'/{joint.child}', pos=joint.origin.xyz, quat=_quaternion(joint.origin),
                mass=1.0, inertia=np.ones(3), explicitinertial=True,
            )  # fmt: skip
            self._bodies[joint.child] = body
            if joint.moves:
                slides = joint.type == 'prismatic'
                kind = mujoco.mjtJoint.mjJNT_SLIDE if slides else mujoco.mjtJoint.mjJNT_HINGE
                body.add_joint(name=joint.name, type=kind, axis=joint.axis)
        for shape in description.shapes:
            try:
                self._add(shape, urdf)
                self.shaped.add(shape.link)
            except UrdfError as error:
                self.unread[shape.link] = str(error)

    def add_wall(self, name: str, point: Sequence[float], normal: Sequence[float]) -> None:
        """Add a plane by a point, m, and its normal to the robot, in the root link's frame."""
        if name in self._bodies:
            raise UrdfError(f'link {name!r}', 'has the name of a wall: rename it')
        quaternion = np.empty(4)
        mujoco.mju_quatZ2Vec(quaternion, np.array(normal, dtype=np.float64))
        self._bodies[name] = self._spec.worldbody.add_body(
            name=f'/{name}', pos=point, quat=quaternion
        )
        self._bodies[name].add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0])
        self.shaped.add(name)

    def compiled(
        self, pairs: Collection[tuple[str, str]], margin: float
    ) -> tuple[mujoco.MjModel, Array]:
        """Return a model of contacts up to a margin, m, and the number of two geoms' pair."""
        spec = self._spec.copy()
        for geom in spec.geoms:
            geom.margin = margin
        wanted = {frozenset(pair) for pair in pairs}
        for one, other in combinations(sorted(self.shaped), 2):
            if frozenset((one, other)) not in wanted:
                spec.add_exclude(bodyname1=f'/{one}', bodyname2=f'/{other}')
        spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)
        model = spec.compile()
        numbers = np.zeros((model.nbody, model.nbody), dtype=np.intp)
        for number, pair in enumerate(pairs):
            one, other = (model.body(f'/{name}').id for name in pair)
            numbers[one, other] = numbers[other, one] = number
        body = model.geom_bodyid
        return model, numbers[np.ix_(body, body)]

    def _add(self, shape: Shape, urdf: Path | None) -> None:
        kinds, body = mujoco.mjtGeom, self._bodies[shape.link]
        pose = {'pos': shape.origin.xyz, 'quat': _quaternion(shape.origin)}
        if shape.kind == 'mesh':
            for vertices in _slabs(shape_triangles(shape, urdf)):
                name = f'{len(self._spec.meshes)}'
                self._spec.add_mesh(name=name, uservert=vertices.astype(np.float32).ravel())
                body.add_geom(type=kinds.mjGEOM_MESH, meshname=name, **pose)
        elif shape.kind == 'box':
            body.add_geom(type=kinds.mjGEOM_BOX, size=np.array(shape.size) / 2.0, **pose)
        else:
            radius, length = (*shape.size, 0.0)[:2]
            kind = getattr(kinds, f'mjGEOM_{shape.kind.upper()}')
            body.add_geom(type=kind, size=[radius, length / 2.0, 0.0], **pose)


def _slabs(triangles: Array) -> Iterator[Array]:
    """Cut a mesh (N, 3, 3) across its longest side; the hulls of the slabs contain its surface."""
    corners = triangles.reshape(-1, 3)
    axis = int(np.ptp(corners, axis=0).argmax())
    least, greatest = corners[:, axis].min(), corners[:, axis].max()
    count = min(max(math.ceil((greatest - least) / SLAB), 1), MAX_SLABS)
    one, other = corners, triangles[:, [1, 2, 0]].reshape(-1, 3)
    cuts = np.linspace(least, greatest, count + 1)
    for low, high in pairwise(cuts):
        points = [corners[(corners[:, axis] >= low) & (corners[:, axis] <= high)]]
        for cut in (low, high):
            before, after = one[:, axis] - cut, other[:, axis] - cut
            crosses = before * after < 0.0
            share = (before / np.where(crosses, before - after, 1.0))[crosses, np.newaxis]
            points.append(one[crosses] + share * (other[crosses] - one[crosses]))
        slab = np.unique(np.vstack(points), axis=0)
        if len(slab):
            yield _thickened(slab)


def _thickened(points: Array) -> Array:
    """Return points, with others beside them in the directions in which they are flat."""
    directions = np.linalg.svd(points - points.mean(axis=0), full_matrices=len(points) < 3)[2]
    for direction in directions:
        if np.ptp(points @ direction) < THICKNESS:
            side = THICKNESS / 2.0 * direction
            points = np.vstack((points - side, points + side))
    return points


def _quaternion(origin: Origin) -> Array:
    quaternion = np.empty(4)
    mujoco.mju_euler2Quat(quaternion, np.array(origin.rpy), 'XYZ')
    return quaternion
