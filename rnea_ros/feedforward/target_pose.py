# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Rules for requested target poses: what is rejected, and their way into the root link's frame."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np

from ..arrays import Array
from ..dynamics import quaternions
from ..dynamics.kernels import JointKind
from ..errors import RequestRejectedError, brief
from ..robot import RobotModel
from .reasons import Reason

UNIT_TOLERANCE = 0.01  # of a quaternion's length: typed numbers have few digits

FARTHEST = 1e3  # of a target, where a prismatic joint has no limits, m


class PoseRules:
    """
    Rules for target poses of one robot; any thread may use them.

    :ivar reach: greatest distance from the root link's origin to that of any link, m; infinity
        with a prismatic joint without limits
    """

    def __init__(self, model: RobotModel) -> None:
        self._model = model
        self.reach = _reach(model)

    def in_root_frame(
        self, frame: str, position: Sequence[float], orientation: Sequence[float], q: Array
    ) -> tuple[Array, Array]:
        """
        Return position, shape (3,), m, and unit quaternion x, y, z, w in the root link's frame.

        :param frame: link at its present pose; empty: the root link
        :raises RequestRejectedError: the pose cannot be used
        """
        model, numbers = self._model, (*position, *orientation)
        if frame and frame not in model.link_frames:
            raise _rejected(
                Reason.UNKNOWN_FRAME,
                f'{brief(frame)} is not a link; known are {", ".join(model.link_names)}',
            )
        if not all(map(math.isfinite, numbers)):
            raise _rejected(Reason.NOT_FINITE, f'{brief(numbers)} has a number that is not finite')
        length = math.hypot(*orientation)
        if not abs(length - 1.0) <= UNIT_TOLERANCE:
            raise _rejected(
                Reason.NOT_UNIT_QUATERNION, f'the orientation {brief(orientation)} has length '
                f'{length:g}, not 1; no rotation is 0, 0, 0, 1',
            )
        p, turn = np.array(position), np.array(orientation) / length
        if frame:
            T = model.forward_kinematics(q, frame)
            p = T[:3, :3] @ p + T[:3, 3]
            turn = quaternions.product(quaternions.of_rotation(T[:3, :3]), turn)
        distance = math.hypot(*p)
        if distance > self.reach:
            raise _rejected(
                Reason.POSITION_OUT_OF_RANGE, f'{distance:.3g} m from {model.link_names[0]} is '
                f'further than any link reaches, {self.reach:.3g} m; positions are in m',
            )
        return p, turn


def _rejected(reason: Reason, detail: str) -> RequestRejectedError:
    return RequestRejectedError(reason.value, detail)


def _reach(model: RobotModel) -> float:
    """Return the length of the longest chain of links with its prismatic joints extended, m."""
    travel = np.maximum(np.abs(model.position_lower), np.abs(model.position_upper))
    root, *others = model.tree.links
    lengths = {root.name: 0.0}
    for link in others:
        slides = [move.coordinate for move in link.joint if move.kind is JointKind.PRISMATIC]
        lengths[link.name] = lengths[link.parent] + float(
            np.linalg.norm(link.placement.translation)
            + sum(
                abs(slide.ratio) * travel[model.joint_names.index(slide.joint)]
                + abs(slide.offset) for slide in slides if slide.ratio
            )
        )
    return min(max(lengths.values()), FARTHEST)
