# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The external effort of each joint, by an observer of the generalised momentum.

With the momentum p = M qd and K, a gain per joint (De Luca and Mattone 2005, eq. 8; Haddadin,
De Luca and Albu-Schaeffer 2017, eq. 24)::

    r = K (p - p(0) - integral of (tau - tau_f + C^T qd - g + J^T f + r) dt)

tau is the effort of the motors, tau_f friction, f the wrenches that force-torque sensors measure.
Then dr/dt = K (tau_ext - r): r is what the environment adds to the joint's effort, through a
low-pass filter of first order, and no acceleration is needed. Between two joint states, dt apart,
the mean external effort is, without approximation of p::

    tau_ext = (p - p_before) / dt - (tau - tau_f) - (C^T qd - g) - J^T f
    r       = r_before + (1 - exp(-K dt)) (tau_ext - r_before)

which is stable for any dt. tau and C^T qd - g are means of the two joint states; a commanded tau
is the mean of the commands between them.
"""

from __future__ import annotations

import math

import numpy as np

from ..arrays import Array, Indices
from ..compilation import compiled, kernel
from ..dynamics.kernels import Records, generalised_momentum
from .loaded_model import HardwareCompensation
from .settings import EffortSource, ResolvedSettings

(
    GAIN, THRESHOLD, MODEL_ERROR, ARMATURE, VISCOUS, VISCOUS_NEGATIVE, COULOMB, COULOMB_NEGATIVE,
    LOAD, SMOOTHING, OFFSET,
) = range(11)  # rows of the constants of the joints

(EFFORT, LIMIT, MOMENTUM, RATE, MEASURED, SIZE, COMMAND, TICKS) = range(8)
"""
Rows of the observer's state: external effort r; effort that counts as contact; p, C^T qd - g and
the measured effort (NaN for none) at the last joint state; size of the known efforts; sum and
number of the commands since the last joint state.
"""

START, TICK = -1.0, 0.0  # instead of the time between joint states: the first; a tick without one
MIN_TRANSMITTED = 0.1  # smallest part of a motor's effort that friction under load leaves


class MomentumObserver:
    """
    Estimates the external efforts of the m commanded joints; writes the bodies' records.

    :ivar effort: external efforts, shape (m,), N m or N; positive along the joint; overwritten
    :ivar threshold: external efforts that count as contact now, as ``effort``
    """

    def __init__(self, bodies: Records, settings: ResolvedSettings) -> None:
        m, n = len(settings.joints), settings.rotor_inertia.size
        self._constants = np.zeros((OFFSET + 1, m))
        self._state = np.zeros((TICKS + 1, m))
        self.effort: Array = self._state[EFFORT]
        self.threshold: Array = self._state[LIMIT]
        self._none, p, rate = np.zeros((3, n))
        self._shared = np.zeros(n)
        self._memory = (
            bodies, np.zeros((len(bodies), 6)), p, rate, settings.joint_indices, self._constants,
            self._state, settings.external_effort.source is EffortSource.MEASURED,
            HardwareCompensation.FRICTION in settings.hardware_compensates,
        )
        self.configure(settings)
        self.reset()
        # Compiles the kernel before the loop starts.
        self.observe(self._none, self._none, self._none, np.zeros(m), None, None, START)
        self.reset()

    def configure(self, settings: ResolvedSettings) -> None:
        """Set gains, thresholds and friction."""
        self._settings = settings
        joints, constants = settings.joint_indices, self._constants
        friction = settings.motor_friction
        constants[GAIN] = settings.external_effort.gain
        constants[THRESHOLD] = settings.contact.threshold
        constants[MODEL_ERROR] = settings.contact.model_error
        constants[ARMATURE] = settings.rotor_inertia[joints]
        constants[VISCOUS:OFFSET + 1] = np.vstack([
            friction.viscous, friction.coulomb, friction.load, friction.smoothing_velocity,
            friction.offset,
        ])[:, joints]

    def reset(self) -> None:
        """Start again with the next joint state, from an external effort of zero."""
        self._state[:] = 0.0
        self.threshold[:] = self._constants[THRESHOLD]
        self._running = False

    def observe(
        self, q: Array, qd: Array, measured: Array, command: Array, compensated: Array | None,
        external: Array | None, dt: float, correction: Array | None = None,
    ) -> float:
        """
        Return the largest external effort, as a multiple of its threshold; once a tick.

        Arguments as in :meth:`.ExternalEffortMonitor.find_contact`; dt is the time since the last
        joint state, s, 0 without a new one; a correction, shape (n,), is added to g.
        """
        shared = self._settings.motor_friction.shared
        if shared is not None:
            self._shared[:] = 0.0
            shared.add(self._shared, qd)
        largest: float = _observe(
            *self._memory, self._shared, q, qd, measured, command,
            self._none if compensated is None else compensated,
            self._none if external is None else external,
            self._none if correction is None else correction, dt if self._running else START,
        )
        self._running = True
        if not math.isfinite(largest):
            self.reset()
            return 0.0
        return largest


@kernel
def _observe(
    bodies: Records, weights: Array, p: Array, rate: Array, joints: Indices, constants: Array,
    state: Array, use_measured: bool, friction_compensated: bool, shared: Array, q: Array,
    qd: Array, measured: Array, command: Array, compensated: Array, external: Array,
    correction: Array, dt: float,
) -> float:
    """Update the state by a tick; return the largest external effort, as in ``observe``."""
    for k in range(joints.size):
        # The robot adds its own compensation to the command, which a measured effort contains.
        state[COMMAND, k] += command[k] + compensated[joints[k]]
        state[TICKS, k] += 1.0
    if dt == TICK:
        return _largest(state)
    generalised_momentum(bodies, weights, q, qd, p, rate)
    any_measured = False
    for k in range(joints.size):
        i = joints[k]
        # With rotors, p = (M + A) qd.
        p[i] += constants[ARMATURE, k] * qd[i]
        rate[i] -= correction[i]
        # Simulations without a measurement report exactly 0 for every joint.
        any_measured |= math.isfinite(measured[i]) and measured[i] != 0.0
    for k in range(joints.size):
        i = joints[k]
        from_joint_states = use_measured and any_measured and math.isfinite(measured[i])
        if dt > 0.0:
            tau = state[COMMAND, k] / state[TICKS, k]
            if from_joint_states:
                before = state[MEASURED, k]
                tau = 0.5 * (measured[i] + (before if math.isfinite(before) else measured[i]))
            tau_f = 0.0
            # A robot that compensates friction adds it to the command, so that none is left.
            if from_joint_states or not friction_compensated:
                tau_f = shared[i] + _friction(constants[:, k], qd[i], tau - shared[i])
            p_rate = (p[i] - state[MOMENTUM, k]) / dt
            known = 0.5 * (rate[i] + state[RATE, k])
            # tau_ext = dp/dt - (tau - tau_f) - (C^T qd - g) - J^T f
            tau_ext = p_rate - (tau - tau_f) - known + external[i]
            # r = r + (1 - exp(-K dt)) (tau_ext - r)
            share = -math.expm1(-constants[GAIN, k] * dt)
            state[EFFORT, k] += share * (tau_ext - state[EFFORT, k])
            # A model that is wrong by some percent is wrong by as much of these efforts.
            size = abs(p_rate) + abs(known) + abs(tau_f)
            state[SIZE, k] += share * (size - state[SIZE, k])
            state[LIMIT, k] = constants[THRESHOLD, k] + constants[MODEL_ERROR, k] * state[SIZE, k]
        state[MOMENTUM, k], state[RATE, k] = p[i], rate[i]
        state[MEASURED, k] = measured[i] if from_joint_states else math.nan
        state[COMMAND, k] = state[TICKS, k] = 0.0
    return _largest(state)


@compiled
def _friction(constants: Array, qd: float, tau: float) -> float:
    """
    Return friction and offset, tau_f = B qd + s (C + k |L|) + o with s = tanh(qd / v_s).

    The joint transmits L = tau - tau_f, so L (1 + s k sign(L)) = tau - B qd - s C - o.
    """
    s = math.tanh(qd / constants[SMOOTHING])
    if qd >= 0.0:
        loss = constants[VISCOUS] * qd + constants[COULOMB] * s
    else:
        loss = constants[VISCOUS_NEGATIVE] * qd + constants[COULOMB_NEGATIVE] * s
    rest = tau - loss - constants[OFFSET]
    share = constants[LOAD] * s
    divisor = 1.0 + share if rest >= 0.0 else 1.0 - share
    transmitted: float = rest / max(divisor, MIN_TRANSMITTED)
    return tau - transmitted


@compiled
def _largest(state: Array) -> float:
    """Return the largest external effort, as a multiple of what counts as contact."""
    largest = 0.0
    for k in range(state.shape[1]):
        largest = max(largest, abs(state[EFFORT, k]) / state[LIMIT, k])
        if not math.isfinite(state[EFFORT, k]):
            return math.nan
    return largest
