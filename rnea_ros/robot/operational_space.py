# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The equation of motion of one link, in operational space."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, finite_array
from ..dynamics import OperationalSpaceDynamics
from ..dynamics import operational_space_dynamics as solve_operational_space
from ..errors import InputError, brief
from .accelerations import forward_dynamics
from .forces import bias_without_gravity, gravity_torques, mass_matrix
from .kinematics import bias_acceleration, jacobian, link_pose, placed_bodies
from .model_data import ModelData


def operational_space_dynamics(
    model: ModelData,
    q: ArrayLike,
    qd: ArrayLike,
    link: str,
    *,
    coordinates: Sequence[int] = (0, 1, 2, 3, 4, 5),
    point: ArrayLike = (0.0, 0.0, 0.0),
) -> OperationalSpaceDynamics:
    """
    Return the equation of motion of a link: Lambda a + mu + p = F.

    a is the link's spatial acceleration, F the wrench [moment; force] that the joints apply, both
    in the link's axes at ``point``. On a moving base, a is the acceleration relative to the world,
    as in :meth:`link_acceleration`, and mu includes what velocity and acceleration of the base
    need; p is the weight alone.

    :param q: joint positions, shape (nq,)
    :param qd: joint velocities, shape (nv,)
    :param link: a link's name
    :param coordinates: the coordinates of the task, 0 to 2 angular, 3 to 5 linear
    :param point: in the link's frame, shape (3,), m
    :raises SingularityError: the coordinates cannot move independently, with the condition
        number; or a joint without inertia to accelerate
    :raises UnknownNameError: the robot has no such link
    """
    rows = _task_rows(coordinates)
    model.frame_of(link)  # raises the error of an unknown link
    rest = np.zeros(model.nv)
    forward_dynamics(model, q, rest, rest)  # raises the error of a joint without inertia
    p = finite_array('point', point, (3,))
    return solve_operational_space(
        f'link {link!r}',
        rows,
        mass_matrix(model, q),
        jacobian(model, q, link, p),
        bias_acceleration(model, q, qd, link, p),
        bias_without_gravity(model, q, qd),
        gravity_torques(model, q),
        _longest_lever(model, q, link, p),
    )


def _longest_lever(model: ModelData, q: ArrayLike, link: str, point: Array) -> float:
    """Return the distance of a link's point from the farthest body, m."""
    bodies = placed_bodies(model, model.checked_position('q', q))
    pose = link_pose(model, bodies, link)
    levers = bodies['p'] - (pose.rotation @ point + pose.translation)
    return float(np.linalg.norm(levers, axis=1).max())


def _task_rows(coordinates: Sequence[int]) -> list[int]:
    """Return the coordinates of a task, checked."""
    try:
        rows = [index(coordinate) for coordinate in coordinates]
    except Exception as error:  # a foreign object's conversion may raise anything
        raise InputError('coordinates', f'expected integers, got {brief(coordinates)}') from error
    if not rows or len(set(rows)) < len(rows) or not set(rows) <= set(range(6)):
        raise InputError(
            'coordinates',
            f'expected different integers from 0 to 5, at least one, got {brief(rows)}',
        )
    return rows
