# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Cartesian impedance: springs and dampers between a link and a target pose x_d.

In the root link's axes, [linear; angular]::

    tau = g(q) + J^T F + N (k (q_0 - q) - d N qd),     N = 1 - J^T (J J^T)^-1 J
    F = K e + D (x'_d - J qd) + Lambda x''_d

Of Lambda = (J M^-1 J^T)^-1 only the inverse is computed, which is finite at every pose. The modes
of the springs are the eigenvectors of K^1/2 Lambda^-1 K^1/2, without units; the eigenvalues w^2
are their squared natural frequencies. D = 2 zeta K^1/2 (K^1/2 Lambda^-1 K^1/2)^-1/2 K^1/2 gives
each mode the damping ratio zeta, as in A. Albu-Schaeffer et al., *Cartesian impedance control of
redundant robots: recent results with the DLR light-weight-arms*, ICRA 2003. At a singularity a w
is zero: it counts as :data:`SLOWEST`. A light wrist's w counts as :data:`FASTEST` at most, which
softens its springs.

A spring pulls at most with max_force or max_torque, and so that it alone drives the link at
:data:`DRIVE` times the target's largest velocity. Joints near their velocity limits are braked.

The orientation's error is 2 sin(angle / 2) about the axis of rotation. It has no jump at half
turns, because its quaternion keeps its sign from tick to tick.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any

import numpy as np

from ..arrays import Array
from ..dynamics import quaternions
from ..errors import InputError, brief
from ..parameters import EACH, active, parameter
from .laws import ControlLaw
from .loaded_model import LoadedModel

SLOWEST, FASTEST = 1.0, 100.0
"""
Natural frequencies of the springs' modes between which the formula is exact, rad/s.

Above FASTEST, and above :data:`PER_TICK` in the period, a spring is softened: its damping would
shake the arm.
"""

PER_TICK = 0.4
"""
Greatest natural frequency times the period.

Dampers of springs then take at most 0.8 of a velocity in a tick, those of the posture at most 0.2.
"""

LOST = 1e-4 * np.eye(6)
"""Square of the singular values of J at which a direction counts as lost, m^2 and 1."""

DRIVE = 4.0  # a spring's largest velocity, per largest velocity of the target
BRAKED_FROM = 0.7  # share of a joint's velocity limit
WHERE_IT_BEGAN = (0.0,)  # value of posture
MIN_INERTIA = 1e-9  # added to every joint, kg m^2 or kg: a link may have none
ORIGIN = np.zeros(3)

RATE = 30.0  # of the poles of the way to a target, 1/s: it lags by 3 / RATE
AHEAD = 2.97 / RATE  # way per maximum velocity, s; 3 less the filter's overshoot of its velocity


class Approach:
    """
    The pose that acts, on its way to a target; its acceleration is continuous.

    A filter with three poles at -:data:`RATE` overshoots no target from rest. The way that it gets
    is cut, which bounds its velocity. It is integrated backwards, so any ``dt`` is stable.

    :ivar position: shape (3,), m; ``orientation``: unit quaternion x, y, z, w
    :ivar velocity: [linear; angular], shape (6,), m/s and rad/s; ``acceleration``: its rate
    """

    def __init__(self, position: Array, orientation: Array) -> None:
        self.position, self.orientation = position, orientation
        self.velocity, self.acceleration = np.zeros((2, 6))
        self._half_turn = np.array([0.0, 0.0, 0.0, 1.0])

    def advance(
        self, position: Array, orientation: Array, dt: float, linear: float, angular: float
    ) -> None:
        """Go on to a target, once a tick, at no more than these velocities, m/s and rad/s."""
        turn = quaternions.product(orientation, quaternions.conjugate(self.orientation))
        way = np.concatenate([position - self.position, quaternions.logarithm(turn)])
        bounded(way, AHEAD * linear, AHEAD * angular)
        v, rate = self.velocity, RATE * RATE * dt
        self.acceleration += rate * (RATE * (way - dt * v) - 3.0 * v)
        self.acceleration /= (1.0 + RATE * dt) ** 3
        v += dt * self.acceleration
        self.position = self.position + dt * v[:3]
        self._half_turn[:3] = 0.5 * dt * v[3:]
        turned = quaternions.product(self._half_turn, self.orientation)
        self.orientation = turned / math.sqrt(turned @ turned)


class CartesianImpedance(ControlLaw):
    """g(q) + J^T (K e + D (x'_d - J qd) + Lambda x''_d) + N (k (q_0 - q) - d N qd)."""

    name = 'cartesian_impedance'
    follows_motions = False
    takes_poses = True

    @dataclass(frozen=True)
    class Parameters:
        """Parameters ``cartesian_impedance.*``."""

        link: str = parameter(
            '', 'link that the springs hold; empty: the one that the last commanded joint moves'
        )
        stiffness: tuple[float, ...] = active(
            (400.0, 400.0, 400.0, 20.0, 20.0, 20.0), 'stiffness K along x, y, z, N/m, then about '
            "x, y, z, N m/rad, in the root link's axes", (0.0, 1e4),
        )
        damping_ratio: float = active(1.0, 'damping ratio zeta; 1: no overshoot', (0.0, 2.0))
        null_stiffness: tuple[float, ...] = active(
            (5.0,), f'stiffness k towards the posture, {EACH}, N m/rad or N/m: as far as it does '
            'not move the link', (0.0, 1000.0),
        )
        posture: tuple[float, ...] = active(
            (0.0,), 'posture q_0, one position per commanded joint, rad or m; [0.0]: where the '
            'arm was when the mode began', (-1000.0, 1000.0),
        )
        max_force: float = active(50.0, 'largest force of springs and dampers, N', (0.0, 1e4))
        max_torque: float = active(10.0, 'largest torque of springs and dampers, N m', (0.0, 1e4))
        max_velocity: float = active(
            0.25, 'largest speed of the way to a target, m/s', (0.001, 10.0)
        )
        max_angular_velocity: float = active(
            0.6, 'largest angular speed of the way to a target, rad/s', (0.001, 10.0)
        )

        def __post_init__(self) -> None:
            if len(self.stiffness) != 6:
                raise InputError(
                    'cartesian_impedance.stiffness', f'{brief(self.stiffness)} is not six numbers'
                )

    def __init__(self, robot: LoadedModel, kp: Array, kd: Array, **options: Any) -> None:
        super().__init__(robot, kp, kd, **options)
        model, own, joints = robot.model, self.parameters, self.joints
        self._space = model.workspace()
        self._body, self._frame = model.link_frames[self._link()]
        armature = self._zero if self._armature is None else self._armature
        self._identity = np.eye(joints.size)
        self._rotors = np.diag(armature[joints] + MIN_INERTIA)
        self._T, self._J = np.zeros((4, 4)), np.zeros((6, model.nv))
        root = self._root = np.sqrt(own.stiffness)
        self._inverse_root = np.divide(1.0, root, where=root > 0.0, out=np.zeros(6))
        self._turns = self._continuous[joints]
        speeds = BRAKED_FROM * model.velocity_limits[joints]
        self._free_speeds = np.where(speeds > 0.0, speeds, np.inf)  # 0 means unknown
        self._stated_posture = None if own.posture == WHERE_IT_BEGAN else np.array(own.posture)
        if self._stated_posture is not None and len(own.posture) != joints.size:
            raise InputError(
                'cartesian_impedance.posture', f'{brief(own.posture)} has {len(own.posture)} '
                f'values, not one for each of {joints.size} commanded joints',
            )
        self._target: tuple[Array, Array] | None = None
        self._approach: Approach | None = None
        self._period = PER_TICK / FASTEST  # the longest so far, s
        self._began, self._orientation = self._zero[joints], np.array([0.0, 0.0, 0.0, 1.0])

    def reset(self) -> None:
        """Hold the link where it is at the next tick."""
        self._approach = self._target = None
        self.target_speed = 0.0

    def continue_from(self, before: ControlLaw) -> None:
        """Keep target and posture."""
        assert isinstance(before, CartesianImpedance)
        self._target, self._approach = before._target, before._approach
        self._period = before._period
        self._began, self._orientation = before._began, before._orientation

    def move_to(self, position: Array, orientation: Array) -> None:
        """Go to a pose of the link, and hold it there."""
        self._target = position, orientation

    def weightless(self, q: Array, qd: Array) -> Array:
        """Return the formula of the class."""
        effort = super().weightless(q, qd)
        try:
            effort[self.joints] += self._impedance(q, qd)
        except np.linalg.LinAlgError:  # of numbers that are not finite
            effort[:] = np.nan
        return effort

    def _impedance(self, q: Array, qd: Array) -> Array:
        """Return the efforts of the commanded joints without gravity, shape (m,)."""
        own, joints, space = self.parameters, self.joints, self._space
        if not (
            space.link_pose_into(self._body, self._frame, q, self._T)
            and space.jacobian_into(self._body, self._frame, ORIGIN, q, self._J)
        ):
            return np.full(joints.size, np.nan)
        R, p, in_link_axes = self._T[:3, :3], self._T[:3, 3], self._J[:, joints]
        J = np.concatenate([R @ in_link_axes[3:], R @ in_link_axes[:3]])
        M = self.robot.mass_matrix(q)[joints][:, joints] + self._rotors
        q, qd = q[joints], qd[joints]
        approach = self._approach_at(p.copy(), quaternions.of_rotation(R), q)
        turn = quaternions.product(approach.orientation, quaternions.conjugate(self._orientation))
        error = np.concatenate([approach.position - p, 2.0 * turn[:3]])

        self._period = max(self._period, self.dt)
        fastest = PER_TICK / (self._period * max(own.damping_ratio, 1.0))

        # Springs and dampers, mode by mode
        M_inverse = np.linalg.inv(M)
        mobility = J @ M_inverse @ J.T  # Lambda^-1
        root, zeta = self._root, own.damping_ratio
        w2, modes = np.linalg.eigh(root[:, np.newaxis] * mobility * root)
        w = np.sqrt(np.minimum(np.maximum(w2, SLOWEST**2), fastest**2))
        pull = bounded(own.stiffness * error, own.max_force, own.max_torque)
        drive = self._inverse_root * (modes @ (0.5 * w * (modes.T @ (self._inverse_root * pull))))
        most = DRIVE * min(zeta, 1.0)  # a spring alone moves the link at drive / zeta
        bounded(drive, most * own.max_velocity, most * own.max_angular_velocity)
        rate = root * (drive + zeta * (approach.velocity - J @ qd))
        acceleration = 2.0 * w * (modes.T @ rate) + modes.T @ (root * approach.acceleration)
        wrenches = root[:, np.newaxis] * modes * (acceleration / np.maximum(w2, SLOWEST**2))
        wrench = self._shortened(self._shortened(wrenches).sum(axis=1))

        # The posture, as far as it does not pull the link
        posture = self._began if self._stated_posture is None else self._stated_posture
        way = np.where(self._turns, np.sin(posture - q), posture - q)
        inertia = 1.0 / M_inverse.diagonal()  # of each joint while the others yield
        k = np.minimum(own.null_stiffness, fastest**2 * inertia)
        d = 2.0 * zeta * np.sqrt(k * inertia)
        N = self._identity - J.T @ np.linalg.solve(J @ J.T + LOST, J)
        poles = float((N @ M_inverse @ N).diagonal() @ d)  # sum of the poles of this damping
        d *= min(0.5 * fastest / max(poles, 1e-9), 1.0)
        null = N @ (k * way - d * (N @ qd))
        null -= fastest * inertia * (qd - np.clip(qd, -self._free_speeds, self._free_speeds))
        efforts: Array = J.T @ wrench + null
        return efforts

    def _shortened(self, wrenches: Array) -> Array:
        """
        Return wrenches, shape (6,) or columns (6, k), within max_force and max_torque.

        A wrench keeps its direction: at a singularity, one with its force alone shortened would
        move joints that the whole does not move.
        """
        own, lengths = self.parameters, np.sqrt((wrenches**2).reshape(2, 3, -1).sum(axis=1))
        longest = np.array([[own.max_force], [own.max_torque]])
        share: Array = np.minimum(longest / np.maximum(lengths, 1e-9), 1.0).min(axis=0)
        return wrenches * share

    def _approach_at(self, position: Array, orientation: Array, q: Array) -> Approach:
        """Return the pose that acts now, for the link's pose and the commanded joints."""
        own = self.parameters
        if orientation @ self._orientation < 0.0:
            orientation = -orientation
        self._orientation = orientation
        if self._target is None:
            self._target = position, orientation
        if self._approach is None:
            self._approach, self._began = Approach(position, orientation), q
        self._approach.advance(
            *self._target, self.dt, own.max_velocity, own.max_angular_velocity
        )
        self.target_speed = float(np.linalg.norm(self._approach.velocity))
        return self._approach

    def _link(self) -> str:
        """Return the name of the link, checked."""
        model = self.robot.model
        link: str = self.parameters.link
        if not link:
            last = model.joint_names[self.joints[-1]]
            return next(
                each.name for each in model.tree.links
                if any(movement.coordinate.joint == last for movement in each.joint)
            )
        if link not in model.link_frames:
            raise InputError(
                'cartesian_impedance.link', f'{brief(link)} is not a link of robot '
                f'{model.name!r}; known are {", ".join(model.link_names)}',
            )
        if not model.jacobian(model.neutral_position, link)[:, self.joints].any():
            raise InputError(
                'cartesian_impedance.link', f'no commanded joint moves link {link!r}'
            )
        return link


def bounded(vector: Array, linear: float, angular: float) -> Array:
    """Shorten both halves of a vector in place to these lengths; return it."""
    for half, longest in ((vector[:3], linear), (vector[3:], angular)):
        length = math.sqrt(half @ half)
        if length > longest:
            half *= longest / length
    return vector
