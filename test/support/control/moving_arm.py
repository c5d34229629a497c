# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""An arm that moves under commands, gravity, friction, pushes and the stops of its joints."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rnea_ros import RobotModel

Array = NDArray[np.float64]

STEP = 0.002
"""Longest step of the integration, s."""


class MovingArm:
    """
    Moves all n joints of a model; the joints that are not commanded keep their positions.

    :param model: the robot
    :param commanded: indices of the commanded joints, shape (m,)
    :param q: where the arm starts, shape (n,)
    :param friction: viscous and Coulomb friction of each joint, N m s/rad and N m
    :param compensates: whether the robot compensates gravity, and its friction
    :ivar command: efforts of the motors, shape (m,); None: brakes, or another controller, hold it
    :ivar push: efforts of the environment, shape (n,)
    :ivar travel: velocity at which another controller moves the arm, shape (n,)
    """

    def __init__(
        self, model: RobotModel, commanded: NDArray[np.intp], q: Array,
        friction: tuple[float, float], compensates: tuple[bool, bool],
    ) -> None:
        self._commanded, self._friction = commanded, friction
        self._others = np.setdiff1d(np.arange(model.nv), commanded)
        self._compensates_gravity, compensates_friction = compensates
        if compensates_friction:
            self._friction = (0.0, 0.0)
        self._lower = np.where(model.continuous, -np.inf, model.position_lower)
        self._upper = np.where(model.continuous, np.inf, model.position_upper)
        self._home = q.copy()
        self.load(model)
        self.q, self.qd = q.copy(), np.zeros(model.nv)
        self.command: Array | None = None
        self.push, self.travel = np.zeros(model.nv), np.zeros(model.nv)

    def load(self, model: RobotModel) -> None:
        """Carry another payload from now on: that of a model."""
        self._space: Any = model.workspace()

    def gravity(self) -> Array:
        """Return what the motors of all joints need to hold the arm here, shape (n,)."""
        gravity: Array = self._space.gravity_torques(self.q).copy()
        return 0.0 * gravity if self._compensates_gravity else gravity

    def energy(self) -> float:
        """Return the kinetic energy, J."""
        return 0.5 * float(self.qd @ self._space.mass_matrix(self.q) @ self.qd)

    def step(self, duration: float) -> None:
        """Move for a time, s."""
        steps = max(int(np.ceil(duration / STEP - 1e-6)), 1)
        for _ in range(steps):
            self._move(duration / steps)

    def _move(self, dt: float) -> None:
        if self.command is None:
            self.qd[:] = self.travel
        else:
            viscous, coulomb = self._friction
            effort = self.push - viscous * self.qd - coulomb * np.tanh(self.qd / 0.05)
            effort[self._commanded] += self.command
            if self._compensates_gravity:
                effort += self._space.gravity_torques(self.q)
            away = (self._home - self.q)[self._others]
            effort[self._others] += 20.0 * away - 2.0 * self.qd[self._others]
            self.qd += dt * self._space.forward_dynamics(self.q, self.qd, effort)
        self.q += dt * self.qd
        beyond = (self.q < self._lower) | (self.q > self._upper)
        if beyond.any():
            self.q[:] = np.clip(self.q, self._lower, self._upper)
            self.qd[beyond] = 0.0
