# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The wrench through a cut between two links, as an in-line force-torque sensor measures it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import finite_result
from ..dynamics.tree import with_separate_bodies
from ..errors import UnknownNameError
from .kinematics import body_to_frame
from .model_data import ModelData
from .wrench import ExternalWrenches, Wrench, applied


def internal_wrench(
    model: ModelData,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    link: str,
    external_wrenches: ExternalWrenches | None = None,
) -> Wrench:
    """
    Return the wrench that the joint above a link, moving or fixed, exerts on the link.

    In the link's frame, about its origin. It carries weight and inertia of the link and of all
    links behind it, minus the external wrenches on them: the reading of an in-line force-torque
    sensor in place of the joint.

    :param q: joint positions, shape (nq,)
    :param qd: joint velocities, shape (nv,)
    :param qdd: joint accelerations, shape (nv,)
    :param link: the first link behind the cut
    :param external_wrenches: wrenches that the environment exerts on the robot, by link
    :raises UnknownNameError: no such link, or the root link, which has no joint above it
    """
    cut = _model_cut_above(model, link)
    workspace = cut._thread_memory.workspace
    motion = (
        cut._checked_position('q', q),
        cut._checked_velocity('qd', qd),
        cut._checked_velocity('qdd', qdd),
    )
    with applied(cut, workspace, motion[0], external_wrenches):
        workspace.inverse_dynamics(*motion)
        frame = cut._frame(link)
        f = finite_result(workspace.bodies[frame.body]['f'].copy())
    E, r = body_to_frame(frame.placement)
    return Wrench(force=E @ f[3:], torque=E @ (f[:3] - np.cross(r, f[3:])), frame=link)


def _model_cut_above(model: ModelData, link: str) -> ModelData:
    """Return the model with a body of its own for the link; it is kept for the next call."""
    links_behind_joints = [name for name in model.link_names if name != model._tree.links[0].name]
    if not isinstance(link, str) or link not in links_behind_joints:
        raise UnknownNameError('link', link, links_behind_joints)
    if link not in model._models_cut_above:
        tree = with_separate_bodies(model._tree, [link])
        model._models_cut_above[link] = ModelData(tree, **model._named_arguments())
    return model._models_cut_above[link]
