# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""An arm of two links with spheres as collision shapes, and meshes as files."""

import math
from pathlib import Path
import struct

import numpy as np
from numpy.typing import ArrayLike

from .robots import joint, link, robot

BASE, TIP = 0.2, 0.05
"""Radii of the spheres, m."""

UPPER, LOWER = 0.4, 0.3
"""Lengths of the links, m."""


def shaped(text: str, name: str, shape: str, xyz: ArrayLike = (0.0, 0.0, 0.0)) -> str:
    """Return a link's text with a collision shape, as in ``<sphere radius="0.2"/>``."""
    x, y, z = np.ravel(xyz)
    collision = f'<collision><origin xyz="{x} {y} {z}"/><geometry>{shape}</geometry></collision>'
    text = text.replace(f'<link name="{name}"/>', f'<link name="{name}"></link>')
    before, found, after = text.partition(f'<link name="{name}">')
    assert found
    return before + found + collision + after


def shaped_arm(base: str = f'<sphere radius="{BASE}"/>', more: str = '') -> str:
    """Return the arm: base, upper and lower link, in a vertical plane."""
    text = robot(
        link('base'), link('upper', 2.0, (0.2, 0.0, 0.0)), link('lower', 1.0, (0.1, 0.02, 0.0)),
        joint('shoulder', 'revolute', 'base', 'upper', axis=(0, 1, 0)),
        joint('elbow', 'revolute', 'upper', 'lower', xyz=(UPPER, 0, 0), axis=(0, 1, 0)),
        more, name='shaped',
    )
    text = shaped(text, 'base', base)
    text = shaped(text, 'upper', f'<sphere radius="{TIP}"/>', (UPPER / 2.0, 0, 0))
    return shaped(text, 'lower', f'<sphere radius="{TIP}"/>', (LOWER, 0, 0))


def tip_distance(elbow: float) -> float:
    """Return the distance between the spheres of base and lower link, m."""
    square = UPPER**2 + LOWER**2 + 2.0 * UPPER * LOWER * math.cos(elbow)
    return math.sqrt(square) - BASE - TIP


def boxes(*sides: tuple[ArrayLike, ArrayLike]) -> np.ndarray:
    """Return the triangles of boxes, given by two corners each, shape (N, 3, 3)."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [(a, b, c) for a, b, c, _ in faces] + [(a, c, d) for a, _, c, d in faces]
    placed = [
        np.asarray(low) + corners * (np.asarray(high) - np.asarray(low)) for low, high in sides
    ]
    return np.concatenate([each[np.array(triangles)] for each in placed])


def write_stl(path: Path, triangles: np.ndarray) -> None:
    """Write a binary STL file."""
    records = b''.join(
        struct.pack('<12fH', 0.0, 0.0, 0.0, *triangle.ravel(), 0) for triangle in triangles
    )
    path.write_bytes(bytes(80) + struct.pack('<I', len(triangles)) + records)
