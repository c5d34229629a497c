# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""External wrenches: force and torque as named fields with a frame, and their way into a body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
import enum
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array, finite_vector
from ..dynamics import Workspace
from ..dynamics.kernels import kinematics
from ..dynamics.tree import Placement
from ..errors import InputError
from .kinematics import link_pose
from .model_data import ModelData


class ReferenceFrame(enum.Enum):
    """
    Frames of a wrench that are not named after a link.

    Both are the root link's frame, unless the base floats: then ``BASE`` is the frame of the root
    link, which moves, and ``WORLD`` is the frame that it floats in.
    """

    BASE = 'base'
    WORLD = 'world'


@dataclass(frozen=True)
class Wrench:
    """
    A wrench that the environment exerts on the robot at one link.

    :param force: shape (3,), N
    :param torque: shape (3,), N m
    :param frame: frame of the axes of force, torque and point: a link's name, or a
        :class:`ReferenceFrame`; by default the link that the wrench acts on
    :param point: point of application, shape (3,), m, from the origin of ``frame``; by default
        the origin of the link that the wrench acts on
    """

    force: ArrayLike = (0.0, 0.0, 0.0)
    torque: ArrayLike = (0.0, 0.0, 0.0)
    frame: str | ReferenceFrame | None = None
    point: ArrayLike | None = None


ExternalWrenches: TypeAlias = Mapping[str, Wrench | Sequence[Wrench]]
"""One wrench or several for each link, by the link's name."""


@contextmanager
def applied(
    model: ModelData, workspace: Workspace, q: Array, wrenches: ExternalWrenches | None
) -> Iterator[None]:
    """
    Let external wrenches act on the bodies of a workspace inside a ``with`` block.

    :param model: the robot
    :param workspace: memory of the calling thread
    :param q: joint positions, checked, shape (nq,)
    :param wrenches: wrenches on the robot, by link
    """
    if wrenches is None:
        yield
        return
    if not isinstance(wrenches, Mapping):
        raise InputError('external_wrenches', f'expected wrenches by link, got {wrenches!r}')
    try:
        kinematics.place_bodies(workspace.bodies, q)
        with np.errstate(over='ignore', invalid='ignore'):
            for link, given in wrenches.items():
                for wrench in _sequence(link, given):
                    _apply(model, workspace, link, wrench)
        yield
    finally:
        workspace.clear_external_forces()


def _apply(model: ModelData, workspace: Workspace, link: str, wrench: Wrench) -> None:
    """Add a wrench to the force on the link's body, about its origin and in its axes."""
    bodies, carrier = workspace.bodies, model._frame(link).body
    pose = _frame_pose(model, bodies, link if wrench.frame is None else wrench.frame)
    force = pose.rotation @ finite_vector(f'force on link {link!r}', wrench.force, 3)
    torque = pose.rotation @ finite_vector(f'torque on link {link!r}', wrench.torque, 3)
    point = link_pose(model, bodies, link).translation
    if wrench.point is not None:
        given = finite_vector(f'point on link {link!r}', wrench.point, 3)
        point = pose.rotation @ given + pose.translation
    R, p = bodies[carrier]['R'], bodies[carrier]['p']
    moment = torque + np.cross(point - p, force)
    if not np.isfinite(moment).all():
        raise InputError(f'wrench on link {link!r}', f'its moment is not finite: {wrench!r}')
    workspace.add_external_force(carrier, R.T @ moment, R.T @ force)


def _frame_pose(
    model: ModelData, bodies: NDArray[np.void], frame: str | ReferenceFrame
) -> Placement:
    if frame is ReferenceFrame.WORLD:
        return Placement.identity()
    if frame is ReferenceFrame.BASE:
        return link_pose(model, bodies, model.link_names[0])
    return link_pose(model, bodies, frame)


def _sequence(link: str, given: Wrench | Sequence[Wrench]) -> Sequence[Wrench]:
    """Return the wrenches on one link as a sequence."""
    wrenches = [given] if isinstance(given, Wrench) else given
    if not isinstance(wrenches, Sequence) or not all(isinstance(w, Wrench) for w in wrenches):
        raise InputError(
            f'wrench on link {link!r}', f'expected a Wrench or a sequence of Wrench, got {given!r}'
        )
    return wrenches
