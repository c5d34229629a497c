# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Soft bounds of the bodies: the total mass, and centres of mass inside the links' geometry.

A physical body may still be an impossible one, such as a flange whose centre of mass lies 0.1 m
beside it. Bounds decide where the efforts leave it open; efforts that contradict them prevail.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from ...arrays import Array
from ...dynamics.tree import Placement
from ...errors import InputError, UrdfError
from ...robot import RobotModel
from ...urdf import UNUSUAL_MASS, RobotDescription, Shape, shape_triangles
from ..run import IdentificationError, Run

MASS_FACTOR = 1.6
"""Greatest factor between the total masses of arm and URDF; errors of CAD masses are smaller."""

MAX_FACTOR = 1e6  # between a stated mass and that of the URDF
KNOWN_MASS = 0.01  # relative error of a total mass that was weighed

CORNERS: Array = np.array([*product((-1.0, 1.0), repeat=3)])


def mass_bounds(model: RobotModel, total_mass: float | None) -> tuple[Array, Array]:
    """
    Return A and b with A phi <= b for plausible standard parameters phi of the bodies.

    A violation of 1 is one of the whole mass, or of a body's mass times the size of its box.

    :param total_mass: mass of the whole robot, kg; None for that of the URDF within a factor
    :raises InputError: the mass of the moving links is not positive, or far from the URDF's
    """
    prior = model.inertial_parameters
    masses = prior[::10]
    least, greatest = masses.sum() / MASS_FACTOR, masses.sum() * MASS_FACTOR
    if total_mass is not None:
        moving = total_mass - fixed_mass(model)
        if not 0.0 < moving < MAX_FACTOR * masses.sum():
            raise InputError(
                'total_mass', f'{total_mass:g} kg leave the moving links {moving:.4g} kg, which '
                f'have {masses.sum():.4g} kg in the URDF; correct one of the two'
            )
        least, greatest = (1.0 - KNOWN_MASS) * moving, (1.0 + KNOWN_MASS) * moving
    total = np.zeros(prior.size)
    total[::10] = 1.0 / masses.sum()
    rows, limits = [total, -total], [greatest / masses.sum(), -least / masses.sum()]
    for body, box in _boxes(model).items():
        # A centre of mass that the URDF has outside may stay there.
        mass, *h = prior[10 * body : 10 * body + 4]
        if mass <= 0.0:
            continue
        com = np.array(h) / mass
        lower, upper = np.minimum(box[0], com), np.maximum(box[1], com)
        size = mass * np.linalg.norm(upper - lower)
        for sign, bound in ((-1.0, lower), (1.0, upper)):
            sides = np.zeros((3, prior.size))
            sides[:, 10 * body] = -sign * bound / size
            sides[:, 10 * body + 1 : 10 * body + 4] = sign / size * np.eye(3)
            rows += [*sides]
            limits += [0.0] * 3
    return np.array(rows), np.array(limits)


def scaled_prior(
    model: RobotModel, runs: Sequence[Run], total_mass: float | None
) -> tuple[RobotModel, list[str]]:
    """
    Return the URDF's model, with all masses times one factor if they are implausible; notes.

    The factor is that of the total mass, or else the one that explains the efforts best.

    :raises IdentificationError: the efforts show no factor
    """
    warnings = () if model.description is None else model.description.warnings
    unusual = [each for each in warnings if each.startswith(UNUSUAL_MASS)]
    if not unusual:
        return model, []
    phi = model.inertial_parameters
    if total_mass is not None:
        factor = (total_mass - fixed_mass(model)) / float(phi[::10].sum())
    else:
        rigid = np.concatenate([
            model.inverse_dynamics_batch(run.q, run.qd, run.qdd) for run in runs
        ])
        effort = np.nan_to_num(np.concatenate([run.effort for run in runs]))
        squares = np.where(effort.any(axis=0), (rigid**2).sum(axis=0), 0.0).sum()
        factor = float((rigid * effort).sum() / max(squares, np.finfo(float).tiny))
    if factor <= 0.0 or not np.isfinite(factor):
        raise IdentificationError(
            f'{unusual[0]} The efforts show no factor of it; state the mass of the robot '
            '(total_mass; identify: --total-mass)'
        )
    return model.with_inertial_parameters(factor * phi), [
        f'{unusual[0]} The fit begins with all masses times {factor:.3g}; '
        + ('that is the stated mass' if total_mass is not None else
           'better state the mass of the robot (total_mass; identify: --total-mass)')
    ]


def fixed_mass(model: RobotModel) -> float:
    """Return the mass of the links that do not move, kg."""
    description, frames = model.description, model.tree.frames
    moving = {frames[name].body for name in model.body_names}
    links = {} if description is None else description.links
    return sum(
        link.inertial.mass
        for name, link in links.items()
        if link.inertial is not None and frames[name].body not in moving
    )


def mass_notes(model: RobotModel, phi: Array, total_mass: float | None) -> list[str]:
    """Return a note if the identified total mass is neither the URDF's nor the given one."""
    before, after = float(model.inertial_parameters[::10].sum()), float(phi[::10].sum())
    if total_mass is not None:
        before, factor, what = total_mass - fixed_mass(model), 1.0 + 3.0 * KNOWN_MASS, 'as given'
    else:
        factor, what = 0.95 * MASS_FACTOR, 'in the URDF'
    if 1.0 / factor <= after / before <= factor:
        return []
    return [
        f'the moving links have {after:.3g} kg in all, {before:.3g} kg {what}: weigh the arm, or '
        'read its data sheet (total_mass), and check the unit of the efforts'
    ]


def _boxes(model: RobotModel) -> dict[int, Array]:
    """Return lower and upper corner of the geometry in each body's frame, by its number."""
    description, frames = model.description, model.tree.frames
    if description is None:
        return {}
    points, boxes = link_points(description), {}
    for number, name in enumerate(model.body_names):
        links = [link for link in description.links if frames[link].body == frames[name].body]
        moved = []
        for link in links:
            placement = frames[name].placement.inverse() @ frames[link].placement
            if link in points:
                moved.append(points[link] @ placement.rotation.T + placement.translation)
            elif (inertial := description.links[link].inertial) is not None and inertial.mass:
                break  # this part of the body may be anywhere
        else:
            if moved:
                corners = np.concatenate(moved)
                boxes[number] = np.array([corners.min(axis=0), corners.max(axis=0)])
    return boxes


def link_points(description: RobotDescription) -> dict[str, Array]:
    """Return points (any, 3), m, whose box encloses a link's geometry, if it can be read."""
    found: dict[str, list[Array]] = {}
    unread = set(description.unread_shapes)
    for shape in description.shapes:
        try:
            found.setdefault(shape.link, []).append(_points(shape))
        except UrdfError:
            unread.add(shape.link)
    return {link: np.concatenate(found[link]) for link in found.keys() - unread}


def _points(shape: Shape) -> Array:
    """Return the corners of a primitive's box, or of a mesh, in the link's frame."""
    size = np.array(shape.size)
    if shape.kind == 'mesh':
        points = shape_triangles(shape, None).reshape(-1, 3)
    elif shape.kind == 'box':
        points = CORNERS * size / 2.0
    else:
        radius, length = size[0], size[1] if len(size) > 1 else 0.0
        half = length / 2.0 + (0.0 if shape.kind == 'cylinder' else radius)
        points = CORNERS * [radius, radius, half]
    placement = Placement.from_xyz_rpy(shape.origin.xyz, shape.origin.rpy)
    return np.asarray(points @ placement.rotation.T + placement.translation)
