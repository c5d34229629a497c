# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The motions of the demo, for any arm: sines, and an exciting motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
import time

import numpy as np

from ...arrays import Array
from ...identification import excitation
from ...identification.excitation import RestToRestMotion
from ...robot import RobotModel

AMPLITUDE = 0.5  # greatest, rad or m
ROOM_SHARE, SPEED_SHARE = 0.8, 0.6  # of the way to a position limit; of the velocity limit
FREQUENCIES = (0.25, 0.5)  # of the first and of the last joint, Hz
FADE = 1.0  # time to the full amplitude, s
POINT_INTERVAL = 0.04  # of the trajectory, s
KP, KD = 100.0, 20.0  # of computed torque, 1/s^2, 1/s: errors fade at 10 rad/s, critically damped
EXCITATION = 30.0  # duration of the exciting motion, s: three periods
EVALUATIONS = 1500  # of the search of the exciting motion: the same motion on every computer
MAX_SEARCH = 120.0  # processor time for it, s


def sine_motion(
    model: RobotModel, joints: tuple[str, ...], pose: Array, duration: float,
    sag: Array | float = 0.0
) -> RestToRestMotion:
    """Return sines about the pose, from rest to rest, ``sag`` (rad or m) within the limits."""
    numbers = [model.joint_names.index(name) for name in joints]
    limits = excitation.JointLimits.of(model)
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


def exciting_motion(
    model: RobotModel, joints: Sequence[str], pose: Array, seed: int
) -> RestToRestMotion:
    """Return a motion of all joints from the pose and back to it, within the URDF's limits."""
    found = excitation.excite(
        model, excitation.JointLimits.of(model),
        start=dict(zip(joints, pose.tolist(), strict=True)), joints=joints, duration=EXCITATION,
        seconds=MAX_SEARCH, evaluations=EVALUATIONS, seed=seed, progress=_progress()
    )
    print(
        f'\ncondition number of the base parameters: {found.condition:.0f}, '
        f'of random motions {found.random_condition:.0f}'
    )
    return found.motion


def heaviest_pose(model: RobotModel, motion: RestToRestMotion, joints: Sequence[str]) -> Array:
    """Return the pose of a motion with the greatest gravity torques, shape (m,), rad or m."""
    weight = np.linalg.norm(model.gravity_torques_batch(motion.positions), axis=1)
    pose: Array = motion.of_joints(joints).positions[np.argmax(weight)]
    return pose


def reference_positions(motion: RestToRestMotion, joints: Sequence[str], t: Array) -> Array:
    """Return the positions of m joints at times since the start, s, shape (k, m), rad or m."""
    return motion.of_joints(joints).at(t)[0]


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


def _progress() -> Callable[[float, str], None]:
    """Return a function that prints the progress twice a second."""
    due = 0.0

    def show(share: float, text: str) -> None:
        nonlocal due
        if time.monotonic() < due:
            return
        due = time.monotonic() + 0.5
        line = f'searching an exciting motion: {min(share, 1.0):4.0%}, {text:<24}'
        print(f'\r{line}', end='', flush=True)

    return show
