# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
What a trajectory controller says that it wants, turned into set-points or refused.

ros2_control's joint_trajectory_controller (JTC) tells its reference many times a second. It is not
what inverse dynamics may be given as it is:

- Velocities and accelerations are with respect to the trajectory's own time, which runs at the
  speed scaling factor s: the robot is to move at s qd with s^2 qdd.
- JTC releases that do not know the factor leave it 0, which is also what a motion that stands
  still has.
- After the end the last point is repeated with its velocity and acceleration.

Whatever it says: a reference that stands still has neither velocity nor acceleration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
import enum
import math

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, Indices
from ...errors import RneaError
from ..reasons import Reason
from ..stamps import SINGLE, StampOrder
from .constraints import OVERSHOOT, OVERSPEED
from .rules import JointRules, TrajectoryReason
from .speed_scaling import SpeedScaling
from .trajectory import Setpoint

_R = TrajectoryReason


class ReferenceSource(enum.Enum):
    """Where the wanted motion comes from."""

    JOINT_TRAJECTORY = 'joint_trajectory'
    CONTROLLER_STATE = 'controller_state'


class ControllerStateError(RneaError):
    """
    A reference is refused whole; the one before counts until it is too old.

    :param reason: the rule that it breaks
    :param detail: what is wrong with it, with the offending values
    :param joint: the joint at fault, where it is one
    """

    def __init__(
        self, reason: Reason | TrajectoryReason, detail: str, joint: str | None = None
    ) -> None:
        who = '' if joint is None else f', joint {joint!r}'
        super().__init__(f'{reason.value}{who}: {detail}')
        self.reason = reason
        self.joint = joint


class ControllerStateMonitor:
    """
    Judges the references of a trajectory controller.

    :param rules: the commanded joints and what their motion is held to
    :param scaling: how far motions are slowed down, where the controller itself does not tell
    :ivar refusals: by reason
    :ivar complaint: what was wrong with the one that was refused last
    :ivar speed: the speed scaling factor of the one that was taken last
    """

    def __init__(self, rules: JointRules, scaling: SpeedScaling) -> None:
        self._rules = rules
        self._scaling = scaling
        self._stamps = StampOrder(1)
        self._names: tuple[str, ...] | None = None
        self._count = 0
        self._from: Indices = np.empty(0, dtype=np.intp)
        self._to: Indices = np.empty(0, dtype=np.intp)
        self._taken: Array | None = None
        self._received = -math.inf
        self._tells_speed = False
        self.refusals: Counter[str] = Counter()
        self.complaint = ''
        self.speed = 1.0

    def age(self, now: float) -> float:
        """
        Return how long ago a reference was taken, s; infinite before the first.

        :param now: monotonic time, s
        """
        return now - self._received

    def refuse(self, error: ControllerStateError) -> None:
        """Count a refusal."""
        # Replaced, not changed: another thread may be reading it.
        self.refusals = self.refusals + Counter((error.reason.value,))
        self.complaint = str(error)

    def update(
        self,
        names: tuple[str, ...],
        position: Array,
        velocity: Array,
        acceleration: Array,
        speed: float | None,
        *,
        stamp: float,
        clock: float,
        received: float,
        measured: Array,
        held: Callable[[], Array],
    ) -> Setpoint | None:
        """
        Return what is to be wanted, None where it is refused.

        :param names: joints of the reference, k of them; those that are not commanded do not
            count
        :param position: shape (k,), rad or m
        :param velocity: shape (k,), rad/s or m/s, or (0,) for zeros
        :param acceleration: shape (k,), rad/s^2 or m/s^2, or (0,) for zeros
        :param speed: the speed scaling factor, None where messages have none
        :param stamp: its own time, s; 0 where it has none, then its order is not checked
        :param clock: the clock that stamps are given in, s
        :param received: monotonic time of receipt, s
        :param measured: positions of the commanded joints in their order, shape (m,), rad or m
        :param held: returns the positions that joints hold which are left out, shape (m,)
        """
        try:
            self._find(names)
            self._check_message(position, velocity, acceleration, speed)
            if stamp:
                self._check_stamp(stamp, clock, received)
            others = measured if self._to.size == measured.size else held()
            setpoint = self._setpoint(position, velocity, acceleration, speed, others)
            self._check_motion(setpoint, measured)
        except ControllerStateError as error:
            self.refuse(error)
            return None
        if stamp:
            self._stamps.accept(SINGLE, stamp, received)
        self._taken = setpoint.q
        self._received = received
        return setpoint

    def _find(self, names: tuple[str, ...]) -> None:
        """Find the commanded joints in a reference."""
        if names is self._names:
            return
        rules = self._rules
        if not names:
            raise ControllerStateError(_R.EMPTY_JOINT_NAMES, 'no joint is named')
        for number, name in enumerate(names):
            if name in names[:number]:
                raise ControllerStateError(_R.DUPLICATE_JOINT, f'twice in {names}', name)
        missing = [joint for joint in rules.joint_names if joint not in names]
        if len(missing) == len(rules.joint_names):
            raise ControllerStateError(
                _R.UNKNOWN_JOINT, f'none of {names} is of {rules.joint_names}'
            )
        if missing and not rules.allow_partial_joints_goal:
            raise ControllerStateError(
                _R.MISSING_JOINT, f'{missing} not in {names}', missing[0]
            )
        used = [joint for joint in rules.joint_names if joint in names]
        self._from = np.array([names.index(joint) for joint in used], dtype=np.intp)
        self._to = np.array([rules.joint_names.index(joint) for joint in used], dtype=np.intp)
        self._names, self._count = names, len(names)

    def _check_message(
        self, position: Array, velocity: Array, acceleration: Array, speed: float | None
    ) -> None:
        k = self._count
        fields = {
            'positions': position, 'velocities': velocity, 'accelerations': acceleration
        }
        for field, values in fields.items():
            if values.size != k and (values.size or field == 'positions'):
                raise ControllerStateError(_R.WRONG_SIZE, f'{values.size} {field} for {k} joints')
        if acceleration.size and not velocity.size:
            raise ControllerStateError(
                _R.ACCELERATIONS_WITHOUT_VELOCITIES, 'accelerations but no velocities'
            )
        for field, values in fields.items():
            self._check_finite(field, values[self._from] if values.size else values)
        if speed is not None and not 0.0 <= speed < math.inf:
            raise ControllerStateError(Reason.SPEED_OUT_OF_RANGE, f'{speed} is not 0 or more')

    def _check_finite(self, field: str, used: Array) -> None:
        self._refuse_where(
            ~np.isfinite(used), self._to, _R.NOT_FINITE, lambda k: f'{field} {used[k]}'
        )

    def _check_stamp(self, stamp: float, clock: float, received: float) -> None:
        reason = self._stamps.check(SINGLE, stamp, clock, received)
        if reason is not None:
            raise ControllerStateError(reason, f'{stamp} s at {clock} s')

    def _setpoint(
        self,
        position: Array,
        velocity: Array,
        acceleration: Array,
        speed: float | None,
        others: Array,
    ) -> Setpoint:
        """Return a reference in real time, the others that it leaves out at rest."""
        q, qd, qdd = others.copy(), np.zeros_like(others), np.zeros_like(others)
        q[self._to] = position[self._from]
        scale, change = self._scale(speed)
        if self._taken is None or (q != self._taken).any():
            if velocity.size:
                qd[self._to] = scale * velocity[self._from]
                qdd[self._to] = change * velocity[self._from]
            if acceleration.size:
                qdd[self._to] += scale * scale * acceleration[self._from]
        return Setpoint(None, self._rules.joint_names, q, qd, qdd, from_controller=True)

    def _scale(self, speed: float | None) -> tuple[float, float]:
        """Return the speed scaling factor and how fast it changes, 1/s."""
        # Who never told a speed above 0 does not know it, or stands still anyway.
        self._tells_speed = self._tells_speed or bool(speed)
        if speed is None or not self._tells_speed:
            self.speed = self._scaling.factor
            return self.speed, self._scaling.change
        self.speed = speed
        return speed, 0.0

    def _check_motion(self, setpoint: Setpoint, measured: Array) -> None:
        """Hold a reference to the limits that points of a trajectory are held to."""
        rules, every = self._rules, np.arange(measured.size)
        q, qd = setpoint.q, setpoint.qd
        # The robot itself may be beyond a limit, and come back.
        lower, upper = np.minimum(rules.lower, measured), np.maximum(rules.upper, measured)
        self._refuse_where(
            (q < lower - OVERSHOOT) | (q > upper + OVERSHOOT), every, _R.POSITION_LIMIT,
            lambda k: f'{q[k]} is not in [{rules.lower[k]}, {rules.upper[k]}]',
        )
        self._refuse_where(
            np.abs(qd) > OVERSPEED * rules.velocity_limits, every, _R.VELOCITY_LIMIT,
            lambda k: f'{qd[k]} is more than the limit of {rules.velocity_limits[k]}',
        )
        way = q - measured
        turns = np.round(way / math.tau)
        way -= np.where(rules.continuous, math.tau * turns, 0.0)
        self._refuse_where(
            np.abs(way) > rules.start_tolerance, every, _R.START_TOO_FAR,
            lambda k: f'{q[k]} is more than {rules.start_tolerance} from {measured[k]}',
        )

    def _refuse_where(
        self,
        broken: NDArray[np.bool_],
        joints: Indices,
        reason: TrajectoryReason,
        detail: Callable[[int], str],
    ) -> None:
        """Raise for the first joint that breaks a rule."""
        if broken.any():
            k = int(np.argmax(broken))
            raise ControllerStateError(reason, detail(k), self._rules.joint_names[joints[k]])
