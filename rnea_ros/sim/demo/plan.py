# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A pose, gains and a motion that suit any arm.

They follow from its inertia, its weight and its limits: the arm can carry itself at the pose and
during the motion, and stays within its position limits even where feedback alone holds it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
import math

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...errors import RneaError
from ...identification.excitation import JointLimits, RestToRestMotion
from ...robot import RobotModel

AMPLITUDE = 0.5  # greatest, rad or m
ROOM_SHARE, SPEED_SHARE = 0.8, 0.6  # of the way to a position limit; of the velocity limit
FREQUENCIES = (0.25, 0.5)  # of the first and of the last joint, Hz
FADE = 1.0  # time to the full amplitude, s
POINT_INTERVAL = 0.04  # of the trajectory, s
KP, KD = 100.0, 20.0  # of computed torque, 1/s^2, 1/s: errors fade at 10 rad/s, critically damped
MAX_KP = 2500.0  # greatest gain of computed torque, 1/s^2: errors fade at 50 rad/s
SAG, SAG_SHARE = 0.25, 0.3  # under feedback alone: rad or m; share of the way to a position limit
ARMATURE, ARMATURE_SHARE = 0.1, 0.1  # greatest, kg m^2 or kg; share of the largest link inertia
LOAD = 0.6  # share of the effort limits that the motion may need
MIN_SCALE = 0.4  # of a motion at the usual pose; below it another pose is searched
HALVINGS = 6  # of a motion until it counts as not possible
POSES = 100  # random ones that are tried
NO_MASS = 1e-9  # inertia below which a joint moves no mass, kg m^2 or kg
MAX_EFFORT = 1e6  # larger ones are not limits, N m or N


class UnsuitableArmError(RneaError):
    """The demo cannot show an arm."""


@dataclass(frozen=True)
class DemoPlan:
    """What the demo does with an arm of m commanded joints."""

    pose: Array  # start pose, shape (m,), rad or m
    armature: Array  # rotor inertias of the joints, shape (m,), kg m^2 or kg
    inertia: Array  # inertias of the joints at the pose, with rotors, shape (m,), kg m^2 or kg
    kp: Array  # gains of computed torque, shape (m,), 1/s^2
    motion: RestToRestMotion  # from the pose and back to it
    effort: Array  # greatest effort of each joint in the motion, shape (m,), N m or N

    @property
    def kd(self) -> Array:
        """Derivative gains for critical damping, shape (m,), 1/s."""
        damping: Array = 2.0 * np.sqrt(self.kp)
        return damping


class Planner:
    """Searches a plan of a duration, s; the usual pose, shape (m,), is tried first."""

    def __init__(
        self, model: RobotModel, joints: tuple[str, ...], usual: Array, duration: float
    ) -> None:
        self._model, self._joints, self._usual = model, joints, usual
        self._motion = partial(sine_motion, model, joints, duration=duration)
        self._numbers = [model.joint_names.index(name) for name in joints]
        limits = JointLimits.of(model)  # mimic joints included
        self._lower, self._upper = limits.lower[self._numbers], limits.upper[self._numbers]
        self._effort = known_efforts(model)[self._numbers]
        self._slides = slides(model, joints)
        if (self._lower > self._upper).any():
            name = joints[int(np.argmax(self._lower > self._upper))]
            raise UnsuitableArmError(f'no position of joint {name!r} is within its limits')

    def plan(self) -> DemoPlan:
        """Return the plan for the usual pose, or for the pose that permits the largest motion."""
        best, best_scale = self._at(self._usual), 0.0
        for pose in self._poses():
            plan = self._at(pose)
            scale = self._scale(plan)
            if scale > best_scale:
                best, best_scale = plan, scale
            if best_scale >= (MIN_SCALE if pose is self._usual else 1.0):
                break
        if best_scale == 0.0:
            self._reject_weak(best)
        motion = _scaled(best.motion, best.pose, best_scale)
        effort = self._efforts(motion, best.armature)
        return DemoPlan(best.pose, best.armature, best.inertia, best.kp, motion, effort)

    def _poses(self) -> Iterator[Array]:
        """Yield the usual pose, then random ones in the inner part of the position range."""
        yield self._usual
        random = np.random.default_rng(1)
        reach = np.where(self._slides, 0.1, 1.5)
        bounded = np.isfinite(self._upper - self._lower)
        lower = np.where(bounded, self._lower, self._usual - reach)
        width = np.where(bounded, self._upper - self._lower, 2.0 * reach)
        for _ in range(POSES):
            yield lower + random.uniform(0.2, 0.8, lower.size) * width

    def _at(self, pose: Array) -> DemoPlan:
        """Return the plan at a pose, with the largest motion of positions and velocities."""
        q = self._model.neutral_position
        q[self._numbers] = pose
        links = np.diag(self._model.mass_matrix(q))[self._numbers]
        if (links < NO_MASS).any():
            fault, remedy = 'move no mass', 'the URDF needs <inertial> in the links'
            if links.min() < -NO_MASS:
                fault = f'have a negative inertia ({links.min():.3g} kg m^2 or kg)'
                remedy = 'correct <inertia> in the URDF'
            raise UnsuitableArmError(
                f'{(links < NO_MASS).sum()} of {links.size} joints {fault}, as '
                f'{self._joints[int(links.argmin())]!r}: {remedy}'
            )
        armature = np.full(links.size, ARMATURE)
        for kind in (self._slides, ~self._slides):
            if kind.any():
                armature[kind] = min(ARMATURE, ARMATURE_SHARE * links[kind].max())
        inertia = links + armature
        room = np.minimum(pose - self._lower, self._upper - pose)
        q = self._full(self._motion(pose).positions, q)
        weight = np.abs(self._model.gravity_torques_batch(q))[:, self._numbers].max(axis=0)
        sag = np.maximum(np.minimum(SAG, SAG_SHARE * room), 1e-6)
        kp = np.clip(weight / (sag * inertia), KP, MAX_KP)
        motion = self._motion(pose, sag=weight / (kp * inertia))
        return DemoPlan(pose, armature, inertia, kp, motion, weight)

    def _efforts(self, motion: RestToRestMotion, armature: Array) -> Array:
        """Return the greatest effort of each joint in a motion, shape (m,), N m or N."""
        none = np.zeros(self._model.nv)
        efforts = self._model.inverse_dynamics_batch(
            self._full(motion.positions, self._model.neutral_position),
            self._full(motion.velocities, none), self._full(motion.accelerations, none)
        )[:, self._numbers]
        greatest: Array = np.abs(efforts + armature * motion.accelerations).max(axis=0)
        return greatest

    def _full(self, values: Array, others: Array) -> Array:
        """Return values of all joints, shape (N, n)."""
        full = np.tile(others, (len(values), 1))
        full[:, self._numbers] = values
        return full

    def _scale(self, plan: DemoPlan) -> float:
        """Return the share of a plan's motion that the effort limits permit, 0 to 1."""
        def permitted(scale: float) -> bool:
            motion = _scaled(plan.motion, plan.pose, scale)
            return bool((self._efforts(motion, plan.armature) <= LOAD * self._effort).all())

        if not np.ptp(plan.motion.positions, axis=0).any():
            raise UnsuitableArmError('no joint has room to move within its position limits')
        if permitted(1.0):
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if permitted(middle) else (low, middle)
        return low

    def _reject_weak(self, plan: DemoPlan) -> None:
        """Raise the error of the most loaded joint: at rest, or in the smallest motion."""
        for scale in (0.0, 2.0**-HALVINGS):
            needed = self._efforts(_scaled(plan.motion, plan.pose, scale), plan.armature)
            joint = int(np.argmax(needed / self._effort))
            if needed[joint] > LOAD * self._effort[joint]:
                break
        unit, kg = ('N', 'kg') if self._slides[joint] else ('N m', 'kg m^2')
        purpose, use = 'carry itself', 'the weight'
        if scale > 0.0:
            purpose = f'move (are its masses in kg, its inertias in {kg}?)'
            use = f'{scale:.0%} of the motion with an inertia of {plan.inertia[joint]:.3g} {kg}'
        raise UnsuitableArmError(
            f'{self._model.name!r} is too weak to {purpose}: joint {self._joints[joint]!r} needs '
            f'{needed[joint]:.3g} {unit} for {use}, more than {LOAD:.0%} of its effort limit of '
            f'{self._effort[joint]:.3g} {unit}; no better pose among {POSES}'
        )


def known_efforts(model: RobotModel) -> Array:
    """Return the effort limits of a URDF, shape (n,), N m or N; infinite for unknown ones."""
    known = (model.effort_limits > 0.0) & (model.effort_limits <= MAX_EFFORT)
    limits: Array = np.where(known, model.effort_limits, np.inf)
    return limits


def slides(model: RobotModel, joints: tuple[str, ...]) -> NDArray[np.bool_]:
    """Return which joints are prismatic, shape (m,)."""
    assert model.description is not None
    return np.array([model.description.joints[name].type == 'prismatic' for name in joints])


def _scaled(motion: RestToRestMotion, pose: Array, scale: float) -> RestToRestMotion:
    return RestToRestMotion(
        motion.joint_names, motion.times, pose + scale * (motion.positions - pose),
        scale * motion.velocities, scale * motion.accelerations
    )


def sine_motion(
    model: RobotModel, joints: tuple[str, ...], pose: Array, duration: float,
    sag: Array | float = 0.0
) -> RestToRestMotion:
    """Return sines about the pose, from rest to rest, ``sag`` (rad or m) within the limits."""
    numbers = [model.joint_names.index(name) for name in joints]
    limits = JointLimits.of(model)
    room = np.minimum(pose - limits.lower[numbers], limits.upper[numbers] - pose)
    omega = math.tau * np.linspace(*FREQUENCIES, num=len(joints))
    t = np.linspace(0.0, duration, math.ceil(duration / POINT_INTERVAL) + 1)
    w, w1, w2 = _window(t, duration)
    phase = np.outer(t, omega)
    s, s1, s2 = np.sin(phase), omega * np.cos(phase), -(omega**2) * np.sin(phase)
    velocity = w1 * s + w * s1
    speed = SPEED_SHARE * limits.velocity[numbers] / np.abs(velocity).max(axis=0)
    reach = np.minimum(ROOM_SHARE * room, room - sag)
    amplitude = np.clip(np.minimum(reach, speed), 0.0, AMPLITUDE)
    return RestToRestMotion(
        joints, t, pose + amplitude * w * s, amplitude * velocity,
        amplitude * (w2 * s + 2.0 * w1 * s1 + w * s2)
    )


def _window(t: Array, duration: float) -> tuple[Array, Array, Array]:
    """Return a factor that fades in and out, and its two derivatives, shapes (k, 1)."""
    fade = min(FADE, 0.5 * duration)
    rising = np.clip(t / fade, 0.0, 1.0)
    falling = np.clip((duration - t) / fade, 0.0, 1.0)
    s = np.minimum(rising, falling)
    sign = np.where(rising <= falling, 1.0, -1.0)
    value = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    first = sign * 30.0 * s**2 * (1.0 - s) ** 2 / fade
    second = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / fade**2
    return value[:, None], first[:, None], second[:, None]
