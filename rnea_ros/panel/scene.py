# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A robot in viser's scene, as measured, its reference as a ghost, and arrows for forces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from trimesh import creation
from viser import ViserServer
from viser.transforms import SO3

from ..arrays import Array
from ..errors import RneaError
from ..robot import RobotModel
from ..urdf import RobotDescription, Shape, parse_urdf, parse_xml, read_shapes, shape_triangles

Arrow = tuple[Array, Array, tuple[int, int, int]]
"""A point, m, and a force, N, in the root link's frame, and a colour."""

ROBOT, GHOST = (203, 213, 225), (255, 169, 77)
OPACITY, DIFFERENCE = 0.4, 0.01  # of the ghost; its least difference, m and rad
LENGTH, MAX_LENGTH = 0.01, 0.8  # of an arrow: m/N, and m
RADIUS = 0.02  # of a stick, m
SOLIDS = {
    'box': lambda *size: creation.box(size), 'sphere': lambda r: creation.icosphere(2, r),
    'cylinder': creation.cylinder, 'capsule': lambda r, length: creation.capsule(length, r),
}


class Scene:
    """
    One robot in the scene of a server; its root link stands at an offset, m.

    A link is drawn by its visual meshes and shapes, or by its collision shapes if a mesh cannot be
    read; a robot without any shape by sticks from joint to joint.

    :ivar problem: why the robot, or a mesh of it, is not drawn; else empty
    :ivar model: the robot; None before there is one
    :ivar poses: of its links as measured, 4 x 4, in the root link's frame
    """

    def __init__(self, server: ViserServer, name: str, offset: tuple[float, float, float]) -> None:
        self._scene, self._name, self._offset = server.scene, f'/{name}', offset
        self._urdf, self.problem = '', ''
        self.model: RobotModel | None = None
        self._links: dict[str, list[tuple[str, Any]]] = {}  # links and meshes of robot and ghost
        self.poses: dict[str, Array] = {}
        self._arrows: dict[str, Any] = {}

    def update(
        self, urdf: str, positions: Mapping[str, float], reference: Mapping[str, float]
    ) -> None:
        """Draw a robot by its URDF, at positions by joint; without a reference without a ghost."""
        if urdf != self._urdf:
            self._urdf, self.problem, self.model = urdf, '', None
            self._scene.remove_by_name(self._name)
            self._links, self.poses, self._arrows = {}, {}, {}
            try:
                self._draw(parse_urdf(urdf))
            except RneaError as error:
                self.problem = f'the robot is not drawn: {error}'
        if self.model is not None:
            self.poses = self._move('robot', self.model, positions)
            self._ghost.visible = bool(reference and self.poses)
            if self._ghost.visible:
                self._move('ghost', self.model, {**positions, **reference})

    def show_arrows(self, arrows: Mapping[str, Arrow]) -> None:
        """Show these forces by name only."""
        for name in self._arrows.keys() - arrows.keys():
            self._arrows.pop(name).remove()
        for name, (point, force, colour) in arrows.items():
            size = float(np.linalg.norm(force)) or 1.0
            ends = np.array([[point, point + min(LENGTH, MAX_LENGTH / size) * force]])
            if name in self._arrows:
                self._arrows[name].points = ends
                continue
            self._arrows[name] = self._scene.add_arrows(
                f'{self._name}/{name}', ends, colour,
                shaft_radius=0.008, head_radius=0.02, head_length=0.04,
            )

    def _move(self, name: str, model: RobotModel, positions: Mapping[str, float]) -> Any:
        """Move robot or ghost; return the poses of the links."""
        q = np.array(model.neutral_position)
        for number, joint in enumerate(model.joint_names[: len(q)]):
            q[number] = positions.get(joint, q[number])
        if not np.isfinite(q).all():
            return self.poses
        poses = {link: model.forward_kinematics(q, link) for link in model.link_names}
        for link, mesh in self._links[name]:
            pose = poses[link]
            mesh.wxyz, mesh.position = SO3.from_matrix(pose[:3, :3]).wxyz, pose[:3, 3]
            if name == 'ghost':  # no flicker of equal surfaces
                mesh.visible = bool(np.abs(pose - self.poses[link]).max() > DIFFERENCE)
        return poses

    def _draw(self, robot: RobotDescription) -> None:
        model = RobotModel.from_description(robot)
        triangles = dict(self._triangles(robot)) or dict(_sticks(robot))
        self._scene.add_frame(self._name, show_axes=False, position=self._offset)
        self._ghost = self._scene.add_frame(f'{self._name}/ghost', show_axes=False)
        for name, options in (
            ('robot', {'color': ROBOT}), ('ghost', {'color': GHOST, 'opacity': OPACITY}),
        ):
            self._links[name] = []
            for link, corners in triangles.items():
                # One vertex for equal corners: less to send.
                points, faces = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
                mesh = self._scene.add_mesh_simple(
                    f'{self._name}/{name}/{len(self._links[name])}', points, faces.reshape(-1, 3),
                    flat_shading=True, side='double', **options
                )
                self._links[name].append((link, mesh))
        self.model = model

    def _triangles(self, robot: RobotDescription) -> Iterator[tuple[str, Array]]:
        """Return the triangles of links that have some, shape (N, 3, 3), m."""
        for link in parse_xml(robot.text).findall('link'):
            collision = [shape for shape in robot.shapes if shape.link == link.get('name')]
            for shapes in (read_shapes(link, {}, 'visual'), collision):
                if parts := self._read(shapes):
                    yield shapes[0].link, np.concatenate(parts).round(6)
                    break

    def _read(self, shapes: Sequence[Shape]) -> list[Array]:
        """Return the triangles of shapes; none if a mesh cannot be read."""
        try:
            return [_placed(shape) for shape in shapes]
        except RneaError as error:
            self.problem = self.problem or f'not all meshes are drawn: {error}'
            return []


def _placed(shape: Shape) -> Array:
    """Return the triangles of a shape in its link's frame."""
    corners = (
        shape_triangles(shape, None) if shape.kind == 'mesh'
        else SOLIDS[shape.kind](*shape.size).triangles
    )
    rotation = SO3.from_rpy_radians(*shape.origin.rpy).as_matrix()
    return np.asarray(corners @ rotation.T + shape.origin.xyz)


def _sticks(robot: RobotDescription) -> Iterator[tuple[str, Array]]:
    """Return the triangles of sticks from the joint of each link to the next joints."""
    for link in robot.links:
        parts = [creation.icosphere(2, 1.5 * RADIUS).triangles]
        for joint in robot.joints.values():
            if joint.parent == link and np.linalg.norm(joint.origin.xyz) > RADIUS:
                ends = (np.zeros(3), np.array(joint.origin.xyz))
                parts.append(creation.cylinder(RADIUS, segment=ends).triangles)
        yield link, np.concatenate(parts)
