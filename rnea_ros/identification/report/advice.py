# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What to move more in the next recording."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..result import Identification

MIN_RANGE = 1.0
"""Range of positions below which a joint shows little of the bodies behind it, rad or m."""

MIN_ACCELERATION = 0.5
"""Peak acceleration below which a joint shows little of its inertia, rad/s^2 or m/s^2."""

MAX_CONDITION = 100.0
"""Condition of the base parameters above which a motion hardly tells them apart."""


def advice(result: Identification) -> Iterator[str]:
    """
    Yield what to change in the next recording, one sentence each.

    :param result: the identified model
    """
    q = np.concatenate([run.q for run in result.fitted])
    qd = np.concatenate([run.qd for run in result.fitted])
    qdd = np.concatenate([run.qdd for run in result.fitted])
    parts = {
        f'move over more than {MIN_RANGE:g} rad or m': np.ptp(q, axis=0) < MIN_RANGE,
        f'accelerate by more than {MIN_ACCELERATION:g} rad/s^2 or m/s^2': np.abs(qdd).max(axis=0)
        < MIN_ACCELERATION,
        'move in both directions': qd.min(axis=0) * qd.max(axis=0) >= 0.0,
    }
    names = {name for run in result.fitted for name in run.joints}
    recorded = np.array([name in names for name in result.prior.joint_names])
    for what, lacking in parts.items():
        if lagging := [
            name
            for name, lacks in zip(result.prior.joint_names, lacking & recorded, strict=True)
            if lacks
        ]:
            yield f'{what}: {", ".join(lagging)}'
    if result.base.condition > MAX_CONDITION:
        yield (
            f'the condition is {result.base.condition:.0f}: a motion by `excite` tells the '
            'parameters apart better'
        )
