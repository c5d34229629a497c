# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The robot as it stands before the control: with what it carries, less what its hardware carries.

Payloads come and go while the control runs. Inertial parameters are blended, so that the efforts
are those of a robot whose load grows: nothing steps, and a pose that is held stays held. Some
hardware compensates gravity or a payload by itself; what it does must not be commanded again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import enum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..robot import Payload, RobotModel

Array: TypeAlias = NDArray[np.float64]


class HardwareCompensation(enum.Enum):
    """What the robot's own controller adds to every command."""

    GRAVITY = 'gravity'
    FRICTION = 'friction'
    PAYLOAD = 'payload'


class LoadedRobot:
    """
    Dynamics of a robot with payloads; efforts are of shape (n,), overwritten by the next call.

    :param model: the robot without payloads
    :param payloads: what it carries from the start
    :param hardware: what is left to the hardware
    """

    def __init__(
        self,
        model: RobotModel,
        payloads: Sequence[Payload] = (),
        hardware: Iterable[HardwareCompensation] = (),
    ) -> None:
        self.model = model
        self._loaded = model.workspace()
        self._bare = model.workspace()
        self._weightless = model.with_gravity(np.zeros(3)).workspace()
        self._still = np.zeros(model.nv)
        hardware = frozenset(hardware)
        self._bare_compensated = HardwareCompensation.GRAVITY in hardware
        self._payload_compensated = HardwareCompensation.PAYLOAD in hardware
        self._own = _inertias(self._bare.bodies)
        self._added = _sum_of(model, payloads)
        self._start = self._target = self._added
        self._remaining = 0.0
        self._duration = 1.0
        self._pushed = False
        self._write()

    @property
    def pushed(self) -> bool:
        """Whether anything pushes on the robot."""
        return self._pushed

    @property
    def blending(self) -> bool:
        """Whether payloads are still changing."""
        return self._remaining > 0.0

    def set_payloads(self, payloads: Sequence[Payload], duration: float) -> None:
        """
        Let payloads take the place of those before.

        :param payloads: all that the robot carries, on links that it has
        :param duration: of the blend, s
        """
        self._start, self._target = self._added, _sum_of(self.model, payloads)
        self._duration = self._remaining = max(duration, 1e-9)

    def advance(self, period: float) -> None:
        """
        Go on with the blend of payloads.

        :param period: time since the last call, s
        """
        if self._remaining > 0.0:
            self._remaining = max(self._remaining - period, 0.0)
            left = self._remaining / self._duration
            # Of two bodies that can be, what lies between can be too.
            self._added = left * self._start + (1.0 - left) * self._target
            self._write()

    def set_base(self, gravity: Array, velocity: Array, acceleration: Array) -> None:
        """
        Set how the base moves.

        :param gravity: acceleration of free fall in the root link's frame, shape (3,), m/s^2
        :param velocity: spatial velocity of the root link in its own axes, shape (6,)
        :param acceleration: spatial acceleration, shape (6,)
        """
        for workspace in (self._loaded, self._bare):
            workspace.set_base_motion(gravity, velocity, acceleration)

    def gravity(self, q: Array) -> Array:
        """
        Return g(q), the efforts that hold the robot and all that it carries.

        :param q: joint positions, rad or m
        """
        return self._loaded.gravity_torques(q)

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
        if self._bare_compensated:
            of = self._loaded if self._payload_compensated else self._bare
            return of.gravity_torques(q)
        if self._payload_compensated:
            return self._loaded.gravity_torques(q) - self._bare.gravity_torques(q)
        return None

    def clear_wrenches(self) -> None:
        """Let nothing push on the robot."""
        self._weightless.clear_external_forces()
        self._pushed = False

    def add_wrench(self, body: int, moment: Array, force: Array) -> None:
        """
        Let the environment push on a body.

        :param body: the body's number in the model's tree
        :param moment: about the body frame's origin, in body coordinates, shape (3,), N m
        :param force: in body coordinates, shape (3,), N
        """
        self._weightless.add_external_force(body, moment, force)
        self._pushed = True

    def external(self, q: Array) -> Array:
        """
        Return -J^T f, the efforts that hold the robot against what pushes on it.

        :param q: joint positions, rad or m
        """
        return self._weightless.inverse_dynamics(q, self._still, self._still)

    def _write(self) -> None:
        """Give the bodies their own inertia and what they carry."""
        total = self._own + self._added
        bodies = self._loaded.bodies
        bodies['mass'], bodies['h'] = total[:, 0], total[:, 1:4]
        bodies['J'] = total[:, 4:].reshape(-1, 3, 3)


def _inertias(bodies: NDArray[np.void]) -> Array:
    """Return mass, first moment and rotational inertia of bodies, shape (bodies, 13)."""
    J = bodies['J'].reshape(len(bodies), 9)
    return np.column_stack([bodies['mass'], bodies['h'], J])


def _sum_of(model: RobotModel, payloads: Sequence[Payload]) -> Array:
    """Return what payloads add to each body, as :func:`_inertias` has it."""
    added = np.zeros((len(model.tree.bodies), 13))
    for payload in payloads:
        frame = model.tree.frames[payload.link]
        inertia = payload.rigid_body_inertia.seen_from(frame.placement)
        added[frame.body] += np.concatenate([[inertia.mass], inertia.h, inertia.J.ravel()])
    return added
