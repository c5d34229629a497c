# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The robot's dynamics with payloads, and the part of gravity that the hardware compensates.

A payload is added to the inertia of its link. A change of payloads is blended: during the blend,
each payload counts with a share from 0 to 1. Some robots compensate gravity, or that of a
payload, in their own controllers; that part must not be commanded a second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import enum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...dynamics import Workspace
from ...dynamics.tree import KinematicTree
from ...robot import Payload, RobotModel

Shares: TypeAlias = Sequence[tuple[Payload, float]]
"""Payloads, each with its share from 0 to 1."""


class HardwareCompensation(enum.Enum):
    """Efforts that the robot's own controller adds to every command."""

    GRAVITY = 'gravity'
    FRICTION = 'friction'
    PAYLOAD = 'payload'


class LoadedModel:
    """
    Dynamics of a robot with payloads; efforts have shape (n,), and the next call overwrites them.

    :param model: the robot without payloads
    :param hardware: efforts that the hardware compensates
    """

    def __init__(
        self, model: RobotModel, hardware: Iterable[HardwareCompensation] = ()
    ) -> None:
        self.model = model
        self._loaded = model.workspace()
        self._unloaded = model.workspace()
        self._bodies = LoadedBodies(self._loaded, model.tree)
        self._zero = np.zeros(model.nv)
        self._base_turns = False
        hardware = frozenset(hardware)
        self._robot_compensated = HardwareCompensation.GRAVITY in hardware
        self._payload_compensated = HardwareCompensation.PAYLOAD in hardware

    @property
    def bodies(self) -> NDArray[np.void]:
        """Records of the bodies with payloads, on the base, for kernels."""
        return self._loaded.bodies

    def set_payloads(self, shares: Shares) -> None:
        """
        Replace the payloads.

        :param shares: payloads on links of the robot, with their shares
        """
        self._bodies.set_payloads(shares)

    def set_base(self, gravity: Array, velocity: Array, acceleration: Array) -> None:
        """
        Set the motion of the base.

        :param gravity: gravitational acceleration in the root link's frame, shape (3,), m/s^2
        :param velocity: spatial velocity of the root link in its own axes, shape (6,)
        :param acceleration: spatial acceleration of the root link in its own axes, shape (6,)
        """
        self._base_turns = bool(velocity.any() or acceleration[:3].any())
        for workspace in (self._loaded, self._unloaded):
            workspace.set_base_motion(gravity, velocity, acceleration)

    def gravity(self, q: Array) -> Array:
        """
        Return g(q), the efforts that hold the robot and its payloads at rest on its base.

        On a moving base they include the efforts of the base's motion.

        :param q: joint positions, shape (n,), rad or m
        """
        return self._at_rest(self._loaded, q)

    def bias(self, q: Array, qd: Array) -> Array:
        """Return C(q, qd) qd + g(q)."""
        return self._loaded.bias_torques(q, qd)

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return ID(q, qd, qdd)."""
        return self._loaded.inverse_dynamics(q, qd, qdd)

    def compensated(self, q: Array, gravity: Array) -> Array | None:
        """
        Return the part of g(q) that the hardware compensates, None for no part.

        :param q: measured joint positions, shape (n,), rad or m
        :param gravity: g(q), shape (n,), N m or N; returned where the hardware compensates all
        """
        if self._robot_compensated and self._payload_compensated:
            return gravity
        if self._robot_compensated:
            return self._at_rest(self._unloaded, q)
        if self._payload_compensated:
            return gravity - self._at_rest(self._unloaded, q)
        return None

    def _at_rest(self, workspace: Workspace, q: Array) -> Array:
        if self._base_turns:
            return workspace.bias_torques(q, self._zero)
        return workspace.gravity_torques(q)


class PayloadBlend:
    """
    Blends from one set of payloads to another.

    :param payloads: payloads at the start
    """

    def __init__(self, payloads: Sequence[Payload] = ()) -> None:
        self._before: Shares = ()
        self._target = tuple(payloads)
        self._remaining = 0.0
        self._duration = 1.0

    def change(self, payloads: Sequence[Payload], duration: float) -> None:
        """
        Start a blend from the current shares.

        :param payloads: all payloads at its end
        :param duration: duration of the blend, s
        """
        self._before, self._target = self.shares(), tuple(payloads)
        self._duration = self._remaining = max(duration, 1e-9)

    def advance(self, dt: float) -> bool:
        """
        Advance the blend.

        :param dt: time since the last call, s
        :return: whether shares changed
        """
        if self._remaining == 0.0:
            return False
        self._remaining = max(self._remaining - dt, 0.0)
        return True

    def shares(self) -> Shares:
        """Return the payloads with their current shares."""
        left = self._remaining / self._duration
        target = [(payload, 1.0 - left) for payload in self._target]
        if left == 0.0:
            return target
        return [*((payload, left * share) for payload, share in self._before), *target]


class LoadedBodies:
    """
    Writes payloads into the bodies of a workspace.

    :param workspace: workspace of the tree; its bodies are changed
    :param tree: the robot without payloads
    """

    def __init__(self, workspace: Workspace, tree: KinematicTree) -> None:
        self._bodies = workspace.bodies
        self._tree = tree
        J = tree.bodies['J'].reshape(len(tree.bodies), 9)
        self._unloaded = np.column_stack([tree.bodies['mass'], tree.bodies['h'], J])

    def set_payloads(self, shares: Shares) -> None:
        """
        Replace the payloads.

        :param shares: payloads on links of the tree, with their shares
        """
        total = self._unloaded.copy()
        for payload, share in shares:
            frame = self._tree.frames[payload.link]
            inertia = payload.rigid_body_inertia.transformed(frame.placement)
            parameters = np.concatenate([[inertia.mass], inertia.h, inertia.J.ravel()])
            total[frame.body] += share * parameters
        self._bodies['mass'], self._bodies['h'] = total[:, 0], total[:, 1:4]
        self._bodies['J'] = total[:, 4:].reshape(-1, 3, 3)
