# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Forces on one link and through the joint above it, and the subspaces of that joint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, finite_result, finite_result_required
from ..dynamics.tree import TreeLink, orthogonal_complement, with_separate_bodies
from ..errors import UnknownNameError
from .kinematics import body_to_frame, placed_bodies, velocity_and_acceleration
from .model_data import ModelData, changed, checked, checked_position, frame_of
from .wrench import ExternalWrenches, ReferenceFrame, Wrench, applied, reference_frame


@dataclass(frozen=True)
class LinkDynamics:
    """
    Newton's and Euler's equations of one link.

    :param com_acceleration: a_C of the centre of mass, shape (3,), m/s^2; of the origin for a link
        without mass
    :param force: F = m a_C, shape (3,), N
    :param moment: N = J alpha + omega x J omega, about the centre of mass, shape (3,), N m
    """

    com_acceleration: Array
    force: Array
    moment: Array


def internal_wrench(
    model: ModelData, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, link: str,
    external_wrenches: ExternalWrenches | None = None, *,
    frame: str | ReferenceFrame | None = None,
) -> Wrench:
    """
    Return the wrench that the joint above a link, moving or fixed, exerts on the link.

    It acts at the link's origin. It carries weight and inertia of the link and of all
    links behind it, minus the external wrenches on them: the reading of an in-line force-torque
    sensor in place of the joint.

    :param link: the first link behind the cut
    :param frame: frame of the axes: a link's name or a :class:`ReferenceFrame`; by default the
        link itself
    :raises UnknownNameError: no such link, or the root link, which has no joint above it
    """
    cut = _model_cut_above(model, link)
    workspace = cut.thread.workspace
    motion = checked(cut, q=q, qd=qd, qdd=qdd)
    with applied(cut, workspace, motion[0], external_wrenches):
        workspace.inverse_dynamics(*motion)
        placed = frame_of(cut, link)
        f = finite_result(workspace.bodies[placed.body]['f'].copy())
    E, r = body_to_frame(placed.placement)
    R = _axes(model, motion[0], link, frame) @ E
    axes = link if frame is None else frame
    return Wrench(force=R @ f[3:], torque=R @ (f[:3] - np.cross(r, f[3:])), frame=axes)


def link_dynamics(
    model: ModelData, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, link: str, *,
    frame: str | ReferenceFrame | None = None,
) -> LinkDynamics:
    """
    Return Newton's and Euler's equations of one link: the forces that its motion needs.

    The link's own mass and inertia count, without links that are fixed to it. The acceleration is
    relative to the world, without gravity: force is the sum of all forces on the link, its weight
    included. In textbooks with v_dot_0 = -g, F is force - m g, the sum without the weight.

    :param frame: frame of the axes: a link's name or a :class:`ReferenceFrame`; by default the
        link itself
    """
    R = _axes(model, checked_position(model, 'q', q), link, frame)
    with np.errstate(over='ignore', invalid='ignore'):
        v, a = velocity_and_acceleration(model, q, qd, qdd, link)
        inertia = _link(model, link).inertia
        (w, u), (alpha, a_origin) = (v[:3], v[3:]), (a[:3], a[3:])
        c, J = inertia.com, inertia.J_com
        a_C = a_origin + np.cross(w, u) + np.cross(alpha, c) + np.cross(w, np.cross(w, c))
        N = J @ alpha + np.cross(w, J @ w)
        return LinkDynamics(
            com_acceleration=finite_result(R @ a_C),
            force=finite_result(inertia.mass * (R @ a_C)),
            moment=finite_result(R @ N),
        )


@finite_result_required
def motion_subspace(model: ModelData, q: ArrayLike, link: str) -> Array:
    """
    Return S of the joint above a link, shape (6, n): the link's velocity in its parent is S qd.

    [angular; linear], in the link's axes, at its origin. n is the number of the joint's degrees of
    freedom, 0 for a fixed joint; qd are its velocities, or that of the joint which it mimics.

    :raises UnknownNameError: no such link, or the root link, which has no joint above it
    """
    _check_joint_above(model, link)
    frames = model.tree.frames
    carrier, frame = frames[_link(model, link).parent].body, frames[link]
    bodies = placed_bodies(model, checked_position(model, 'q', q))
    E, r = body_to_frame(frame.placement)
    columns: dict[int, Array] = {}
    i = frame.body
    while i != carrier:
        body = bodies[i]
        for k in range(body['qd_size']):
            w, u = body['ratio'] * np.eye(6)[body['column'] + k].reshape(2, 3)
            S_k = np.concatenate([E @ w, E @ (u - np.cross(r, w))])
            # A screw turns and moves by one coordinate.
            columns[body['qd_index'] + k] = columns.get(body['qd_index'] + k, 0.0) + S_k
        E, r = E @ body['E'], body['r'] + body['E'].T @ r
        i = body['parent']
    return np.array([columns[j] for j in sorted(columns)]).reshape(-1, 6).T


@finite_result_required
def constraint_force_subspace(model: ModelData, q: ArrayLike, link: str) -> Array:
    """
    Return T of the joint above a link, shape (6, 6 - n): its constraint forces are T lambda.

    They do no work, S^T T = 0 (Featherstone 2008, eq. 3.36), with S of :meth:`motion_subspace`.
    [moment; force], in the link's axes, about its origin.

    :raises UnknownNameError: no such link, or the root link, which has no joint above it
    """
    return orthogonal_complement(motion_subspace(model, q, link))


def _link(model: ModelData, name: str) -> TreeLink:
    """Return a link as the tree was built from it, not merged with others."""
    return next(link for link in model.tree.links if link.name == name)


def _axes(model: ModelData, q: Array, link: str, frame: str | ReferenceFrame | None) -> Array:
    """Return the rotation from a link's axes to those of a frame."""
    if frame is None:
        return np.eye(3)
    bodies = placed_bodies(model, q)
    R_link, R_frame = (
        bodies[placed.body]['R'] @ placed.placement.rotation
        for placed in (frame_of(model, link), reference_frame(model, frame))
    )
    return np.asarray(R_frame.T @ R_link)


def _model_cut_above(model: ModelData, link: str) -> ModelData:
    """Return the model with a body of its own for the link; it is kept for the next call."""
    _check_joint_above(model, link)
    if link not in model.cut_above:
        model.cut_above[link] = changed(model, tree=with_separate_bodies(model.tree, [link]))
    return model.cut_above[link]


def _check_joint_above(model: ModelData, link: str) -> None:
    """Raise an error for the root link, and for the name of no link."""
    links_behind_joints = [name for name in model.link_names if name != model.tree.links[0].name]
    if not isinstance(link, str) or link not in links_behind_joints:
        raise UnknownNameError('link', link, links_behind_joints)
