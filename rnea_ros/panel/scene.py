# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The robot of a URDF in viser's scene, moving as measured, with arrows for forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import Any

import numpy as np
from viser import ViserServer
from viser.transforms import SO3

from ..arrays import Array
from ..errors import RneaError
from ..robot import RobotModel
from ..urdf import (
    RobotDescription,
    Shape,
    parse_urdf,
    parse_xml,
    read_shapes,
    shape_triangles,
)

LINK, STICK, JOINT = (203, 213, 225), (150, 165, 190), (242, 128, 26)
LENGTH, MAX_LENGTH = 0.01, 0.8  # of an arrow: m/N, and m
SMALLEST = 0.5  # force that is shown, N
RADIUS = 0.02  # of a stick, m


class Scene:
    """
    One robot in the scene of a server; its root link stands at an offset, m.

    Each link is drawn by its visual meshes and shapes, or by its collision shapes if a visual mesh
    cannot be read; a robot without any shape by sticks from joint to joint.

    :ivar problem: why the robot, or a mesh of it, is not drawn; else empty
    :ivar model: the robot; None before there is one
    """

    def __init__(self, server: ViserServer, name: str, offset: tuple[float, float, float]) -> None:
        self._scene, self._name, self._offset = server.scene, f'/{name}', offset
        self._urdf, self.problem = '', ''
        self.model: RobotModel | None = None
        self._frames: list[tuple[str, str, Any]] = []  # parent link, link, its frame
        self._poses: dict[str, Array] = {}
        self._arrows: dict[str, Any] = {}

    def update(self, urdf: str, positions: Mapping[str, float]) -> None:
        """Draw a robot by its URDF, and move it to measured positions by joint."""
        if urdf != self._urdf:
            self._urdf, self.problem = urdf, ''
            self._clear()
            try:
                self._draw(parse_urdf(urdf))
            except RneaError as error:
                self._clear()
                self.problem = f'the robot is not drawn: {error}'
        if (model := self.model) is None:
            return
        q = np.array(model.neutral_position)
        for number, name in enumerate(model.joint_names[: len(q)]):
            q[number] = positions.get(name, q[number])
        if np.isfinite(q).all():
            self._poses = {link: model.forward_kinematics(q, link) for link in model.link_names}
        for parent, link, frame in self._frames:
            pose = np.linalg.solve(self._poses[parent], self._poses[link])
            frame.wxyz, frame.position = SO3.from_matrix(pose[:3, :3]).wxyz, pose[:3, 3]

    def show_force(
        self, name: str, link: str, force: Array, point: Array, colour: tuple[int, int, int]
    ) -> None:
        """Show a force, N, in the root link's axes, at a point of a link; hide a small one."""
        size, arrow = float(np.linalg.norm(force)), self._arrows.get(name)
        if link not in self._poses or size < SMALLEST:
            if arrow is not None:
                arrow.visible = False
            return
        start = self._poses[link][:3, :3] @ point + self._poses[link][:3, 3]
        points = np.array([[start, start + min(LENGTH, MAX_LENGTH / size) * force]])
        if arrow is None:
            self._arrows[name] = self._scene.add_arrows(
                f'{self._name}/{name}', points, colour,
                shaft_radius=0.008, head_radius=0.02, head_length=0.04,
            )
        else:
            arrow.points, arrow.visible = points, True

    def in_root(self, link: str, vector: Array) -> Array:
        """Return a vector in a link's axes in those of the root link; zero for an unknown link."""
        return self._poses[link][:3, :3] @ vector if link in self._poses else np.zeros(3)

    def effort_limit(self, joint: str) -> float:
        """Return the URDF's limit of a joint, N m or N; infinite if it has none."""
        if self.model is None or joint not in self.model.joint_names:
            return math.inf
        number = self.model.joint_names.index(joint)
        return float(self.model.effort_limits[number]) or math.inf

    def _clear(self) -> None:
        self._scene.remove_by_name(self._name)
        self.model, self._frames, self._poses, self._arrows = None, [], {}, {}

    def _draw(self, robot: RobotDescription) -> None:
        model = RobotModel.from_description(robot)
        shapes = self._shapes(robot)
        paths = {robot.root: self._name}
        self._scene.add_frame(self._name, show_axes=False, position=self._offset)
        for joint in robot.joints.values():
            paths[joint.child] = path = f'{paths[joint.parent]}/{len(paths)}'
            frame = self._scene.add_frame(path, show_axes=False)
            self._frames.append((joint.parent, joint.child, frame))
            if not shapes:
                self._stick(paths[joint.parent], path, np.array(joint.origin.xyz))
        for number, (shape, triangles) in enumerate(shapes):
            self._add(f'{paths[shape.link]}/shape_{number}', shape, triangles)
        self.model = model

    def _shapes(self, robot: RobotDescription) -> list[tuple[Shape, Array | None]]:
        """Return the shapes to draw, and the triangles of meshes, m."""
        drawn: list[tuple[Shape, Array | None]] = []
        for link in parse_xml(robot.text).findall('link'):
            collision = [shape for shape in robot.shapes if shape.link == link.get('name')]
            drawn += self._read(read_shapes(link, {}, 'visual')) or self._read(collision)
        return drawn

    def _read(self, shapes: Sequence[Shape]) -> list[tuple[Shape, Array | None]]:
        """Return shapes with the triangles of their meshes; none if a mesh cannot be read."""
        try:
            return [(s, shape_triangles(s, None) if s.kind == 'mesh' else None) for s in shapes]
        except RneaError as error:
            self.problem = self.problem or f'not all meshes are drawn: {error}'
            return []

    def _add(self, path: str, shape: Shape, triangles: Array | None) -> None:
        scene, size = self._scene, shape.size
        options: dict[str, Any] = {
            'color': LINK, 'position': shape.origin.xyz,
            'wxyz': SO3.from_rpy_radians(*shape.origin.rpy).wxyz,
        }
        if triangles is not None:  # one vertex for equal corners: smaller, and smoothly shaded
            corners = triangles.reshape(-1, 3).round(6)
            points, faces = np.unique(corners, axis=0, return_inverse=True)
            scene.add_mesh_simple(path, points, faces.reshape(-1, 3), side='double', **options)
        elif shape.kind == 'box':
            scene.add_box(path, dimensions=size, **options)
        elif shape.kind == 'sphere':
            scene.add_icosphere(path, radius=size[0], **options)
        else:  # a capsule without its ends
            scene.add_cylinder(path, radius=size[0], height=size[1], **options)

    def _stick(self, parent: str, path: str, way: Array) -> None:
        """Draw a link of a robot without shapes, from joint to joint."""
        self._scene.add_icosphere(f'{path}/joint', radius=1.5 * RADIUS, color=JOINT)
        length = float(np.linalg.norm(way))
        if length > RADIUS:
            z_axis = way / length
            axis = np.cross((0.0, 0.0, 1.0), z_axis) if abs(z_axis[2]) < 1.0 else np.eye(3)[0]
            turn = math.acos(z_axis[2]) * axis / np.linalg.norm(axis)
            self._scene.add_cylinder(
                f'{parent}/stick_{path.rpartition("/")[2]}', radius=RADIUS, height=length,
                color=STICK, wxyz=SO3.exp(turn).wxyz, position=0.5 * way,
            )
