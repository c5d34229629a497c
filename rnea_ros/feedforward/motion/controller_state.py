# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The reference of a trajectory controller as the source of the desired motion.

Each ``reference`` in a control_msgs/JointTrajectoryControllerState of ros2_control's
joint_trajectory_controller (JTC) becomes a :class:`.Setpoint`. It is not the robot's motion yet:

- Velocities and accelerations are derivatives by trajectory time. At the speed scaling factor s
  the robot moves with s qd and s^2 qdd.
- JTC versions without speed scaling leave the factor 0. A factor of 0 can also mean a stop.
- After the end JTC repeats the last point with its velocity and acceleration. A reference whose
  position stays the same is therefore taken as at rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
import enum
import math

import numpy as np

from ...arrays import Array
from ..reasons import Reason
from ..stamps import SINGLE, StampOrder
from .compile import OVERSPEED, position_range
from .parse import FIELDS, JointRules, TrajectoryError, TrajectoryReason, reject_where
from .reference import SpeedScaling
from .trajectory import OVERSHOOT, Setpoint

_R = TrajectoryReason


class ReferenceSource(enum.Enum):
    """Source of the desired motion."""

    JOINT_TRAJECTORY = 'joint_trajectory'
    CONTROLLER_STATE = 'controller_state'


class ControllerStateMonitor:
    """
    Checks references; a rejected one changes nothing: the last is followed until its timeout.

    :param scaling: for controllers that publish no speed factor
    :ivar rejections: number of rejected references by reason
    :ivar complaint: error of the last rejected reference
    :ivar speed: speed scaling factor of the last accepted reference
    """

    def __init__(self, rules: JointRules, scaling: SpeedScaling) -> None:
        self._rules = rules
        self._scaling = scaling
        self._stamps = StampOrder(1)
        # Names in a message, those of commanded joints, and the indices of these in the message
        # and in the controller's order.
        self._names: tuple[str, ...] | None = None
        self._joints: tuple[str, ...] = ()
        self._source = self._target = np.empty(0, dtype=np.intp)
        self._last_position: Array | None = None
        self._last_received = -math.inf
        self._publishes_speed = False
        self.rejections: Counter[str] = Counter()
        self.complaint = ''
        self.speed = 1.0

    def age(self, now: float) -> float:
        """Return the age of the last accepted reference, s; infinite before the first."""
        return now - self._last_received

    def reject(self, error: TrajectoryError) -> None:
        """Count a rejected reference."""
        # Replaced, not changed: another thread may read it.
        self.rejections = self.rejections + Counter((error.reason.value,))
        self.complaint = str(error)

    def take_sample(
        self, names: tuple[str, ...], position: Array, velocity: Array, acceleration: Array,
        speed: float | None, *, stamp: float, clock: float, received: float, measured: Array,
        held: Callable[[], Array],
    ) -> Setpoint | None:
        """
        Return the set-point of a reference, or ``None`` for a rejected one.

        :param names: the k joints of the reference; joints that are not commanded are ignored
        :param position: shape (k,); velocity and acceleration may be (0,) for zeros
        :param speed: speed scaling factor; ``None`` if the message type has none
        :param measured: positions of the commanded joints, shape (m,)
        :param held: returns the positions for joints missing in the reference, shape (m,)
        """
        try:
            self._find_joints(names)
            commanded = self._commanded(len(names), position, velocity, acceleration)
            if speed is not None and not 0.0 <= speed < math.inf:
                raise TrajectoryError(Reason.SPEED_OUT_OF_RANGE, f'{speed} is not 0 or more')
            if stamp:
                reason = self._stamps.check(SINGLE, stamp, clock, received)
                if reason is not None:
                    raise TrajectoryError(reason, f'{stamp} s at {clock} s')
            complete = len(self._joints) == measured.size
            setpoint = self._setpoint(commanded, speed, measured if complete else held())
            self._check_motion(setpoint, measured)
        except TrajectoryError as error:
            self.reject(error)
            return None
        if stamp:
            self._stamps.accept(SINGLE, stamp, received)
        self._last_position = setpoint.q
        self._last_received = received
        return setpoint

    def _find_joints(self, names: tuple[str, ...]) -> None:
        """Find the commanded joints among the joints of a reference."""
        if names is self._names:
            return
        known = self._rules.joint_names
        joints = tuple(joint for joint in known if joint in names)
        if names and not joints:
            raise TrajectoryError(_R.UNKNOWN_JOINT, f'{names} has no joint of {known}')
        self._rules.check_names(names)
        self._source = np.array([names.index(joint) for joint in joints], dtype=np.intp)
        self._target = np.array([known.index(joint) for joint in joints], dtype=np.intp)
        self._names, self._joints = names, joints

    def _commanded(self, k: int, *fields: Array) -> list[Array]:
        """Return the commanded joints' positions, velocities, accelerations, checked."""
        for field, values in zip(FIELDS, fields, strict=False):
            if values.size != k and (values.size or field == 'positions'):
                raise TrajectoryError(_R.WRONG_SIZE, f'{values.size} {field} for {k} joints')
        if fields[2].size and not fields[1].size:
            raise TrajectoryError(
                _R.ACCELERATIONS_WITHOUT_VELOCITIES, 'accelerations but no velocities'
            )
        commanded = [values[self._source] if values.size else values for values in fields]
        for field, values in zip(FIELDS, commanded, strict=False):
            reject_where(
                ~np.isfinite(values), _R.NOT_FINITE, self._joints, None, field + ' {}', values
            )
        return commanded

    def _setpoint(
        self, commanded: list[Array], speed: float | None, q_missing: Array
    ) -> Setpoint:
        """Return the set-point in real time; joints missing in a message rest at ``q_missing``."""
        position, velocity, acceleration = commanded
        q, qd, qdd = q_missing.copy(), np.zeros_like(q_missing), np.zeros_like(q_missing)
        q[self._target] = position
        # Ignore 0 until a positive factor was received: the controller may not publish one.
        self._publishes_speed = self._publishes_speed or bool(speed)
        scale, change = self._scaling.factor, self._scaling.change
        if speed is not None and self._publishes_speed:
            scale, change = speed, 0.0
        self.speed = scale
        if self._last_position is None or (q != self._last_position).any():
            with np.errstate(over='ignore', invalid='ignore'):  # rejected later
                if velocity.size:
                    qd[self._target] = scale * velocity
                    qdd[self._target] = change * velocity
                if acceleration.size:
                    qdd[self._target] += scale * scale * acceleration
        return Setpoint(None, self._rules.joint_names, q, qd, qdd, from_controller=True)

    def _check_motion(self, setpoint: Setpoint, measured: Array) -> None:
        """Check the limits and the distance from the robot, as for a trajectory's points."""
        rules, q, joints = self._rules, setpoint.q, setpoint.joint_names
        lower, upper = position_range(rules, measured)
        reject_where(
            (q < lower - OVERSHOOT) | (q > upper + OVERSHOOT), _R.POSITION_LIMIT, joints, None,
            '{} is not in [{}, {}]', q, rules.lower, rules.upper,
        )
        for values, limits, reason in (
            (setpoint.qd, OVERSPEED * rules.velocity_limits, _R.VELOCITY_LIMIT),
            (setpoint.qdd, rules.acceleration_limits, _R.ACCELERATION_LIMIT),
        ):
            reject_where(
                ~(np.abs(values) <= limits), reason, joints, None,
                '{:.6g} is more than the limit of {:.6g}', values, limits,
            )
        reject_where(
            np.abs(rules.shortest_way(q - measured)) > rules.start_tolerance, _R.START_TOO_FAR,
            joints, None, '{} is more than {} from {}', q, rules.start_tolerance, measured,
        )
