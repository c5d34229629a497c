# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Inertias of homogeneous bodies of simple shape.

Each is about the shape's centre, in its axes; that of a cone about the centre of its base. Masses
are in kg, sizes in m; ``inner_radius`` is that of a hollow. Sizes of 0 give the thin bodies of the
texts' tables: a cylinder of radius 0 is a rod, one of length 0 a disc; a box with an edge of 0 is
a plate; ``inner_radius=radius`` makes a shell. Inertias are added after they were moved to one
frame (parallel axes)::

    handle = shapes.cylinder(0.5, radius=0.02, length=0.3)
    head = shapes.box(1.2, (0.05, 0.12, 0.05))
    hammer = handle + head.transformed(Placement(np.eye(3), np.array([0.0, 0.0, 0.15])))

A hole is subtracted, with the mass that is missing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import finite_number, finite_vector
from ...errors import InputError
from .rigid_body import RigidBodyInertia


def box(mass: float, size: ArrayLike) -> RigidBodyInertia:
    """Return the inertia of a box with edges along x, y, z, shape (3,)."""
    x, y, z = (_not_negative('size', edge) for edge in finite_vector('size', size, 3))
    # m/12 (y^2 + z^2)
    return _about_centre(mass, (y * y + z * z, z * z + x * x, x * x + y * y), 1.0 / 12.0)


def ellipsoid(mass: float, radii: ArrayLike) -> RigidBodyInertia:
    """Return the inertia of an ellipsoid with semi-axes along x, y, z, shape (3,)."""
    x, y, z = (_not_negative('radii', radius) for radius in finite_vector('radii', radii, 3))
    # m/5 (y^2 + z^2)
    return _about_centre(mass, (y * y + z * z, z * z + x * x, x * x + y * y), 1.0 / 5.0)


def sphere(mass: float, radius: float, inner_radius: float = 0.0) -> RigidBodyInertia:
    """Return the inertia of a ball or a hollow sphere."""
    R, r = _hollow(radius, inner_radius)
    # 2/5 m (R^5 - r^5) / (R^3 - r^3), divided by R - r, which is zero for a shell
    fourth = R**4 + R**3 * r + R * R * r * r + R * r**3 + r**4
    second = R * R + R * r + r * r
    moment = fourth / second if second else 0.0
    return _about_centre(mass, (moment, moment, moment), 2.0 / 5.0)


def cylinder(
    mass: float, radius: float, length: float, inner_radius: float = 0.0
) -> RigidBodyInertia:
    """Return the inertia of a cylinder or a tube with its axis along z."""
    R, r = _hollow(radius, inner_radius)
    z = _not_negative('length', length)
    # m/2 (R^2 + r^2) about the axis, m/12 (3 (R^2 + r^2) + z^2) across
    across = 3.0 * (R * R + r * r) + z * z
    return _about_centre(mass, (across, across, 6.0 * (R * R + r * r)), 1.0 / 12.0)


def cone(mass: float, radius: float, height: float) -> RigidBodyInertia:
    """
    Return the inertia of a cone about the centre of its base; z points to the tip.

    The centre of mass is at a quarter of the height.
    """
    R, z = _not_negative('radius', radius), _not_negative('height', height)
    # 3/10 m R^2 about the axis, 3/20 m R^2 + 3/80 m z^2 across, about the centre of mass
    across = 12.0 * R * R + 3.0 * z * z
    body = _about_centre(mass, (across, across, 24.0 * R * R), 1.0 / 80.0)
    return RigidBodyInertia.from_centre_of_mass(body.mass, np.array([0.0, 0.0, 0.25 * z]), body.J)


def _about_centre(
    mass: float, moments: tuple[float, float, float], share: float
) -> RigidBodyInertia:
    """Return an inertia of principal moments ``share * mass * moments``, in m^2."""
    m = _not_negative('mass', mass)
    return RigidBodyInertia(m, np.zeros(3), share * m * np.diag(moments))


def _hollow(radius: float, inner_radius: float) -> tuple[float, float]:
    R, r = _not_negative('radius', radius), _not_negative('inner_radius', inner_radius)
    if r > R:
        raise InputError('inner_radius', f'is {r}, above the radius {R}')
    return R, r


def _not_negative(argument: str, value: float) -> float:
    number = finite_number(argument, value)
    if number < 0.0:
        raise InputError(argument, f'is {number}, below 0')
    return number
