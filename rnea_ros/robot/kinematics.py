# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Poses, velocities, accelerations and Jacobians of links; the centre of mass.

The functions of a control loop have two paths, as in :mod:`~rnea_ros.robot.equation_of_motion`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array, finite_result, finite_result_required
from ..dynamics.kernels import kinematics
from ..dynamics.tree import Placement
from ..errors import UnknownNameError
from .model_data import ModelData, checked, checked_names, checked_positions, computed, frame_of

ORIGIN = np.zeros(3)
ORIGIN.setflags(write=False)


def forward_kinematics(model: ModelData, q: ArrayLike, link: str) -> Array:
    """
    Return the pose of a link's frame in the root link's frame, homogeneous, shape (4, 4).

    If the base floats, the pose in the world frame.
    """
    T = np.empty((4, 4))
    body, frame = kernel_frame(model, link)
    if model.shared.link_pose_into(body, frame, q, T):
        return T
    return computed(model, 'link_pose_into', T, body, frame, q=q)


@finite_result_required
def link_positions_batch(model: ModelData, q: ArrayLike, links: Sequence[str]) -> Array:
    """
    Return the origins of links in the root link's frame, shape (N, links, 3), m.

    If the base floats, in the world frame.
    """
    frames = [frame_of(model, link) for link in checked_names('links', links)]
    body = np.array([frame.body for frame in frames], dtype=np.intp)
    offsets = np.array([frame.placement.translation for frame in frames]).reshape(-1, 3)
    R, p = body_poses(model, checked_positions(model, q), body)
    p += np.einsum('nkij,kj->nki', R, offsets)
    return p


def body_poses(
    model: ModelData, q: Array, chosen: NDArray[np.intp] | slice = slice(None)
) -> tuple[Array, Array]:
    """Return R (N, bodies, 3, 3) and origins (N, bodies, 3) of bodies in the base frame."""
    bodies: NDArray[np.void] = model.thread.workspace.bodies
    rotations, origins = bodies['R'], bodies['p']
    count = len(origins[chosen])
    R, p = np.empty((len(q), count, 3, 3)), np.empty((len(q), count, 3))
    for k, sample in enumerate(q):
        kinematics.place_bodies(bodies, sample)
        R[k], p[k] = rotations[chosen], origins[chosen]
    return R, p


def jacobian(model: ModelData, q: ArrayLike, link: str, point: ArrayLike = ORIGIN) -> Array:
    """
    Return the Jacobian J of a point on a link: its velocity is v = J qd, [angular; linear].

    v is in the link's axes; the base is taken to be at rest. J has the shape (6, nv).
    """
    J = np.empty((6, model.nv))
    body, frame = kernel_frame(model, link)
    if model.shared.jacobian_into(body, frame, point, q, J):
        return J
    return computed(model, 'jacobian_into', J, body, frame, point=point, q=q)


def jacobian_rate(
    model: ModelData, q: ArrayLike, qd: ArrayLike, link: str, point: ArrayLike = ORIGIN
) -> Array:
    """Return Jdot, the time derivative of the elements of :meth:`jacobian`, shape (6, nv)."""
    J_rate = np.empty((6, model.nv))
    body, frame = kernel_frame(model, link)
    if model.shared.jacobian_rate_into(body, frame, point, q, qd, J_rate):
        return J_rate
    return computed(model, 'jacobian_rate_into', J_rate, body, frame, point=point, q=q, qd=qd)


def link_velocity(model: ModelData, q: ArrayLike, qd: ArrayLike, link: str) -> Array:
    """
    Return a link's spatial velocity [angular; linear], shape (6,), rad/s and m/s.

    In the link's own axes, the linear part at its origin; it includes the base's motion.
    """
    return velocity_and_acceleration(model, q, qd, model.rest, link)[0]


def link_acceleration(
    model: ModelData, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, link: str
) -> Array:
    """
    Return a link's spatial acceleration [angular; linear], shape (6,), rad/s^2 and m/s^2.

    In the link's own axes; it is the rate of change of the numbers of :meth:`link_velocity`. The
    acceleration of the link's origin (the reading of an accelerometer there, without its gravity
    part) is the linear part plus angular velocity x linear velocity.
    """
    return velocity_and_acceleration(model, q, qd, qdd, link)[1]


def bias_acceleration(
    model: ModelData, q: ArrayLike, qd: ArrayLike, link: str, point: ArrayLike = ORIGIN
) -> Array:
    """
    Return a link's spatial acceleration at qdd = 0, shape (6,), rad/s^2 and m/s^2.

    Axes and point are those of :meth:`jacobian`. On a base at rest it is Jdot qd, and at the
    link's origin link_acceleration = J qdd + Jdot qd. On a moving base it includes the base's
    velocity and acceleration.
    """
    return velocity_and_acceleration(model, q, qd, model.rest, link, point)[1]


def centre_of_mass(model: ModelData, q: ArrayLike) -> Array:
    """
    Return the centre of mass of the whole robot including its root link, shape (3,), m.

    In the root link's frame; in the world frame if the base floats; zeros for a robot without
    mass.
    """
    c = np.empty(3)
    if model.shared.centre_of_mass_into(q, c):
        return c
    return computed(model, 'centre_of_mass_into', c, q=q)


def kernel_frame(model: ModelData, link: str) -> tuple[int, Array]:
    """Return the frame of a link as the checked kernels take it: its body, and (4, 3)."""
    try:
        return model.link_frames[link]
    except (KeyError, TypeError):
        raise UnknownNameError('link', link, model.link_frames) from None


def placed_bodies(model: ModelData, q: Array) -> NDArray[np.void]:
    """Compute the poses of this thread's bodies at checked positions q, and return the bodies."""
    bodies: NDArray[np.void] = model.thread.workspace.bodies
    kinematics.place_bodies(bodies, q)
    return bodies


def link_pose(model: ModelData, bodies: NDArray[np.void], link: str) -> Placement:
    """Return a link's pose in the base frame, from the poses of bodies."""
    frame = frame_of(model, link)
    body = bodies[frame.body]
    return Placement(body['R'].copy(), body['p'].copy()) @ frame.placement


def body_to_frame(placement: Placement) -> tuple[Array, Array]:
    """Return E and r of the transform from a body's coordinates to a frame's."""
    return placement.rotation.T, placement.translation


def velocity_and_acceleration(
    model: ModelData, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, link: str,
    point: ArrayLike = ORIGIN,
) -> tuple[Array, Array]:
    """Return spatial velocity and acceleration of a link's point, in the link's axes."""
    v, a = np.empty(6), np.empty(6)
    body, frame = kernel_frame(model, link)
    if model.shared_weightless.link_motion_into(body, frame, point, q, qd, qdd, v, a):
        return v, a
    arguments = checked(model, point=point, q=q, qd=qd, qdd=qdd)
    model.thread.weightless.link_motion_into(body, frame, *arguments, v, a)
    return finite_result(v), finite_result(a)
