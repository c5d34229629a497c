# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Checks that mass and inertia of links are physical."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math

import numpy as np

from ..arrays import Array
from ..errors import UrdfError
from .description import Inertial, Joint, Link, Origin

MAX_GYRATION = 2.0  # greatest radius of gyration of a link by the robot's reach, at least 1 m

MIN_SIZE, MAX_SIZE = 0.215, 21.5
"""Of the moving mass, as its cube root by the reach, kg^(1/3)/m: 1.3 to 4.6 in vendors' robots."""

UNUSUAL_MASS = 'the moving links have a mass of'  # start of the warning
MAX_SLIDE, MARGIN = 1.0, 0.1  # m: part of a prismatic joint's range; extent of the last link
_NO_MASS = Inertial(Origin(), 0.0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))


def check_inertia(link: Link, strict: bool, warnings: list[str]) -> None:
    """Warn of, or raise an error for, an inertia that no distribution of mass can have."""
    if link.inertial is None:
        return
    reason = inertia_problem(link.inertial.mass, link.inertial.matrix)
    if not reason:
        return
    if strict:
        raise UrdfError(f'link {link.name!r}', f'inertia {reason}')
    warnings.append(f'link {link.name!r}: inertia {reason}; it is used unchanged')


def inertia_problem(mass: float, matrix: Array, rounding: float = 0.0) -> str:
    """
    Return why no distribution of mass, kg, can have an inertia, kg m^2; empty if one can.

    No principal moment may be larger than the sum of the other two. Equality is a flat body, with
    a moment of zero a rod or a point.

    :param matrix: about the centre of mass, shape (3, 3)
    :param rounding: size of rounding errors in the matrix; one part per million of the greatest
        moment is permitted in any case
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


def warn_of_implausible(
    root: str, links: Mapping[str, Link], joints: Mapping[str, Joint], warnings: list[str]
) -> None:
    """Warn of joints that move no mass, and of moving masses that do not suit the robot's size."""
    carrier, distance, reach = {root: ''}, {root: 0.0}, 0.0  # last joint; way along joints, m
    loaded: set[str] = set()
    bodies: list[tuple[float, float, float, str]] = []  # radius of gyration, mass, inertia, name
    for joint in joints.values():
        name, inertial = joint.child, links[joint.child].inertial or _NO_MASS
        carrier[name] = joint.name if joint.moves else carrier[joint.parent]
        distance[name] = distance[joint.parent] + math.hypot(*joint.origin.xyz)
        if joint.type == 'prismatic':
            distance[name] += min(max(-joint.limits.lower, joint.limits.upper, 0.0), MAX_SLIDE)
        reach = max(reach, distance[name] + math.hypot(*inertial.origin.xyz))
        if any((inertial.mass, *inertial.inertia)):
            loaded.add(carrier[name])
        if inertial.mass > 0.0 and carrier[name]:
            moment = max(float(np.linalg.eigvalsh(inertial.matrix)[2]), 0.0)
            bodies.append((math.sqrt(moment / inertial.mass), inertial.mass, moment, name))

    moving = [joint for joint in joints.values() if joint.moves]
    massless = [joint for joint in moving if joint.name not in loaded]
    if massless:
        warnings.append(
            'no moving link has a mass: all efforts are zero; give the links an <inertial>'
            if massless == moving else f'link {massless[0].child!r} moves with joint '
            f'{massless[0].name!r} but has no mass and no inertia{in_all(massless)}'
        )
    large = [body for body in bodies if body[0] > MAX_GYRATION * max(reach, 1.0)]
    size = (total := sum(body[1] for body in bodies)) ** (1.0 / 3.0)
    if large:
        radius, mass, moment, name = max(large, key=lambda body: body[0])
        warnings.append(
            f'link {name!r}: mass {mass:.3g} kg and inertia {moment:.3g} kg m^2 give a radius of '
            f'gyration of {radius:.3g} m in a robot of {reach:.3g} m; are the units kg and '
            f'kg m^2?{in_all(large)}'
        )
    elif len(moving) > 2 and total and not MIN_SIZE < size / (reach + MARGIN) < MAX_SIZE:
        warnings.append(
            f'{UNUSUAL_MASS} {total:.3g} kg in a robot of {reach:.3g} m; are the '
            'units kg and m?'
        )


def in_all(found: Sequence[object], what: str = 'links') -> str:
    """Return the end of a warning about the first of several things."""
    return f' ({len(found)} {what} in all)' if len(found) > 1 else ''
