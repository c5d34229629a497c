# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""External wrenches: force and torque as named fields with a frame, and their way into a body."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
import enum
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, finite_array, finite_vector, real_array
from ..dynamics import Workspace
from ..dynamics.kernels import BASE, kinematics
from ..dynamics.tree import Frame, Placement
from ..errors import InputError, brief
from .kinematics import body_poses
from .model_data import ModelData, frame_of


class ReferenceFrame(enum.Enum):
    """
    Frames that are not named after a link.

    Both are the root link's frame, unless the base floats: then ``ROOT_LINK`` is the frame of the
    root link, which moves, and ``WORLD`` is the frame that it floats in. If the model has a base
    motion, both move with the base. A link named ``base``, which some robots have beside their
    root link, is another frame: ``frame='base'``.
    """

    ROOT_LINK = 'root link'
    WORLD = 'world'


@dataclass(frozen=True)
class Wrench:
    """
    A wrench that the environment exerts on the robot at one link.

    Methods for N samples take arrays of shape (3,), the same for all samples, or (N, 3).

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


@dataclass(frozen=True)
class Load:
    """A wrench on a body, in the base's axes."""

    body: int  # number of the body that it acts on
    turns_with: int  # number of the body that its axes are fixed to
    moves_with: int  # number of the body that its point is fixed to
    point: Array  # from the base's origin, shape (..., 3), m
    torque: Array  # shape (..., 3), N m
    force: Array  # shape (..., 3), N
    moment: Array  # about the origin of the body that it acts on, shape (..., 3), N m


ROWS = 1024  # samples of a batch at a time; the memory of poses is proportional to it


@contextmanager
def applied(
    model: ModelData, workspace: Workspace, q: Array, wrenches: ExternalWrenches | None
) -> Iterator[None]:
    """Let external wrenches act on the bodies of a workspace inside a ``with`` block."""
    if wrenches is None:
        yield
        return
    try:
        kinematics.place_bodies(workspace.bodies, q)
        R, p = workspace.bodies['R'], workspace.bodies['p']
        vectors = partial(finite_vector, size=3)
        with np.errstate(over='ignore', invalid='ignore'):
            for load in loads(model, wrenches, R, p, vectors):
                R_body = R[load.body]
                workspace.add_external_force(
                    load.body, R_body.T @ load.moment, R_body.T @ load.force
                )
        yield
    finally:
        workspace.clear_external_forces()


def external_efforts_batch(model: ModelData, q: Array, wrenches: ExternalWrenches) -> Array:
    """Return J^T f_ext, the efforts of external wrenches, at N checked positions, (N, nv)."""
    efforts = np.zeros((len(q), model.nv))
    bodies = model.thread.workspace.bodies
    for start in range(0, max(len(q), 1), ROWS):  # without samples, wrenches are checked as well
        rows = slice(start, start + ROWS)
        vectors = partial(vectors_of_rows, count=len(q), rows=rows)
        R, p = body_poses(model, q[rows])
        moments, forces = np.zeros((2, len(bodies), len(R), 3))
        for load in loads(model, wrenches, R, p, vectors):
            moments[load.body] += load.moment + np.cross(p[:, load.body], load.force)
            forces[load.body] += load.force
        for i in range(len(bodies) - 1, BASE, -1):
            body, parent = bodies[i], bodies[i]['parent']
            moment = moments[i] - np.cross(p[:, i], forces[i])
            R_back = np.swapaxes(R[:, i], -1, -2)
            in_body = np.hstack([turned(R_back, moment), turned(R_back, forces[i])])
            S = slice(body['column'], body['column'] + body['qd_size'])
            own = slice(body['qd_index'], body['qd_index'] + body['qd_size'])
            efforts[rows, own] += body['ratio'] * in_body[:, S]
            moments[parent] += moments[i]
            forces[parent] += forces[i]
    return efforts


def loads(
    model: ModelData, wrenches: ExternalWrenches, R: Array, p: Array,
    vectors: Callable[[str, ArrayLike], Array],
) -> Iterator[Load]:
    """
    Yield each wrench, for bodies of rotations R and origins p in the base.

    ``vectors(name, value)`` returns a field checked, shape (..., 3).
    """
    if not isinstance(wrenches, Mapping):
        raise InputError('external_wrenches', f'expected wrenches by link, got {brief(wrenches)}')
    for link, given in wrenches.items():
        carrier = frame_of(model, link)
        for wrench in _sequence(link, given):
            frame = carrier if wrench.frame is None else reference_frame(model, wrench.frame)
            turn = R[..., frame.body, :, :] @ frame.placement.rotation
            force = turned(turn, vectors(f'force on link {link!r}', wrench.force))
            torque = turned(turn, vectors(f'torque on link {link!r}', wrench.torque))
            if wrench.point is None:
                moves_with, point = carrier.body, _origin(R, p, carrier)
            else:
                moves_with = frame.body
                given_point = vectors(f'point on link {link!r}', wrench.point)
                point = turned(turn, given_point) + _origin(R, p, frame)
            moment = torque + np.cross(point - p[..., carrier.body, :], force)
            if not np.isfinite(moment).all():
                reason = f'its moment is not finite: {brief(wrench)}'
                raise InputError(f'wrench on link {link!r}', reason)
            yield Load(carrier.body, frame.body, moves_with, point, torque, force, moment)


def vectors_of_rows(argument: str, values: ArrayLike, count: int, rows: slice) -> Array:
    """Return some rows of vectors, given as one for all samples or one for each of them."""
    array = real_array(argument, values)
    shape = (3,) if array.ndim < 2 else (count, 3)
    return np.broadcast_to(finite_array(argument, array, shape), (count, 3))[rows]


def _origin(R: Array, p: Array, frame: Frame) -> Array:
    """Return a frame's origin in the base, shape (..., 3)."""
    return p[..., frame.body, :] + turned(R[..., frame.body, :, :], frame.placement.translation)


def turned(R: Array, vectors: Array) -> Array:
    """Return R v for each rotation, shape (..., 3)."""
    return np.asarray((R @ vectors[..., np.newaxis])[..., 0])


def reference_frame(model: ModelData, frame: str | ReferenceFrame) -> Frame:
    """Return a frame by a link's name or as a :class:`ReferenceFrame`."""
    if frame is ReferenceFrame.WORLD:
        return Frame(BASE, Placement.identity())
    return frame_of(model, model.link_names[0] if frame is ReferenceFrame.ROOT_LINK else frame)


def _sequence(link: str, given: Wrench | Sequence[Wrench]) -> Sequence[Wrench]:
    """Return the wrenches on one link as a sequence."""
    wrenches = [given] if isinstance(given, Wrench) else given
    if not isinstance(wrenches, Sequence) or not all(isinstance(w, Wrench) for w in wrenches):
        raise InputError(
            f'wrench on link {link!r}',
            f'expected a Wrench or a sequence of Wrench, got {brief(given)}',
        )
    return wrenches
