# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""viser's server, closed to other web pages, and a robot in its scene."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
import re
import socket
from typing import Any

import numpy as np
from trimesh import Trimesh, creation, util
from trimesh.transformations import compose_matrix
from viser import ViserServer
from viser.transforms import SO3
import websockets.asyncio.server

from ..arrays import Array
from ..errors import RneaError
from ..robot import RobotModel
from ..urdf import RobotDescription, Shape, parse_urdf, parse_xml, read_shapes, shape_triangles

Positions = Mapping[str, float]  # by joint, rad or m
Arrow = tuple[Array, Array, tuple[int, int, int]]  # point, m; force, N; colour
MIN_FORCE, LENGTH, MAX_LENGTH = 0.5, 0.01, 0.8  # of an arrow: N; m/N, m
LOOKS: dict[str, Any] = {'robot': {'color': (203, 213, 225)},
                         'ghost': {'color': (255, 169, 77), 'opacity': 0.4}}
DIFFERENCE = 0.01  # of the ghost, from which on it is shown, m and rad
SOLIDS = {'box': lambda *size: creation.box(size), 'sphere': lambda r: creation.icosphere(2, r),
          'cylinder': creation.cylinder, 'capsule': lambda r, length: creation.capsule(length, r)}


class Server(ViserServer):
    """Serves its own page only; viser itself accepts WebSockets of every web page."""

    def __init__(self, host: str, port: int = 8080) -> None:
        module: Any = websockets.asyncio.server
        serve, guards = module.serve, []
        computer = socket.gethostname().lower()
        names = '|'.join(map(re.escape, ('localhost', host, computer, f'{computer}.local')))
        # Names of others can be led here (DNS rebinding), addresses cannot.
        own = re.compile(rf'({names}|[\d.]+|\[[\da-f:]+\])(:\d+)?')

        def guarded(*args: Any, process_request: Any = None, **options: Any) -> Any:
            def checked(connection: Any, request: Any) -> Any:
                page, here = request.headers.get('Origin'), request.headers.get('Host', '')
                if page and (page != f'http://{here}' or not own.fullmatch(here)):
                    return connection.respond(403, 'not for other web pages\n')
                return process_request and process_request(connection, request)

            guards.append(checked)
            return serve(*args, process_request=checked, **options)

        # viser has no option for it. Its constructor returns when the server listens.
        module.serve = guarded
        try:
            super().__init__(host, port, label='rnea_ros', verbose=False)
        finally:
            module.serve = serve
        if not guards:
            self.stop()
            raise RneaError('this version of viser lets other web pages in; use viser 1.1.1')
        self.gui.configure_theme(show_logo=False, show_share_button=False, control_width='large')
        self.scene.configure_default_lights(cast_shadow=False)  # for browsers without a GPU
        self.scene.add_grid('/floor', width=4.0, height=4.0, position=(0.0, 0.0, -1e-3))
        self.initial_camera.position = (1.6, -1.2, 0.9)
        self.initial_camera.look_at = (0.0, 0.6, 0.4)

    def request_share_url(self, verbose: bool = True) -> None:
        """Publish nothing: any client may ask for a public address at share.viser.studio."""


class Scene:
    """One robot in the scene of a server; its root link stands at an offset, m."""

    def __init__(self, server: ViserServer, name: str, offset: tuple[float, float, float]) -> None:
        self._scene, self._path = server.scene, f'/{name}'
        self._urdf, self.problem = '', ''  # why the robot, or a mesh of it, is not drawn
        self.model: RobotModel | None = None
        self.poses: dict[str, Array] = {}  # of the links as measured, in the root link's frame
        self._links: dict[str, list[tuple[str, Any]]] = {}  # what is drawn, by LOOKS
        self._scene.add_frame(self._path, show_axes=False, position=offset)
        self._arrows = self._scene.add_arrows(
            f'{self._path}/arrows', np.zeros((0, 2, 3)), np.zeros((0, 3)),
            shaft_radius=0.008, head_radius=0.02, head_length=0.04,
        )

    def update(self, urdf: str, positions: Positions, reference: Positions) -> None:
        """Draw a robot by its URDF, at positions by joint; without a reference without a ghost."""
        if urdf != self._urdf:
            self._urdf, self.problem, self.model, self.poses = urdf, '', None, {}
            self._scene.remove_by_name(f'{self._path}/links')
            self._scene.add_frame(f'{self._path}/links', show_axes=False)
            try:
                self._draw(parse_urdf(urdf))
            except RneaError as error:
                self.problem = f'the robot is not drawn: {error}'
        if self.model is not None:
            self.poses = self._move('robot', self.model, positions)
            self._ghost.visible = bool(reference and self.poses)
            if self._ghost.visible:
                self._move('ghost', self.model, {**positions, **reference})

    def show_arrows(self, arrows: Iterable[Arrow]) -> None:
        """Show these forces only."""
        ends, colours = [], []
        for point, force, colour in arrows:
            if (size := float(np.linalg.norm(force))) > MIN_FORCE:
                ends.append((point, point + min(LENGTH, MAX_LENGTH / size) * force))
                colours.append(colour)
        self._arrows.points = np.reshape(ends, (-1, 2, 3))
        self._arrows.colors = np.reshape(colours, (-1, 3)).astype(np.uint8)

    def _move(self, name: str, model: RobotModel, positions: Positions) -> Any:
        """Move robot or ghost; return the poses of the links."""
        q = np.array(model.neutral_position)
        for number, joint in enumerate(model.joint_names[: len(q)]):
            q[number] = positions.get(joint, q[number])
        if not np.isfinite(q).all():
            return self.poses
        poses = {link: model.forward_kinematics(q, link) for link in model.link_names}
        for link, drawn in self._links[name]:
            pose = poses[link]
            drawn.wxyz, drawn.position = SO3.from_matrix(pose[:3, :3]).wxyz, pose[:3, 3]
            if name == 'ghost':  # no flicker of equal surfaces
                drawn.visible = bool(np.abs(pose - self.poses[link]).max() > DIFFERENCE)
        return poses

    def _draw(self, robot: RobotDescription) -> None:
        model, surfaces = RobotModel.from_description(robot), dict(self._surfaces(robot))
        self._ghost = self._scene.add_frame(f'{self._path}/links/ghost', show_axes=False)
        for name, look in LOOKS.items():
            self._links[name] = [(link, self._scene.add_mesh_simple(
                f'{self._path}/links/{name}/{k}', surface.vertices, surface.faces,
                flat_shading=True, side='double', **look,
            )) for k, (link, surface) in enumerate(surfaces.items())]
        self.model = model

    def _surfaces(self, robot: RobotDescription) -> Iterator[tuple[str, Trimesh]]:
        """Return the surface of each link: visual, else of collision, else a ball."""
        for link in parse_xml(robot.text).findall('link'):
            for tag in ('visual', 'collision'):
                try:
                    if parts := [_surface(shape) for shape in read_shapes(link, {}, tag)]:
                        yield link.get('name', ''), util.concatenate(parts)
                        break
                except RneaError as error:
                    self.problem = self.problem or f'not all meshes are drawn: {error}'
            else:
                yield link.get('name', ''), creation.icosphere(1, 0.01)


def _surface(shape: Shape) -> Trimesh:
    """Return the surface of a shape in its link's frame."""
    if shape.kind == 'mesh':
        corners = shape_triangles(shape, None).reshape(-1, 3)
        surface = Trimesh(corners, np.arange(len(corners)).reshape(-1, 3))
    else:
        surface = SOLIDS[shape.kind](*shape.size)
    origin = shape.origin
    return surface.apply_transform(compose_matrix(angles=origin.rpy, translate=origin.xyz))
