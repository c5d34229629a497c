# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Checks that mass and inertia of links are physical."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..arrays import Array
from ..errors import UrdfError
from .description import Joint, Link


def check_inertia(link: Link, strict: bool, warnings: list[str]) -> None:
    """Warn of, or raise an error for, an inertia that no distribution of mass can have."""
    if link.inertial is None:
        return
    reason = inertia_problem(link.inertial.mass, link.inertial.matrix)
    if not reason:
        return
    if strict:
        raise UrdfError(f'link {link.name!r}', f'inertia {reason}')
    warnings.append(f'link {link.name!r}: inertia {reason}')


def inertia_problem(mass: float, matrix: Array, rounding: float = 0.0) -> str:
    """
    Return why no distribution of mass can have an inertia; empty if one can.

    No principal moment may be larger than the sum of the other two. Equality is a flat body, with
    a moment of zero a rod or a point.

    :param mass: kg
    :param matrix: about the centre of mass, shape (3, 3), kg m^2
    :param rounding: size of rounding errors in the matrix, kg m^2; one part per million of the
        greatest moment is permitted in any case
    """
    least, middle, greatest = np.linalg.eigvalsh(matrix)
    moments = f'principal moments {least:.6g}, {middle:.6g}, {greatest:.6g}'
    if not np.isfinite((least, middle, greatest)).all():
        return f'is too large ({moments})'
    rounding += 1e-6 * max(greatest, 0.0)
    if least < -rounding:
        return f'has a negative principal moment ({moments})'
    if least < greatest - middle - rounding:  # the sum may overflow
        return f'breaks the triangle inequality ({moments})'
    if mass == 0.0 and greatest > rounding:
        return f'is not zero, but the mass is zero ({moments})'
    return ''


def warn_of_massless(
    links: Mapping[str, Link], joints: Mapping[str, Joint], warnings: list[str]
) -> None:
    """Warn of joints that move no mass: neither the child link nor links fixed to it have any."""
    fixed_children: dict[str, list[str]] = {name: [] for name in links}
    for joint in joints.values():
        if not joint.moves:
            fixed_children[joint.parent].append(joint.child)
    for joint in joints.values():
        if not joint.moves:
            continue
        rigid, mass = [joint.child], 0.0
        while rigid:
            name = rigid.pop()
            inertial = links[name].inertial
            mass += inertial.mass if inertial is not None else 0.0
            rigid.extend(fixed_children[name])
        if mass == 0.0:
            warnings.append(
                f'link {joint.child!r} moves with joint {joint.name!r} but has no mass; '
                'its inertia is set to zero'
            )
