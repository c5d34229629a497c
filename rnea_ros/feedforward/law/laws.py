# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The control laws: how each follows a reference motion, with e = q_d - q and e' = qd_d - qd.

A new law is a class here, a row in docs/control.md, and a formula in its test. Efforts of the
trajectory's points and of other programs are added to every law's (:mod:`..active_law`).
"""

from __future__ import annotations

from ...arrays import Array
from ...modes import MODES
from .control_law import LAWS, ControlLaw, Parts, ReferenceMotion


class Gravity(ControlLaw):
    """g(q), or g(q) + C(q, qd) qd with ``compensate_coriolis``, whatever the reference."""

    name = 'gravity'
    follows_motions = False


class Feedforward(ControlLaw):
    """ID(q_d, qd_d, qdd_d) + Kp e + Kd e'."""

    name = 'feedforward'

    def _follow(self, q: Array, qd: Array, reference: ReferenceMotion, feedback: Array) -> Parts:
        return Parts(*reference, effort=feedback)


class ComputedTorque(ControlLaw):
    """ID(q, qd, qdd_d + Kp e + Kd e'): the mass matrix turns the feedback into an effort."""

    name = 'computed_torque'
    needs_gains = True
    gain_units = ('1/s^2', '1/s')

    def _follow(self, q: Array, qd: Array, reference: ReferenceMotion, feedback: Array) -> Parts:
        return Parts(q, qd, qdd=reference[2], acceleration=feedback)


class Feedback(ControlLaw):
    """Kp e + Kd e', without the model."""

    name = 'feedback'
    needs_gains = True
    carries_gravity = False

    def _follow(self, q: Array, qd: Array, reference: ReferenceMotion, feedback: Array) -> Parts:
        return Parts(effort=feedback)


class GravityFeedback(ControlLaw):
    """g(q) + Kp e + Kd e'."""

    name = 'gravity_feedback'
    needs_gains = True

    def _follow(self, q: Array, qd: Array, reference: ReferenceMotion, feedback: Array) -> Parts:
        return Parts(q, effort=feedback)


if (*LAWS,) != MODES:
    raise TypeError(f'rnea_ros.modes lists {MODES}; the laws are {(*LAWS,)}')
