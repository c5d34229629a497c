# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The rest pose, in which the arm may lose its effort, and the way there.

First to a stop; then straight on in joint space, at a speed that rises and falls by a cubic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Array, Indices
from ...collision import CollisionModel
from ...errors import InputError, RneaError, brief
from ...robot import RobotModel
from .online import FAR, Deceleration, stop_motion
from .parse import JointRules
from .trajectory import QUINTIC, Knots, MotionState, Trajectory

NO_POSE = (0.0,)  # stands for no rest pose

RAMP = 0.5  # shortest time from rest to full speed, and time from the present speed to a stop, s
PEAK = 1.5  # greatest by mean acceleration of a speed that rises by a cubic
MIN_STOP = 0.1  # shortest time to a stop, where the velocity limit is near, s
EXCESS = 1.01  # greatest velocity of a joint that speeds up when the way begins, velocity limits
AT_SPEED = 0.01  # least time at full speed, as a share of the ramp: knots must not coincide
STEP = 0.05  # greatest way of a joint between two poses that are checked, rad or m
SAMPLING = 0.01  # of the motion, for these poses, s
DEPTH = 0.015  # of a collision that counts, m: convex shapes of folded arms touch by 0.013


class RestError(RneaError):
    """The arm does not move to the rest pose now."""


@dataclass(frozen=True, eq=False)
class RestPose:
    """
    Makes the motion to the rest pose, and checks it.

    :param position: of the m commanded joints, shape (m,), rad or m
    :param speed: greatest speed on the way, shape (m,), rad/s or m/s
    :param joints: indices of the commanded joints among the n of the model, shape (m,)
    :param elsewhere: positions of all joints where none was measured, shape (n,)
    :param gravity: effort of gravity at the pose, shape (m,), N m or N, without payloads
    :param collisions: None if collisions are not checked
    """

    rules: JointRules
    position: Array
    speed: Array
    joints: Indices
    elsewhere: Array
    gravity: Array
    collisions: CollisionModel | None

    @classmethod
    def of(
        cls, position: Sequence[float], speed: float, rules: JointRules, model: RobotModel,
        joints: Indices, collisions: CollisionModel | None,
    ) -> RestPose:
        """Return a rest pose; InputError for one that cannot be used."""
        names = rules.joint_names
        if len(position) != len(names):
            raise InputError(
                'rest_pose', f'{brief(position)} has {len(position)} values, not one for each of '
                f'{", ".join(names)}; [0.0] is none'
            )
        for name, q, lower, upper in zip(names, position, rules.lower, rules.upper, strict=True):
            if not lower <= q <= upper:
                raise InputError(
                    'rest_pose', f'joint {name!r}: {q:g} is not in [{lower:.6g}, {upper:.6g}]'
                )
        elsewhere, there = model.neutral_position, model.neutral_position
        there[joints] = position
        pose = cls(
            rules, np.array(position), np.minimum(speed, rules.velocity_limits), joints, elsewhere,
            model.gravity_torques(there)[joints], collisions,
        )
        if collision := pose.collision(pose.position[np.newaxis], elsewhere):
            raise InputError('rest_pose', f'{collision}; change the pose')
        return pose

    def motion(self, state: MotionState) -> Trajectory:
        """Return the motion from a state of the commanded joints to the pose."""
        rules, speed = self.rules, self.speed
        limits = Deceleration(np.array(np.inf), rules.lower, rules.upper)
        stop = stop_motion(state, limits, self._stop_time(state))
        start = stop.positions[-1]
        way = rules.shortest_way(self.position - start)
        ramp = max(RAMP, float((PEAK * speed / rules.acceleration_limits).max()))
        pace = max((1.0 + AT_SPEED) * ramp, float((np.abs(way) / speed).max()))
        # The speed is way / pace; it is reached after half of the way that it makes in the ramp.
        times = stop.times[-1] + np.array((ramp, pace, pace + ramp))
        shares = np.array((0.5 * ramp / pace, 1.0 - 0.5 * ramp / pace, 1.0))[:, np.newaxis]
        speeds = np.vstack((way, way, 0.0 * way)) / pace
        zero = np.zeros_like(speeds)
        knots = Knots(
            np.append(stop.times, times), np.vstack((stop.positions, start + shares * way)),
            np.vstack((stop.velocities, speeds)), np.vstack((stop.accelerations, zero)),
            np.full(stop.times.size + 3, QUINTIC),
        )
        return Trajectory(rules.joint_names, None, knots)

    def _stop_time(self, state: MotionState) -> Array:
        """Return the times to a stop, (m,), s: less for joints that speed up near their limit."""
        v, a = np.abs(state.velocity), np.abs(state.acceleration)
        if not (v.any() or a.any()):
            return v
        # A joint that stops in the time T first gains at most (a T)^2 / (12 v + 6 a T).
        room = np.clip(EXCESS * self.rules.velocity_limits - v, 0.0, FAR)
        product = 3.0 * room + np.sqrt(9.0 * room * room + 12.0 * v * room)  # a T
        speeds_up = (state.velocity * state.acceleration > 0.0) & (room > 0.0)
        time: Array = np.full(v.size, RAMP)
        np.divide(product, a, out=time, where=speeds_up)
        return time.clip(MIN_STOP, RAMP)

    def check(self, motion: Trajectory, q: Array) -> None:
        """Raise a RestError if links collide on the way; q: of all joints, shape (n,)."""
        if self.collisions is None:
            return
        times = np.arange(0.0, motion.duration, SAMPLING)
        path = np.array([motion.state(time).position for time in times.tolist()])
        way = np.append(0.0, np.abs(np.diff(path, axis=0)).max(axis=1).cumsum())
        at_steps = np.searchsorted(way, np.arange(0.0, way[-1], STEP))
        poses = np.vstack((path[at_steps], motion.final_position))
        if collision := self.collision(poses, np.where(np.isfinite(q), q, self.elsewhere)):
            raise RestError(f'on the way {collision}')

    def collision(self, poses: Array, q: Array) -> str:
        """Return which links collide in poses, shape (N, m), others as in q; empty if none do."""
        if self.collisions is None:
            return ''
        of_all = np.tile(q, (len(poses), 1))
        of_all[:, self.joints] = poses
        nearest = self.collisions.nearest(of_all)
        if nearest.distance > -DEPTH:
            return ''
        return f'{" and ".join(nearest.pair)} collide, {-1000.0 * nearest.distance:.0f} mm deep'
