# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""An exciting motion that was computed before, checked like a new one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, finite_vector
from ...errors import UnknownNameError
from ...feedforward.trajectory import TrajectoryRequest
from ...robot import RobotModel
from .constraints import Constraints
from .excitation import region_with_links
from .feasibility import FeasibleMotion, check_motion
from .limits import ExcitationError, JointLimits, Region
from .motion import RestToRestMotion


def known_motion(
    model: RobotModel,
    limits: JointLimits,
    request: TrajectoryRequest,
    position: ArrayLike,
    region: Region | None = None,
) -> FeasibleMotion:
    """
    Return the motion of a trajectory, if it keeps all bounds of a new exciting motion.

    :param model: the robot, on a fixed base
    :param limits: limits of its joints
    :param request: trajectory with positions, velocities and accelerations at all points
    :param position: positions of the joints that the trajectory does not have, shape (n,); the
        others are ignored
    :param region: region for the origins of links; None for none
    :raises UnknownNameError: the robot has no joint of a name in the trajectory
    :raises ExcitationError: the trajectory is incomplete or leaves a bound
    """
    motion = _motion(model, request, finite_vector('position', position, model.nv))
    excited = np.flatnonzero(np.ptp(motion.positions, axis=0) > 0.0).tolist()
    bounds = limits.with_margins(motion.positions[0], excited)
    links = region_with_links(
        region, model, bounds, motion.positions[0], excited, np.random.default_rng(0)
    )
    constraints = Constraints.of(model, bounds, links)
    check_motion(constraints, motion)
    return FeasibleMotion(motion, limits, constraints)


def _motion(model: RobotModel, request: TrajectoryRequest, position: Array) -> RestToRestMotion:
    """Return the motion of all joints."""
    for name in request.joint_names:
        if name not in model.joint_names:
            raise UnknownNameError('joint', name, model.joint_names)
    columns = [model.joint_names.index(name) for name in request.joint_names]
    count = len(request.times)
    q, qd, qdd = np.tile(position, (count, 1)), *np.zeros((2, count, model.nv))
    for values, field in (
        (q, request.positions), (qd, request.velocities), (qdd, request.accelerations)
    ):  # fmt: skip
        if (field.counts != len(columns)).any() or not np.isfinite(field.values).all():
            raise ExcitationError(
                'trajectory', 'needs finite positions, velocities and accelerations of all its '
                'joints at every point, as excite writes them'
            )  # fmt: skip
        values[:, columns] = field.values.reshape(count, -1)
    rises = count > 1 and (np.diff(request.times) > 0.0).all()
    if not rises or request.times[0] != 0.0 or qd[[0, -1]].any() or qdd[[0, -1]].any():
        raise ExcitationError(
            'trajectory', 'does not start at time 0 and at rest, with rising times and rest at '
            'the end, as those that excite writes'
        )  # fmt: skip
    return RestToRestMotion(model.joint_names, request.times, q, qd, qdd)
