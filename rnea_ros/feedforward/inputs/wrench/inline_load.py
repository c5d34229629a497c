# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The load of in-line force-torque sensors: weight and inertia of all links behind them.

The values are those of :meth:`rnea_ros.RobotModel.internal_wrench`, without allocation: all
sensors share one tree, in which each link behind a sensor has its own body.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from ....arrays import Array
from ....compilation import entry_point
from ....dynamics import Workspace
from ....dynamics.tree import Placement, with_separate_bodies
from ....robot import RobotModel
from ...loaded_model import LoadedBodies
from .wrench_filter import transform


class InlineLoad:
    """
    Computes the wrenches inside a robot, at the first links behind its sensors.

    :ivar loaded_bodies: the bodies, with payloads
    """

    def __init__(self, model: RobotModel, links: Iterable[str]) -> None:
        self._tree = with_separate_bodies(model.tree, links)
        self._workspace = Workspace(self._tree, model.gravity)
        self._workspace.set_base_motion(model.gravity, *model.base_motion.spatial())
        self.loaded_bodies = LoadedBodies(self._workspace, self._tree)

    def set_base(self, gravity: Array, velocity: Array, acceleration: Array) -> None:
        """Set the motion of the base; see :meth:`.Workspace.set_base_motion`."""
        self._workspace.set_base_motion(gravity, velocity, acceleration)

    def move(self, q: Array, qd: Array, qdd: Array) -> None:
        """Compute the load for a motion; :meth:`CarriedLoad.wrench` returns it."""
        self._workspace.inverse_dynamics(q, qd, qdd)

    def at(self, link: str) -> CarriedLoad:
        """Return the load at one of the links."""
        frame = self._tree.frames[link]
        return CarriedLoad(
            self._workspace.bodies[frame.body]['f'], force_transform(frame.placement.inverse())
        )


class CarriedLoad:
    """The wrench that the joint above a link exerts on the link, by a force transform, (6, 6)."""

    def __init__(self, force: Array, to_link: Array) -> None:
        self._wrench = np.zeros(6)
        arguments = (to_link, force, self._wrench)
        self._transform = partial(entry_point(transform, arguments), *arguments)

    def wrench(self) -> Array:
        """Return [torque; force] in the link's frame, N m and N; the next call overwrites it."""
        self._transform()
        return self._wrench


def force_transform(placement: Placement) -> Array:
    """Return X, shape (6, 6), with f_parent = X f_child (Featherstone 2008, eq. 2.25)."""
    R = placement.rotation
    X = np.zeros((6, 6))
    X[:3, :3] = X[3:, 3:] = R
    X[:3, 3:] = np.cross(placement.translation, R, axisb=0, axisc=0)
    return X
