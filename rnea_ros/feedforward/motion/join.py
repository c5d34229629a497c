# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Joins a new trajectory to the active one, which is followed until the new one takes over.

The result is one trajectory in the active one's time, so that it can replace the active one at any
moment before the handover without a step, at any speed factor. Joints that the new trajectory
leaves out follow the active one to its end.

No polynomial is fitted again: each segment is a part of a segment of one of the two. In
ros2_control's joint_trajectory_controller (JTC), joints that are left out are sampled at the new
points and interpolated between them.
"""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import NamedTuple

import numpy as np

from ...arrays import Array, Indices
from .trajectory import QUINTIC, Join, Knots, Trajectory

# Binomial coefficients: row j, column k is k over j.
_BINOMIALS = np.array([[float(comb(k, j)) for k in range(6)] for j in range(6)])
_POWERS = np.arange(6)


class Handover(NamedTuple):
    """Where a new trajectory takes over from the active one, in its time, s."""

    active: Trajectory
    past: float  # time from which on the result is needed
    time: float  # time of the handover, not before ``past``


def join(handover: Handover, new: Trajectory, columns: Indices) -> Trajectory:
    """
    Return the active trajectory up to the handover, and from there on the new one for some joints.

    The new one begins in the active one's state at the handover.
    """
    active, begin, n = handover.active, handover.time, len(new.joint_names)
    zero = begin - float(new.knots.times[0])
    times = zero + new.knots.times
    times[0] = begin
    new = Trajectory(new.joint_names, new.start_time, replace(new.knots, times=times))
    if active.join is not None and active.join.begin <= begin:
        followed = active.join.sources
    else:  # without the trajectories that the active one was joined to
        source = Trajectory(
            active.joint_names, None, active.knots, active.coefficients, active.efforts
        )
        followed = ((source, np.arange(n)),)
    sources = [
        (source, others)
        for source, joints in followed
        if (others := np.setdiff1d(joints, columns)).size
    ]
    sources.append((new, columns))

    needed = np.searchsorted(active.knots.times, handover.past, side='right') - 1
    before = active.knots.times[max(int(needed), 0) :]
    before = before[before < begin]
    after = [source.knots.times[source.knots.times > begin] for source, _ in sources]
    times = np.unique(np.concatenate((before, [begin], *after)))
    split = before.size  # segments of the active trajectory alone
    coefficients, efforts = (np.empty((times.size - 1, rows, n)) for rows in (6, 2))
    q, qd, qdd = np.zeros((3, times.size, n))
    coefficients[:split], efforts[:split] = _cut(active, times[: split + 1])
    for source, joints in sources:
        of_positions, of_efforts = _cut(source, times[split:])
        coefficients[split:, :, joints] = of_positions[:, :, joints]
        efforts[split:, :, joints] = of_efforts[:, :, joints]
        q[-1, joints] = source.final_position[joints]
    h = np.diff(times)[:, np.newaxis]
    q[:-1] = coefficients[:, 0]
    qd[:-1] = coefficients[:, 1] / h
    qdd[:-1] = 2.0 * coefficients[:, 2] / (h * h)
    return Trajectory(
        active.joint_names, new.start_time,
        Knots(times, q, qd, qdd, np.full(times.size, QUINTIC)),
        coefficients, efforts if efforts.any() else None,
        Join(active.root, begin, zero, tuple(sources)),
    )


def _cut(trajectory: Trajectory, times: Array) -> tuple[Array, Array]:
    """
    Return coefficients and efforts of a trajectory between given times; at rest outside of it.

    With t = s h + t_k in a segment of h seconds from t_k, and s = s_0 + r s' in its part from
    s_0 of length r, sum_k c_k s^k is sum_j c'_j s'^j with
    c'_j = r^j sum_k (k over j) s_0^(k - j) c_k. The times contain all knots between them.
    """
    knots = trajectory.knots.times
    segments = np.searchsorted(knots, times[:-1], side='right') - 1
    inside = (segments >= 0) & (segments < knots.size - 1)
    positions = np.zeros((segments.size, 6, len(trajectory.joint_names)))
    positions[:, 0] = trajectory.knots.positions[np.maximum(segments, 0)]
    k = segments[inside]
    h = np.diff(knots)[k]
    s0 = (times[:-1][inside] - knots[k]) / h
    r = np.diff(times)[inside] / h
    exponents = np.maximum(_POWERS - _POWERS[:, np.newaxis], 0)
    shift = _BINOMIALS * s0[:, np.newaxis, np.newaxis] ** exponents
    shift *= (r[:, np.newaxis] ** _POWERS)[:, :, np.newaxis]
    positions[inside] = shift @ trajectory.coefficients[k]
    efforts = np.zeros((segments.size, 2, len(trajectory.joint_names)))
    if trajectory.efforts is not None:
        share = np.stack((s0, s0 + r), axis=1)[:, :, np.newaxis]
        at_start, at_end = trajectory.efforts[k][:, :1], trajectory.efforts[k][:, 1:]
        efforts[inside] = (1.0 - share) * at_start + share * at_end
    return positions, efforts
