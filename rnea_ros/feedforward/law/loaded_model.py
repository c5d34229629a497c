# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The robot as it stands before the control: with what it carries, less what its hardware carries.

Some hardware compensates gravity or a payload by itself; what it does must not be commanded again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import enum
from typing import TypeAlias

import numpy as np

from ...arrays import Array
from ...dynamics import Workspace
from ...dynamics.tree import KinematicTree
from ...robot import Payload, RobotModel


class HardwareCompensation(enum.Enum):
    """What the robot's own controller adds to every command."""

    GRAVITY = 'gravity'
    FRICTION = 'friction'
    PAYLOAD = 'payload'


class LoadedModel:
    """
    Dynamics of a robot with payloads; efforts are of shape (n,), overwritten by the next call.

    :param model: the robot without payloads
    :param hardware: what is left to the hardware
    """

    def __init__(
        self, model: RobotModel, hardware: Iterable[HardwareCompensation] = ()
    ) -> None:
        self.model = model
        self._loaded = model.workspace()
        self._bare = model.workspace()
        self._bodies = LoadedBodies(self._loaded, model.tree)
        self._still = np.zeros(model.nv)
        self._base_turns = False
        hardware = frozenset(hardware)
        self._robot_compensated = HardwareCompensation.GRAVITY in hardware
        self._payload_compensated = HardwareCompensation.PAYLOAD in hardware

    def set_payloads(self, shares: Shares) -> None:
        """
        Let payloads be carried instead of those before.

        :param shares: payloads on links that the robot has, and their shares
        """
        self._bodies.set_payloads(shares)

    def set_base(self, gravity: Array, velocity: Array, acceleration: Array) -> None:
        """
        Set how the base moves.

        :param gravity: acceleration of free fall in the root link's frame, shape (3,), m/s^2
        :param velocity: spatial velocity of the root link in its own axes, shape (6,)
        :param acceleration: spatial acceleration, shape (6,)
        """
        self._base_turns = bool(velocity.any() or acceleration[:3].any())
        for workspace in (self._loaded, self._bare):
            workspace.set_base_motion(gravity, velocity, acceleration)

    def gravity(self, q: Array) -> Array:
        """
        Return g(q), the efforts that hold the robot and all that it carries.

        Against all that a moving base does to it, too.

        :param q: joint positions, rad or m
        """
        return self._holding(self._loaded, q)

    def bias(self, q: Array, qd: Array) -> Array:
        """Return C(q, qd) qd + g(q)."""
        return self._loaded.bias_torques(q, qd)

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return ID(q, qd, qdd)."""
        return self._loaded.inverse_dynamics(q, qd, qdd)

    def compensated(self, q: Array) -> Array | None:
        """
        Return the gravity torques that the hardware adds by itself, None where it adds none.

        :param q: measured joint positions, rad or m
        """
        if self._robot_compensated:
            return self._holding(self._loaded if self._payload_compensated else self._bare, q)
        if self._payload_compensated:
            return self._holding(self._loaded, q) - self._holding(self._bare, q)
        return None

    def _holding(self, workspace: Workspace, q: Array) -> Array:
        if self._base_turns:
            return workspace.bias_torques(q, self._still)
        return workspace.gravity_torques(q)


Shares: TypeAlias = Sequence[tuple[Payload, float]]
"""Payloads, and what share of each is carried, 0 to 1."""


class PayloadBlend:
    """
    Which payloads are carried, and to what share, while some take the place of others.

    :param payloads: what is carried from the start
    """

    def __init__(self, payloads: Sequence[Payload] = ()) -> None:
        self._before: Shares = ()
        self._target = tuple(payloads)
        self._remaining = 0.0
        self._duration = 1.0

    @property
    def blending(self) -> bool:
        """Whether shares are still changing."""
        return self._remaining > 0.0

    def change(self, payloads: Sequence[Payload], duration: float) -> None:
        """
        Let payloads take the place of those before.

        :param payloads: all that is carried in the end
        :param duration: s
        """
        self._before, self._target = self.shares(), tuple(payloads)
        self._duration = self._remaining = max(duration, 1e-9)

    def advance(self, period: float) -> bool:
        """
        Go on with the blend.

        :param period: time since the last call, s
        :return: whether shares changed
        """
        if self._remaining == 0.0:
            return False
        self._remaining = max(self._remaining - period, 0.0)
        return True

    def shares(self) -> Shares:
        """Return what is carried now."""
        left = self._remaining / self._duration
        coming = [(payload, 1.0 - left) for payload in self._target]
        if left == 0.0:
            return coming
        return [*((payload, left * share) for payload, share in self._before), *coming]


class LoadedBodies:
    """
    Gives the bodies of a workspace what they carry.

    :param workspace: of the tree; its bodies are changed
    :param tree: of the robot without payloads
    """

    def __init__(self, workspace: Workspace, tree: KinematicTree) -> None:
        self._bodies = workspace.bodies
        self._tree = tree
        J = tree.bodies['J'].reshape(len(tree.bodies), 9)
        self._own = np.column_stack([tree.bodies['mass'], tree.bodies['h'], J])

    def set_payloads(self, shares: Shares) -> None:
        """
        Let payloads be carried instead of those before.

        :param shares: payloads on links of the tree, and their shares
        """
        total = self._own.copy()
        for payload, share in shares:
            frame = self._tree.frames[payload.link]
            inertia = payload.rigid_body_inertia.seen_from(frame.placement)
            parameters = np.concatenate([[inertia.mass], inertia.h, inertia.J.ravel()])
            total[frame.body] += share * parameters
        self._bodies['mass'], self._bodies['h'] = total[:, 0], total[:, 1:4]
        self._bodies['J'] = total[:, 4:].reshape(-1, 3, 3)
