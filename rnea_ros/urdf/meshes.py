# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Files of meshes: where a URDF's URI points to, and the triangles in STL, OBJ and COLLADA."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import islice
import os
from pathlib import Path
import re
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import UrdfError
from ..files import read_regular
from .description import Shape
from .elements import MAX_SIZE
from .xacro_process import package_folders
from .xml import MAX_BYTES

MAX_TRIANGLES = 500_000  # MuJoCo takes 30 s and 500 MB for their hulls
MAX_ELEMENTS, MAX_DEPTH = 200_000, 100  # of COLLADA

TRIANGLE = np.dtype([('normal', '<f4', 3), ('corners', '<f4', (3, 3)), ('attribute', '<u2')])


def shape_triangles(shape: Shape, urdf: Path | None) -> Array:
    """Return :func:`mesh_triangles` of a shape of a URDF by its path, m, or raise a UrdfError."""
    path = mesh_path(shape.file, urdf)
    if path is None:
        raise UrdfError('mesh', f'{shape.file} is not found')
    triangles = mesh_triangles(path) * shape.size
    if not np.abs(triangles).max() < MAX_SIZE:
        raise UrdfError('mesh', f'{path} is larger than {MAX_SIZE:g} m')
    return triangles


def mesh_path(uri: str, urdf: Path | None) -> Path | None:
    """
    Return the file of a mesh; None if it is not found.

    A package is looked for in the ROS environment, and among the folders above the URDF.

    :param uri: ``package://``, ``file://`` or a path, which may be relative to the URDF
    """
    scheme, separator, rest = uri.partition('://')
    folder = Path.cwd() if urdf is None else urdf.resolve().parent
    if not separator:
        candidates = [folder / uri]
    elif scheme == 'file':
        candidates = [Path(unquote(rest))]
    else:
        package, _, inside = rest.partition('/')
        candidates = [found / inside for found in package_folders(package, folder)]
    return next(filter(os.path.isfile, candidates), None)  # a name may be too long to look for


def mesh_triangles(path: Path) -> Array:
    """
    Return the corners of the triangles of a mesh, shape (N, 3, 3), in its unit.

    :raises UrdfError: the file is not STL, OBJ or COLLADA, or cannot be read
    """
    try:
        data = read_regular(path, 4 * MAX_BYTES)
        readers = {'.stl': _stl, '.obj': _obj, '.dae': _collada}
        if path.suffix.lower() not in readers:
            raise ValueError('only STL, OBJ and DAE are read')
        with np.errstate(all='ignore'):
            corners = readers[path.suffix.lower()](data)
        if not len(corners) or not np.isfinite(corners).all():
            raise ValueError('has no finite vertices')
        return corners.reshape(-1, 3, 3)
    except (ArithmeticError, OSError, LookupError, ValueError, ElementTree.ParseError) as error:
        raise UrdfError('mesh', f'{path}: {error}') from error


def _numbers(words: Iterable[Any], kind: Any = float) -> NDArray[Any]:
    """Return numbers of a text, shape (N,), without a list of all words in memory."""
    numbers: NDArray[Any] = np.fromiter(map(kind, islice(words, 9 * MAX_TRIANGLES + 9)), kind)
    _check_count(len(numbers) // 9)
    return numbers


def _check_count(triangles: int) -> None:
    if triangles > MAX_TRIANGLES:
        raise ValueError(f'has over {MAX_TRIANGLES:,} triangles')


def _rows(data: bytes, name: bytes) -> Iterator[list[str]]:
    """Return the words after a name at the beginning of a line."""
    for line in re.finditer(rb'(?:^|[\r\n])[ \t]*' + name + rb'[ \t]+([^\r\n]*)', data):
        yield line[1].decode('utf-8', 'replace').split()


def _points(data: bytes, name: bytes) -> Array:
    words = (word for row in _rows(data, name) for word in (*row, '', '')[:3])  # '': no number
    return _numbers(words).reshape(-1, 3)


def _fans(corners: NDArray[Any], counts: NDArray[Any]) -> NDArray[Any]:
    """Return the corners of faces, with a number of corners each, split into triangles."""
    triangles = np.maximum(counts - 2, 0)
    if len(corners) != counts.sum():
        raise ValueError(f'has {len(corners)} corners for faces of {counts.sum()}')
    _check_count(int(triangles.sum()))
    first = np.repeat(np.cumsum(counts) - counts, triangles)
    number = np.arange(len(first)) - np.repeat(np.cumsum(triangles) - triangles, triangles)
    fan = np.column_stack((0 * number, number + 1, number + 2))
    return np.asarray(corners[first[:, np.newaxis] + fan])


def _stl(data: bytes) -> Array:
    count = int.from_bytes(data[80:84], 'little')
    if len(data) == 84 + count * TRIANGLE.itemsize:
        _check_count(count)
        return np.asarray(np.frombuffer(data, TRIANGLE, count, 84)['corners'].astype(np.float64))
    return _points(data, b'vertex')


def _obj(data: bytes) -> Array:
    vertices = _points(data, b'v')
    counts = _numbers((len(row) for row in _rows(data, b'f')), int)
    corners = _numbers(
        (word.partition('/')[0] for row in _rows(data, b'f') for word in row), int
    )
    return np.asarray(vertices[_fans(np.where(corners > 0, corners - 1, corners), counts)])


def _collada(data: bytes) -> Array:
    """Return the triangles in the scene, m; the up axis is ignored, as in RViz."""
    elements: list[ElementTree.Element] = []
    for _, element in ElementTree.iterparse(BytesIO(data), ('start',)):
        element.tag = element.tag.rpartition('}')[2]
        elements.append(element)
        if len(elements) > MAX_ELEMENTS:
            raise ValueError(f'has over {MAX_ELEMENTS:,} elements')
    root, ids = elements[0], {element.get('id'): element for element in elements}
    unit = root.find('asset/unit')
    scale = 1.0 if unit is None else float(unit.get('meter', '1'))
    parts: list[Array] = []
    for node in root.iterfind('.//visual_scene/node'):
        for vertices in _of_node(node, np.eye(4), ids):
            parts.append(vertices)
            _check_count(sum(map(len, parts)) // 3)  # a geometry may have many instances
    return scale * np.vstack(parts)


def _of_node(
    node: ElementTree.Element, pose: Array, ids: dict[str | None, ElementTree.Element],
    depth: int = 0
) -> Iterator[Array]:
    if depth > MAX_DEPTH:
        raise ValueError(f'has over {MAX_DEPTH} nested nodes')
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
        yield from _of_node(child, pose, ids, depth + 1)


def _corners(faces: ElementTree.Element, ids: dict[str | None, ElementTree.Element]) -> Array:
    """Return the corners of faces, split into triangles, shape (N, 3)."""
    inputs = faces.findall('input')
    (vertex,) = (each for each in inputs if each.get('semantic') == 'VERTEX')
    held = ids[vertex.get('source', '')[1:]].findall('input')
    (position,) = (each for each in held if each.get('semantic') == 'POSITION')
    text = ids[position.get('source', '')[1:]].findtext('float_array') or ''
    points = _numbers(_words(text)).reshape(-1, 3)
    stride = 1 + max(int(each.get('offset', '0')) for each in inputs)
    offset = int(vertex.get('offset', '0'))
    lists = [_numbers(islice(_words(p.text or ''), offset, None, stride), int)
             for p in faces.findall('p')]  # fmt: skip
    corners = np.concatenate(lists)
    if (words := faces.findtext('vcount')) is not None:
        corners = _fans(corners, _numbers(_words(words), int)).ravel()
    elif faces.tag != 'triangles':
        corners = _fans(corners, np.array([len(face) for face in lists])).ravel()
    return np.asarray(points[corners])


def _words(text: str) -> Iterator[str]:
    return (word[0] for word in re.finditer(r'\S+', text))
