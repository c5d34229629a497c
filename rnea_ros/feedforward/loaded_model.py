# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The robot's dynamics with payloads, and the part of gravity that the hardware compensates.

Wrong masses of a URDF can be corrected roughly by a factor of gravity for each joint. It does not
apply to payloads, whose weight is stated. Springs at the joints are part of gravity g(q) here:
they carry a load at rest, and no URDF has them. What the hardware compensates has factor and
springs too: the hardware's own model holds the arm, whatever the URDF says, and the rest must not
be commanded.

A payload is added to the inertia of its link. A change of payloads is blended: the inertial
parameters of the bodies move linearly to those with the new payloads. Some robots compensate
gravity, or that of a payload, in their own controllers; that part must not be commanded a second
time. If they do so for another direction of gravity, as on an inclined base, the difference is
commanded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
import enum

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..dynamics import Workspace
from ..dynamics.tree import KinematicTree
from ..robot import Payload, RobotModel


class HardwareCompensation(enum.Enum):
    """Efforts that the robot's own controller adds to every command."""

    GRAVITY = 'gravity'
    FRICTION = 'friction'
    PAYLOAD = 'payload'


@dataclass(frozen=True)
class JointSpring:
    """
    Springs of n joints, such as counterbalances: holding a position takes the effort k (q - q_0).

    :param stiffness: k, shape (n,), N m/rad or N/m; 0 without a spring
    :param rest_position: q_0, shape (n,), rad or m
    """

    stiffness: Array
    rest_position: Array

    @classmethod
    def none(cls, n: int) -> JointSpring:
        """Return joints without springs."""
        return cls(np.zeros(n), np.zeros(n))

    def effort(self, q: Array) -> Array:
        """Return the efforts that hold positions against the springs, shape (..., n)."""
        efforts: Array = self.stiffness * (q - self.rest_position)
        return efforts


AT_REST = np.zeros(6)
"""Spatial velocity or acceleration."""


class LoadedModel:
    """
    Dynamics of a robot with payloads; the next call overwrites a result.

    :param model: the robot without payloads
    :param hardware: efforts that the hardware compensates
    :param hardware_gravity: gravitational acceleration for which it does so, shape (3,), m/s^2;
        None for that of the model, or of :meth:`set_base`
    :ivar corrected: whether any joint has a spring, or a factor of gravity other than 1
    :ivar loaded_bodies: the bodies, with payloads; ``set_payloads``: replaces these at once
    :ivar inverse_dynamics: returns ID(q, qd, qdd), shape (n,)
    :ivar bias: returns C(q, qd) qd + g(q), shape (n,)
    :ivar mass_matrix: returns M(q), shape (n, n)
    """

    def __init__(
        self, model: RobotModel, hardware: Iterable[HardwareCompensation] = (),
        hardware_gravity: Sequence[float] | None = None,
    ) -> None:
        self.model = model
        self._loaded = model.workspace()
        self._unloaded = model.workspace()
        self.loaded_bodies = LoadedBodies(self._loaded, model.tree)
        self.set_payloads = self.loaded_bodies.set_payloads
        self.mass_matrix = self._loaded.mass_matrix
        self._zero = np.zeros(model.nv)
        self._base_turns = False
        self.set_corrections(np.ones(model.nv), JointSpring.none(model.nv))
        hardware = frozenset(hardware)
        self._robot_compensated = HardwareCompensation.GRAVITY in hardware
        self._payload_compensated = HardwareCompensation.PAYLOAD in hardware
        self._compensates = self._robot_compensated or self._payload_compensated
        self._hardware_gravity = None if hardware_gravity is None else np.array(hardware_gravity)
        self._base = (model.gravity, *model.base_motion.spatial())

    @property
    def bodies(self) -> NDArray[np.void]:
        """Records of the bodies with payloads, on the base, for kernels."""
        return self._loaded.bodies

    def set_base(self, gravity: Array, velocity: Array, acceleration: Array) -> None:
        """Set gravity, velocity and acceleration of the base, as in :class:`.BaseState`."""
        self._base = (gravity, velocity, acceleration)
        self._base_turns = bool(velocity.any() or acceleration[:3].any())
        for workspace in (self._loaded, self._unloaded):
            workspace.set_base_motion(*self._base)

    def set_corrections(self, factor: Array, spring: JointSpring) -> None:
        """
        Multiply the gravity efforts of the robot without payloads, shape (n,), and add springs.

        Replaces the functions ``bias`` and ``inverse_dynamics``.
        """
        self._factor, self._excess, self._spring = factor, factor - 1.0, spring
        self.corrected = bool((factor != 1.0).any() or spring.stiffness.any())
        self.bias = self._with_correction(self._loaded.bias_torques)
        self.inverse_dynamics = self._with_correction(self._loaded.inverse_dynamics)

    def gravity(self, q: Array) -> Array:
        """Return g(q), which holds robot and payloads at rest on the base, even if that moves."""
        gravity = self._at_rest(self._loaded, q)
        return gravity + self.correction(q) if self.corrected else gravity

    def correction(self, q: Array) -> Array:
        """Return what factor and springs add to g(q), shape (n,)."""
        return self._excess * self._at_rest(self._unloaded, q) + self._spring.effort(q)

    def _with_correction(self, efforts: Callable[..., Array]) -> Callable[..., Array]:
        if not self.corrected:
            return efforts
        return lambda q, *motion: efforts(q, *motion) + self.correction(q)

    def compensated(self, q: Array, gravity: Array) -> Array | None:
        """Return the part of g(q) that the hardware compensates; None for no part."""
        if not self._compensates:
            return None
        if self._hardware_gravity is not None:
            return self._under_gravity(self._hardware_gravity, q)
        if self._robot_compensated and self._payload_compensated:
            return gravity
        unloaded = self._at_rest(self._unloaded, q)
        if self.corrected:
            unloaded = self._factor * unloaded + self._spring.effort(q)
        return unloaded if self._robot_compensated else gravity - unloaded

    def _under_gravity(self, gravity: Array, q: Array) -> Array:
        """Return what the hardware compensates under a gravity, on a base at rest."""
        effort = np.zeros(q.size)
        if self._robot_compensated:
            effort += self._spring.effort(q)
        # robot factor g(unloaded) + payload (g(loaded) - g(unloaded)), where each is 0 or 1
        payload, robot = float(self._payload_compensated), self._robot_compensated * self._factor
        for workspace, share in ((self._loaded, payload), (self._unloaded, robot - payload)):
            if np.any(share):
                workspace.set_base_motion(gravity, AT_REST, AT_REST)
                effort += share * workspace.gravity_torques(q)
                workspace.set_base_motion(*self._base)
        return effort

    def _at_rest(self, workspace: Workspace, q: Array) -> Array:
        if self._base_turns:
            return workspace.bias_torques(q, self._zero)
        return workspace.gravity_torques(q)


class LoadedBodies:
    """
    Blends payloads into the bodies of the workspace of a tree without payloads.

    Inertial parameters add up: the state of a blend is one array, however many payloads were
    changed before its end.
    """

    def __init__(self, workspace: Workspace, tree: KinematicTree) -> None:
        self._bodies = workspace.bodies
        self._tree = tree
        J = tree.bodies['J'].reshape(len(tree.bodies), 9)
        # Rows: mass, h and J of a body.
        self._unloaded = np.column_stack([tree.bodies['mass'], tree.bodies['h'], J])
        self._parameters = self._before = self._target = self._unloaded

    def parameters(self, payloads: Sequence[Payload]) -> Array:
        """Return the inertial parameters of the bodies with payloads; any thread may call this."""
        total = self._unloaded.copy()
        for payload in payloads:
            frame = self._tree.frames[payload.link]
            inertia = payload.rigid_body_inertia.transformed(frame.placement)
            total[frame.body] += np.concatenate([[inertia.mass], inertia.h, inertia.J.ravel()])
        return total

    def change(self, parameters: Array) -> None:
        """Start a blend from the present parameters to a result of :meth:`parameters`."""
        self._before, self._target = self._parameters, parameters

    def blend(self, share: float) -> None:
        """Write the bodies at a share of the blend, from 0 to 1, the end."""
        at_end = share == 1.0  # exact
        difference = self._target - self._before
        self._parameters = self._target if at_end else difference * share + self._before
        self._bodies['mass'], self._bodies['h'] = self._parameters[:, 0], self._parameters[:, 1:4]
        self._bodies['J'] = self._parameters[:, 4:].reshape(-1, 3, 3)

    def set_payloads(self, payloads: Sequence[Payload]) -> None:
        """Replace the payloads at once."""
        self.change(self.parameters(payloads))
        self.blend(1.0)


class PayloadBlend:
    """Blends bodies from one set of payloads to another, after the first set at once."""

    def __init__(self, loaded: Sequence[LoadedBodies], payloads: Sequence[Payload] = ()) -> None:
        self._loaded = tuple(loaded)
        self._remaining, self._duration = 0.0, 1.0
        for bodies in self._loaded:
            bodies.set_payloads(payloads)

    def prepare(self, payloads: Sequence[Payload]) -> list[Array]:
        """Return the parameters for :meth:`change` to all payloads; any thread may call this."""
        return [bodies.parameters(payloads) for bodies in self._loaded]

    def change(self, prepared: Sequence[Array], duration: float) -> None:
        """Start a blend from the present bodies to a result of :meth:`prepare`; duration in s."""
        for bodies, parameters in zip(self._loaded, prepared, strict=True):
            bodies.change(parameters)
        self._duration = self._remaining = max(duration, 1e-9)

    def advance(self, dt: float) -> None:
        """Advance the blend; once a tick."""
        if self._remaining == 0.0:
            return
        self._remaining = max(self._remaining - dt, 0.0)
        for bodies in self._loaded:
            bodies.blend(1.0 - self._remaining / self._duration)
