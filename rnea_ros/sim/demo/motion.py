# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Motion and gains of the demo, for any arm."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Protocol

import numpy as np

from ...arrays import Array
from ...feedforward.trajectory import TrajectoryPoint
from ...robot import RobotModel

AMPLITUDE = 0.5
"""Greatest amplitude, rad or m."""

FREQUENCIES = (0.25, 0.5)
"""Frequency of the first and of the last joint, Hz."""

FADE = 1.0
"""Time to the full amplitude, s."""

POINT_INTERVAL = 0.04
"""Interval of the trajectory points, s."""

KP, KD = 100.0, 20.0
"""Gains of computed torque, 1/s^2 and 1/s: errors fade at 10 rad/s, critically damped."""


def inertias(model: RobotModel, joints: tuple[str, ...], pose: Array) -> Array:
    """
    Return the inertia at each joint with the others at rest, diag M(q).

    :param model: model of the robot
    :param joints: names of the commanded joints
    :param pose: their positions, shape (m,), rad or m
    :return: shape (m,), kg m^2 or kg
    """
    numbers = [model.joint_names.index(name) for name in joints]
    q, zero, unit = np.zeros(model.nv), np.zeros(model.nv), np.eye(model.nv)
    q[numbers] = pose
    gravity = model.gravity_torques(q)
    return np.array([
        model.inverse_dynamics(q, zero, unit[number])[number] - gravity[number]
        for number in numbers
    ])


class Reference(Protocol):
    """A motion of the commanded joints."""

    @property
    def duration(self) -> float:
        """Duration, s."""

    def state(self, t: Array) -> tuple[Array, Array, Array]:
        """Return positions, velocities and accelerations at times, shapes (k, m)."""

    def points(self) -> list[TrajectoryPoint]:
        """Return the motion as trajectory points."""


@dataclass(frozen=True)
class Motion:
    """
    Sine motion of every joint about its start position, from rest to rest.

    :param joints: names of the joints
    :param centre: start positions, shape (m,), rad or m
    :param amplitude: shape (m,), rad or m
    :param frequency: shape (m,), Hz
    :param duration: duration, s
    """

    joints: tuple[str, ...]
    centre: Array
    amplitude: Array
    frequency: Array
    duration: float

    @classmethod
    def for_robot(
        cls, model: RobotModel, joints: tuple[str, ...], pose: Array, duration: float
    ) -> Motion:
        """
        Return a demanding motion within the limits of position and velocity.

        :param model: model of the robot
        :param joints: names of the commanded joints
        :param pose: their start positions, shape (m,), rad or m
        :param duration: duration, s
        """
        numbers = [model.joint_names.index(name) for name in joints]
        room = np.minimum(
            pose - model.position_lower[numbers], model.position_upper[numbers] - pose
        )
        frequency = np.linspace(*FREQUENCIES, num=len(joints))
        speed = 0.6 * model.velocity_limits[numbers] / (math.tau * frequency)
        amplitude = np.minimum(np.minimum(AMPLITUDE, 0.8 * room), speed)
        return cls(joints, pose, amplitude, frequency, duration)

    def state(self, t: Array) -> tuple[Array, Array, Array]:
        """
        Return positions, velocities and accelerations, shapes (k, m).

        :param t: times since the start, shape (k,), s
        """
        w, w1, w2 = _window(t, self.duration)
        omega = math.tau * self.frequency
        phase = np.outer(t, omega)
        s, s1, s2 = np.sin(phase), omega * np.cos(phase), -(omega**2) * np.sin(phase)
        q = self.centre + self.amplitude * w * s
        qd = self.amplitude * (w1 * s + w * s1)
        qdd = self.amplitude * (w2 * s + 2.0 * w1 * s1 + w * s2)
        return q, qd, qdd

    def points(self) -> list[TrajectoryPoint]:
        """Return the motion as trajectory points."""
        t = np.linspace(0.0, self.duration, math.ceil(self.duration / POINT_INTERVAL) + 1)
        return [
            TrajectoryPoint(*values) for values in zip(t.tolist(), *self.state(t), strict=True)
        ]


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
