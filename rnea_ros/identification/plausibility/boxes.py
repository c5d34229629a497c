# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Points whose box encloses the collision geometry of a link."""

from __future__ import annotations

from itertools import product

import numpy as np

from ...arrays import Array
from ...dynamics.tree import Placement
from ...errors import UrdfError
from ...urdf import RobotDescription, Shape, collision_shapes, mesh_path, mesh_triangles

CORNERS: Array = np.array([*product((-1.0, 1.0), repeat=3)])


def link_points(description: RobotDescription) -> dict[str, Array]:
    """
    Return points of each link whose box encloses its collision geometry, shape (any, 3), m.

    Links without geometry, or with a mesh that cannot be read, are left out.

    :param description: the robot
    """
    found: dict[str, list[Array]] = {}
    try:
        shapes = collision_shapes(description)
    except UrdfError:
        return {}
    unknown = set()
    for shape in shapes:
        try:
            found.setdefault(shape.link, []).append(_points(shape))
        except UrdfError:
            unknown.add(shape.link)
    return {link: np.concatenate(found[link]) for link in found.keys() - unknown}


def _points(shape: Shape) -> Array:
    """Return the corners of a primitive's box, or of a mesh, in the link's frame."""
    size = np.array(shape.size)
    if shape.kind == 'mesh':
        path = mesh_path(shape.file, None)
        if path is None:
            raise UrdfError('mesh', f'{shape.file} is not found')
        points = mesh_triangles(path).reshape(-1, 3) * size
    elif shape.kind == 'box':
        points = CORNERS * size / 2.0
    else:
        radius, length = size[0], size[1] if len(size) > 1 else 0.0
        half = length / 2.0 + (0.0 if shape.kind == 'cylinder' else radius)
        points = CORNERS * [radius, radius, half]
    placement = Placement.from_xyz_rpy(shape.origin.xyz, shape.origin.rpy)
    moved: Array = points @ placement.rotation.T + placement.translation
    return moved
