# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Poses, velocities, accelerations and Jacobians of links; the centre of mass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array, finite_result_required, finite_vector
from ..dynamics.kernels import kinematics
from ..dynamics.tree import Placement
from .model_data import ModelData


@finite_result_required
def forward_kinematics(model: ModelData, q: ArrayLike, link: str) -> Array:
    """
    Return the pose of a link's frame in the root link's frame, homogeneous, shape (4, 4).

    If the base floats, the pose in the world frame.

    :param q: joint positions, shape (nq,)
    :param link: a link's name
    :raises UnknownNameError: the robot has no such link
    """
    bodies = placed_bodies(model, model._checked_position('q', q))
    return link_pose(model, bodies, link).matrix()


@finite_result_required
def link_positions_batch(model: ModelData, q: ArrayLike, links: Sequence[str]) -> Array:
    """
    Return the origins of links in the root link's frame, shape (N, links, 3), m.

    If the base floats, in the world frame.

    :param q: joint positions, shape (N, nq)
    :param links: names of links
    :raises UnknownNameError: the robot has no such link
    """
    names = model._names('links', links)
    frames = [model._frame(link) for link in names]
    body = np.array([frame.body for frame in frames], dtype=np.intp)
    offsets = np.array([frame.placement.translation for frame in frames]).reshape(-1, 3)
    samples = model._checked_positions(q)
    R, p = body_poses(model, samples, body)
    p += np.einsum('nkij,kj->nki', R, offsets)
    return p


def body_poses(
    model: ModelData, q: Array, chosen: NDArray[np.intp] | slice = slice(None)
) -> tuple[Array, Array]:
    """
    Return rotations (N, bodies, 3, 3) and origins (N, bodies, 3) of bodies in the base frame.

    :param model: the robot
    :param q: joint positions, checked, shape (N, nq)
    :param chosen: numbers of bodies; all by default
    """
    bodies: NDArray[np.void] = model._thread_memory.workspace.bodies
    rotations, origins = bodies['R'], bodies['p']
    count = len(origins[chosen])
    R, p = np.empty((len(q), count, 3, 3)), np.empty((len(q), count, 3))
    for k, sample in enumerate(q):
        kinematics.place_bodies(bodies, sample)
        R[k], p[k] = rotations[chosen], origins[chosen]
    return R, p


@finite_result_required
def jacobian(
    model: ModelData, q: ArrayLike, link: str, point: ArrayLike = (0.0, 0.0, 0.0)
) -> Array:
    """
    Return J with v = J qd: a link's velocity [angular; linear] relative to a base at rest.

    v is in the link's axes, its linear part is that of ``point`` on the link.

    :param q: joint positions, shape (nq,)
    :param link: a link's name
    :param point: in the link's frame, shape (3,), m
    :return: shape (6, nv)
    :raises UnknownNameError: the robot has no such link
    """
    frame = model._frame(link)
    p = finite_vector('point', point, 3)
    bodies = placed_bodies(model, model._checked_position('q', q))
    J = np.empty((6, model._nv))
    E, r = body_to_frame(frame.placement @ Placement(np.eye(3), p))
    kinematics.frame_jacobian(bodies, frame.body, E, r, J)
    return J


@finite_result_required
def jacobian_rate(
    model: ModelData,
    q: ArrayLike,
    qd: ArrayLike,
    link: str,
    point: ArrayLike = (0.0, 0.0, 0.0),
) -> Array:
    """
    Return Jdot, the rate of the numbers of :meth:`jacobian` during a motion, shape (6, nv).

    :param q: joint positions, shape (nq,)
    :param qd: joint velocities, shape (nv,)
    :param link: a link's name
    :param point: in the link's frame, shape (3,), m
    :raises UnknownNameError: the robot has no such link
    """
    frame = model._frame(link)
    p = finite_vector('point', point, 3)
    bodies = model._thread_memory.weightless.bodies
    state = (model._checked_position('q', q), model._checked_velocity('qd', qd))
    kinematics.move_bodies(bodies, *state, np.zeros(model._nv))
    J_rate = np.empty((6, model._nv))
    E, r = body_to_frame(frame.placement @ Placement(np.eye(3), p))
    kinematics.frame_jacobian_rate(bodies, frame.body, E, r, J_rate)
    return J_rate


@finite_result_required
def link_velocity(model: ModelData, q: ArrayLike, qd: ArrayLike, link: str) -> Array:
    """
    Return a link's spatial velocity [angular; linear], shape (6,), rad/s and m/s.

    In the link's own axes, the linear part at its origin; it includes the base's motion.

    :param q: joint positions, shape (nq,)
    :param qd: joint velocities, shape (nv,)
    :param link: a link's name
    :raises UnknownNameError: the robot has no such link
    """
    return velocity_and_acceleration(model, q, qd, np.zeros(model._nv), link)[0]


@finite_result_required
def link_acceleration(
    model: ModelData, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, link: str
) -> Array:
    """
    Return a link's spatial acceleration [angular; linear], shape (6,), rad/s^2 and m/s^2.

    In the link's own axes; it is the rate of change of the numbers of :meth:`link_velocity`. The
    acceleration of the link's origin (the reading of an accelerometer there, without its gravity
    part) is the linear part plus angular velocity x linear velocity.

    :param q: joint positions, shape (nq,)
    :param qd: joint velocities, shape (nv,)
    :param qdd: joint accelerations, shape (nv,)
    :param link: a link's name
    :raises UnknownNameError: the robot has no such link
    """
    checked = model._checked_velocity('qdd', qdd)
    return velocity_and_acceleration(model, q, qd, checked, link)[1]


@finite_result_required
def bias_acceleration(
    model: ModelData,
    q: ArrayLike,
    qd: ArrayLike,
    link: str,
    point: ArrayLike = (0.0, 0.0, 0.0),
) -> Array:
    """
    Return Jdot qd, a link's spatial acceleration at qdd = 0, shape (6,), rad/s^2 and m/s^2.

    Axes and point are those of :meth:`jacobian`. On a base at rest, link_acceleration = J qdd +
    Jdot qd. On a moving base the result includes the base's acceleration.

    :param q: joint positions, shape (nq,)
    :param qd: joint velocities, shape (nv,)
    :param link: a link's name
    :param point: in the link's frame, shape (3,), m
    :raises UnknownNameError: the robot has no such link
    """
    p = finite_vector('point', point, 3)
    a = velocity_and_acceleration(model, q, qd, np.zeros(model._nv), link)[1]
    a[3:] -= np.cross(p, a[:3])
    return a


@finite_result_required
def centre_of_mass(model: ModelData, q: ArrayLike) -> Array:
    """
    Return the centre of mass of the whole robot including its root link, shape (3,), m.

    In the root link's frame; in the world frame if the base floats; zeros for a robot without
    mass.

    :param q: joint positions, shape (nq,)
    """
    bodies = placed_bodies(model, model._checked_position('q', q))
    mass = bodies['mass'].sum()
    first_moment = np.einsum('ijk,ik->j', bodies['R'], bodies['h'])
    first_moment += bodies['mass'] @ bodies['p']
    return np.zeros(3) if mass == 0.0 else np.asarray(first_moment / mass)


def placed_bodies(model: ModelData, q: Array) -> NDArray[np.void]:
    """Return this thread's bodies with their poses at q, which is checked."""
    bodies: NDArray[np.void] = model._thread_memory.workspace.bodies
    kinematics.place_bodies(bodies, q)
    return bodies


def link_pose(model: ModelData, bodies: NDArray[np.void], link: str) -> Placement:
    """Return a link's pose in the base frame, from the poses of bodies."""
    frame = model._frame(link)
    body = bodies[frame.body]
    return Placement(body['R'].copy(), body['p'].copy()) @ frame.placement


def body_to_frame(placement: Placement) -> tuple[Array, Array]:
    """Return E and r of the transform from a body's coordinates to a frame's."""
    return np.ascontiguousarray(placement.rotation.T), placement.translation


def velocity_and_acceleration(
    model: ModelData, q: ArrayLike, qd: ArrayLike, qdd: Array, link: str
) -> tuple[Array, Array]:
    """Return a link's spatial velocity and acceleration, in its own axes."""
    frame = model._frame(link)
    bodies = model._thread_memory.weightless.bodies
    state = (model._checked_position('q', q), model._checked_velocity('qd', qd))
    kinematics.move_bodies(bodies, *state, qdd)
    E, r = body_to_frame(frame.placement)
    body = bodies[frame.body]
    return transformed_motion(E, r, body['v']), transformed_motion(E, r, body['a'])


def transformed_motion(E: Array, r: Array, m: Array) -> Array:
    """Return a motion vector in the coordinates of a frame."""
    return np.concatenate([E @ m[:3], E @ (m[3:] - np.cross(r, m[:3]))])
