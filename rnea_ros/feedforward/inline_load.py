# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
What in-line force-torque sensors carry without a push: weight and inertia of all behind them.

The numbers are those of :meth:`rnea_ros.RobotModel.internal_wrench`, for a control loop: all
sensors share one tree, in which the links behind the cuts have bodies of their own, and nothing
is allocated.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..dynamics.placement import Placement
from ..dynamics.tree import with_bodies_of_their_own
from ..dynamics.workspace import Workspace
from ..robot import RobotModel

Array: TypeAlias = NDArray[np.float64]


class InlineLoad:
    """
    The dynamics of a robot cut above some of its links.

    :param model: the robot
    :param links: the first links behind the cuts
    """

    def __init__(self, model: RobotModel, links: Iterable[str]) -> None:
        self._tree = with_bodies_of_their_own(model.tree, links)
        self._moving = Workspace(self._tree, model.gravity)
        self._moving.set_base_motion(model.gravity, *model.base_motion.spatial())
        self._weightless = Workspace(self._tree, np.zeros(3))
        self._still = np.zeros(model.nv)
        self._q = np.zeros(model.nq)

    def move(self, q: Array, qd: Array) -> None:
        """
        Take a measured motion, for :meth:`Cut.bias` and :meth:`Cut.inertia` of every cut.

        :param q: joint positions, shape (nq,), rad or m
        :param qd: joint velocities, shape (nv,), rad/s or m/s
        """
        self._q = q
        self._moving.inverse_dynamics(q, qd, self._still)

    def accelerate(self, qdd: Array) -> None:
        """Take an acceleration, for :meth:`Cut.inertia`."""
        self._weightless.inverse_dynamics(self._q, self._still, qdd)

    def cut(self, link: str) -> Cut:
        """Return the cut above one of the links."""
        frame = self._tree.frames[link]
        return Cut(
            self,
            self._moving.bodies[frame.body]['f'],
            self._weightless.bodies[frame.body]['f'],
            force_transform(frame.placement.inverse()),
        )


class Cut:
    """
    What the joint above a link exerts on the link: [torque; force] in the link's frame.

    :param load: the dynamics
    :param moving: the force in body coordinates, as :meth:`InlineLoad.move` leaves it
    :param accelerated: the same, as :meth:`InlineLoad.accelerate` leaves it
    :param to_link: from body coordinates to the link's, shape (6, 6)
    """

    def __init__(
        self, load: InlineLoad, moving: Array, accelerated: Array, to_link: Array
    ) -> None:
        self._load = load
        self._moving, self._accelerated = moving, accelerated
        self._to_link = to_link
        self._bias, self._inertia = np.zeros(6), np.zeros(6)

    def bias(self) -> Array:
        """Return what weight and velocities need; overwritten by the next call."""
        return np.dot(self._to_link, self._moving, out=self._bias)

    def inertia(self, qdd: Array) -> Array:
        """
        Return what accelerations need beside that; overwritten by the next call.

        :param qdd: joint accelerations, shape (nv,), rad/s^2 or m/s^2
        """
        self._load.accelerate(qdd)
        return np.dot(self._to_link, self._accelerated, out=self._inertia)


def force_transform(placement: Placement) -> Array:
    """
    Return X with f_parent = X f_child, for forces [moment; force] (Featherstone 2008, eq. 2.25).

    :param placement: of the child's frame in the parent's
    :return: shape (6, 6)
    """
    R = placement.rotation
    X = np.zeros((6, 6))
    X[:3, :3] = X[3:, 3:] = R
    X[:3, 3:] = np.cross(placement.translation, R, axisb=0, axisc=0)
    return X
