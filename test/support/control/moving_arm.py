# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""An arm that moves under commands, gravity, friction, pushes and the stops of its joints."""

import numpy as np
from numpy.typing import NDArray

from rnea_ros import RobotModel

Array = NDArray[np.float64]

STEP = 0.002
"""Longest step of the integration, s."""


class MovingArm:
    """
    Moves the n joints of a model; a spring and a damper hold those that are not commanded.

    :param commanded: indices of the m commanded joints
    :param q: where the arm starts, shape (n,)
    :param friction: Coulomb friction of every joint
    :param compensates: whether the robot compensates gravity
    :ivar command: efforts of the motors, shape (m,); None: another controller moves the arm
    :ivar travel: velocity at which that one moves the arm, shape (n,)
    :ivar push: efforts of the environment, shape (n,)
    """

    def __init__(
        self, model: RobotModel, commanded: NDArray[np.intp], q: Array,
        friction: float, *, compensates: bool,
    ) -> None:
        self._commanded, self._friction, self._compensates = commanded, friction, compensates
        self._others = np.setdiff1d(np.arange(model.nv), commanded)
        self._lower = np.where(model.continuous, -np.inf, model.position_lower)
        self._upper = np.where(model.continuous, np.inf, model.position_upper)
        self._home, self.q, self.qd = q, q.copy(), np.zeros_like(q)
        self.command: Array | None = None
        self.push, self.travel = np.zeros_like(q), np.zeros_like(q)
        self.load(model)

    def load(self, model: RobotModel) -> None:
        """Have the masses of a model, with another payload, from now on."""
        self._workspace = model.workspace()

    def gravity(self) -> Array:
        """Return what the motors need to hold the arm here, shape (n,)."""
        gravity: Array = (not self._compensates) * self._workspace.gravity_torques(self.q)
        return gravity

    def step(self, duration: float) -> None:
        """Move for a time, s."""
        steps = int(np.ceil(duration / STEP - 1e-6))
        for _ in range(steps):
            self._move(duration / steps)

    def _move(self, dt: float) -> None:
        if self.command is None:
            self.qd[:] = self.travel
        else:
            effort = self.push - 0.2 * self.qd - self._friction * np.tanh(self.qd / 0.05)
            effort[self._commanded] += self.command
            if self._compensates:
                effort += self._workspace.gravity_torques(self.q)
            if self._others.size:
                away = (self._home - self.q)[self._others]
                effort[self._others] += 20.0 * away - 2.0 * self.qd[self._others]
            self.qd += dt * self._workspace.forward_dynamics(self.q, self.qd, effort)
        self.q += dt * self.qd
        beyond = (self.q < self._lower) | (self.q > self._upper)
        if beyond.any():
            self.q[:] = np.clip(self.q, self._lower, self._upper)
            self.qd[beyond] = 0.0
