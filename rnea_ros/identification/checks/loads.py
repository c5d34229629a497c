# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Check of several runs: do they have the same load."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..equations import Equations
from ..rounds import Fitted
from ..run import IdentificationError, Run

SAMPLES = 10000
"""Samples that are enough for the search of a changed load."""

LOAD_EXPLAINS = 0.3
"""Least share of the squared residuals that a changed load explains."""


def check_same_load(equations: Equations, fitted: Fitted, runs: Sequence[Run]) -> None:
    """
    Check that no run has another load at the tip of the arm.

    A mass and a first moment for each run are fitted to the residuals. Without a change of the
    load they explain little.

    :param equations: motion and efforts of all runs
    :param fitted: result of the last round
    :param runs: the runs
    :raises IdentificationError: the load changed between two runs
    """
    model = equations.model
    tip = len(model.body_names) - 1
    step = 1 + len(equations) // SAMPLES
    q, qd, qdd = (each[::step] for each in (equations.q, equations.qd, equations.qdd))
    columns = model.regressor_batch(q, qd, qdd)[:, :, 10 * tip : 10 * tip + 4]
    used = equations.used[::step]
    root = np.where(used, 1.0 / fitted.sigma, 0.0)
    residual = np.where(used, fitted.residual[::step], 0.0) * root
    columns = columns * root[:, :, np.newaxis]
    rest, masses = residual.copy(), []
    for number in range(len(runs)):
        which = equations.run[::step] == number
        A, y = columns[which].reshape(-1, 4), residual[which].reshape(-1)
        load = np.linalg.lstsq(A, y, rcond=None)[0]
        rest[which] -= (A @ load).reshape(-1, model.nv)
        masses.append(float(load[0]))
    least, most = int(np.argmin(masses)), int(np.argmax(masses))
    if (rest**2).sum() < (1.0 - LOAD_EXPLAINS) * (residual**2).sum() and least != most:
        raise IdentificationError(
            f'the load changed: in {runs[most].name} {model.body_names[tip]} carries about '
            f'{masses[most] - masses[least]:.2f} kg more than in {runs[least].name}; identify '
            'runs with the same load'
        )
