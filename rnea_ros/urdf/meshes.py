# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Files of meshes: where a URDF's URI points to, and the triangles in STL, OBJ and COLLADA."""

from __future__ import annotations

from collections.abc import Iterator
import os
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np

from ..arrays import Array
from ..errors import UrdfError
from .xml import MAX_BYTES

TRIANGLE = np.dtype([('normal', '<f4', 3), ('corners', '<f4', (3, 3)), ('attribute', '<u2')])


def mesh_path(uri: str, urdf: Path | None) -> Path | None:
    """
    Return the file of a mesh; None if it is not found.

    A package is looked for in the ROS environment, and among the folders above the URDF.

    :param uri: ``package://``, ``file://`` or a path, which may be relative to the URDF
    :param urdf: path of the URDF
    """
    scheme, separator, rest = uri.partition('://')
    folder = Path.cwd() if urdf is None else urdf.resolve().parent
    if not separator:
        candidates = [folder / uri]
    elif scheme == 'file':
        candidates = [Path(unquote(rest))]
    else:
        package, _, inside = rest.partition('/')
        prefixes = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
        candidates = [Path(prefix, 'share', package, inside) for prefix in prefixes if prefix]
        for parent in (folder, *folder.parents):
            candidates += [parent / package / inside]
            candidates += [parent / inside] if parent.name == package else []
    return next((path for path in candidates if path.is_file()), None)


def mesh_triangles(path: Path) -> Array:
    """
    Return the corners of the triangles of a mesh, shape (N, 3, 3), in its unit.

    :param path: STL, OBJ or COLLADA
    :raises UrdfError: the file cannot be read
    """
    try:
        if path.stat().st_size > 4 * MAX_BYTES:
            raise ValueError('is too large')
        data = path.read_bytes()
        readers = {'.stl': _stl, '.obj': _obj, '.dae': _collada}
        if path.suffix.lower() not in readers:
            raise ValueError('only STL, OBJ and DAE are read')
        corners = readers[path.suffix.lower()](data)
        if not len(corners) or not np.isfinite(corners).all():
            raise ValueError('has no finite vertices')
        return corners.reshape(-1, 3, 3)
    except (OSError, LookupError, ValueError, ElementTree.ParseError) as error:
        raise UrdfError('mesh', f'{path}: {error}') from error


def _stl(data: bytes) -> Array:
    count = int.from_bytes(data[80:84], 'little')
    if len(data) == 84 + count * TRIANGLE.itemsize:
        return np.asarray(np.frombuffer(data, TRIANGLE, count, 84)['corners'].astype(np.float64))
    words = (line.split() for line in data.decode('utf-8', 'replace').splitlines())
    return np.array([each[1:4] for each in words if each[:1] == ['vertex']], dtype=np.float64)


def _obj(data: bytes) -> Array:
    words = [line.split() for line in data.decode('utf-8', 'replace').splitlines()]
    vertices = np.array([each[1:4] for each in words if each[:1] == ['v']], dtype=np.float64)
    corners = []
    for each in words:
        if each[:1] == ['f']:
            face = [int(word.partition('/')[0]) for word in each[1:]]
            corners += [face[index] for k in range(1, len(face) - 1) for index in (0, k, k + 1)]
    indices = np.array(corners, dtype=np.intp)
    return np.asarray(vertices[np.where(indices > 0, indices - 1, indices)])


def _collada(data: bytes) -> Array:
    """Return the triangles in the scene, m; the up axis is ignored, as in RViz."""
    root = ElementTree.fromstring(data)
    for element in root.iter():
        element.tag = element.tag.rpartition('}')[2]
    ids = {element.get('id'): element for element in root.iter() if element.get('id')}
    unit = root.find('asset/unit')
    scale = 1.0 if unit is None else float(unit.get('meter', '1'))
    return scale * np.vstack([
        vertices
        for scene in root.iter('visual_scene')
        for node in scene.findall('node')
        for vertices in _of_node(node, np.eye(4), ids)
    ])


def _of_node(
    node: ElementTree.Element, pose: Array, ids: dict[str | None, ElementTree.Element]
) -> Iterator[Array]:
    for child in node:
        step = np.eye(4)
        if child.tag in ('matrix', 'translate', 'scale', 'rotate'):
            numbers = np.array((child.text or '').split(), dtype=np.float64)
            if child.tag == 'matrix':
                step = numbers.reshape(4, 4)
            elif child.tag == 'translate':
                step[:3, 3] = numbers
            elif child.tag == 'scale':
                step[:3, :3] = np.diag(numbers)
            else:
                a, angle = numbers[:3] / np.linalg.norm(numbers[:3]), np.radians(numbers[3])
                cross = np.cross(np.eye(3), a)
                step[:3, :3] += np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
            pose = pose @ step
    for instance in node.findall('instance_geometry'):
        for kind in ('triangles', 'polylist', 'polygons'):
            for faces in ids[instance.get('url', '')[1:]].findall(f'mesh/{kind}'):
                yield _corners(faces, ids) @ pose[:3, :3].T + pose[:3, 3]
    for child in node.findall('node'):
        yield from _of_node(child, pose, ids)


def _corners(faces: ElementTree.Element, ids: dict[str | None, ElementTree.Element]) -> Array:
    """Return the corners of faces, split into triangles, shape (N, 3)."""
    inputs = faces.findall('input')
    (vertex,) = (each for each in inputs if each.get('semantic') == 'VERTEX')
    held = ids[vertex.get('source', '')[1:]].findall('input')
    (position,) = (each for each in held if each.get('semantic') == 'POSITION')
    text = ids[position.get('source', '')[1:]].findtext('float_array') or ''
    points = np.array(text.split(), dtype=np.float64).reshape(-1, 3)
    stride = 1 + max(int(each.get('offset', '0')) for each in inputs)
    offset = int(vertex.get('offset', '0'))
    lists = [np.array((p.text or '').split(), dtype=np.intp)[offset::stride]
             for p in faces.findall('p')]  # fmt: skip
    if (counts := faces.findtext('vcount')) is not None:
        lists = np.split(lists[0], np.cumsum(np.array(counts.split(), dtype=np.intp))[:-1])
    elif faces.tag == 'triangles':
        return points[np.concatenate(lists)]
    return points[[
        face[index] for face in lists for k in range(1, len(face) - 1) for index in (0, k, k + 1)
    ]]
