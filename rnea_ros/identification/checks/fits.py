# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Checks after a fit, for errors that the fitted parameters cannot explain.

Such errors are an inverted effort, another unit, another direction of gravity and another robot.
Fitted masses, friction and rotor inertias are positive. With such an error, the fit therefore
leaves most of an effort unexplained, or the fitted efforts differ from those of the URDF by a
large factor. Wrong masses in the URDF and joints with much friction pass the checks.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...robot import RobotModel
from ..equations import Equations
from ..rounds import Fitted, weighted_rms
from ..run import IdentificationError
from .causes import (
    LOADED_SHARE,
    MAX_FACTOR,
    SUSPICIOUS_UNLOADED,
    check_common_unit,
    search_cause,
)

SUSPICIOUS = 0.25
"""Unexplained share of a loaded joint's effort above which a cause is searched for."""

UNUSUAL_FACTOR = 1.6
"""
Factor between identified and URDF efforts above which a note is added.

The same applies below its inverse. Errors of CAD masses cause smaller factors.
"""

INEXPLICABLE = 0.5
"""Unexplained share of a loaded joint's effort that wrong masses cannot cause."""


def check_fit(equations: Equations, prior: RobotModel, fitted: Fitted) -> tuple[str, ...]:
    """
    Check that a fit explains the efforts with plausible bodies; return notes on joints.

    :param equations: motion and efforts
    :param prior: the model of the URDF
    :param fitted: result of the last round
    :raises IdentificationError: the efforts show an error; the text has its cause and a remedy
    """
    names = prior.joint_names
    used = equations.used.astype(np.float64)
    effort = weighted_rms(equations.effort, used)
    unexplained = weighted_rms(fitted.residual, used) / np.maximum(effort, np.finfo(float).tiny)
    loaded = effort >= LOADED_SHARE * effort.max()
    suspicious = unexplained > np.where(loaded, SUSPICIOUS, SUSPICIOUS_UNLOADED)
    factor = _effort_factors(equations, prior, fitted)
    suspicious |= factor < 0.0
    another_unit = (factor < 1.0 / MAX_FACTOR) | (factor > MAX_FACTOR)
    if suspicious.any():
        check_common_unit(equations)
        search_cause(equations, suspicious | another_unit)
    for joint in np.flatnonzero(another_unit):
        raise IdentificationError(
            f'the effort of {names[joint]} without friction is {factor[joint]:.3g} times the '
            "URDF's: another unit, a current or a gear ratio (correct it by effort_scale), "
            'gravity that the hardware compensates, or the URDF of another robot'
        )
    for joint in np.flatnonzero(loaded & (unexplained > INEXPLICABLE)):
        raise IdentificationError(
            f'no masses and friction explain {100.0 * unexplained[joint]:.0f} % of the effort of '
            f'{names[joint]}: this may be the URDF of another robot, or the joints are matched '
            'wrongly (joints)'
        )
    unusual = (factor < 1.0 / UNUSUAL_FACTOR) | (factor > UNUSUAL_FACTOR)
    return (
        *(
            f'{names[joint]}: the effort without friction is {factor[joint]:.1f} times that of '
            'the URDF; if its masses are right, this is the URDF of another robot, or another unit'
            for joint in np.flatnonzero(unusual)
        ),
        *(
            f'{names[joint]}: {100.0 * unexplained[joint]:.0f} % of the effort is not explained'
            for joint in np.flatnonzero(suspicious)
        ),
    )


def _effort_factors(equations: Equations, prior: RobotModel, fitted: Fitted) -> Array:
    """
    Return the ratio of identified to URDF rigid-body efforts of each joint, shape (n,).

    The ratio is fitted by least squares. It is 1 for joints with little load in the URDF.
    """
    expected = np.where(equations.used, equations.rigid(prior), 0.0)
    phi = fitted.x[: prior.inertial_parameters.size]
    identified = np.where(
        equations.used, equations.rigid(prior.with_inertial_parameters(phi)), 0.0
    )
    squares = (expected**2).sum(axis=0)
    loaded = (squares > 0.0) & (squares >= LOADED_SHARE**2 * squares.max())
    factors: Array = (expected * identified).sum(axis=0) / np.where(loaded, squares, 1.0)
    return np.where(loaded, factors, 1.0)
