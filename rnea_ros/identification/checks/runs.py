# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Checks before a fit: do the runs contain enough motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...robot import RobotModel
from ..equations import Equations
from ..run import IdentificationError, Run

MIN_TIME = 5.0
"""Least duration of the fitted runs, s: a few changes of direction of every joint."""


def check_runs(model: RobotModel, runs: Sequence[Run]) -> None:
    """
    Check that runs contain enough motion to identify a model.

    :raises IdentificationError: they do not
    """
    if not runs:
        raise IdentificationError('no run is given')
    for run in runs[1:]:
        if run.joints != runs[0].joints:
            raise IdentificationError(
                f'{run.name} has the joints {", ".join(run.joints)}, {runs[0].name} has '
                f'{", ".join(runs[0].joints)}; identify them one by one'
            )
    names = ', '.join(run.name for run in runs)
    if not any(np.isfinite(run.effort).any() for run in runs):
        raise IdentificationError(f'{names}: no joint has an effort that changes')
    equations = Equations(model, runs)
    moving = np.flatnonzero(equations.slides.any(axis=0))
    if not moving.size:
        raise IdentificationError(f'{names}: no joint moves; record an exciting motion')
    if len(moving) == 1 < len(runs[0].joints):
        joint = model.joint_names[moving[0]]
        raise IdentificationError(
            f'{names}: only {joint} moves; move all joints, as a trajectory of excite does'
        )
    if not equations.used.any():
        raise IdentificationError(f'{names}: no joint with an effort moves')
    duration = sum(len(run.time) * float(np.median(np.diff(run.time))) for run in runs)
    if duration < MIN_TIME:
        raise IdentificationError(
            f'{names}: {duration:.1f} s of motion to fit; at least {MIN_TIME:g} s are needed'
        )
