# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Rule: an effort that never changes is not measured, or its sensor is stuck."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..recordings import Recording
from .assessment import LOADED_SHARE
from .columns import Prediction
from .findings import Cause, Finding


def constant_efforts(recording: Recording) -> dict[str, float]:
    """Return the efforts that are equal in all samples, by joint, N m or N."""
    return {
        name: float(measured[0])
        for name, effort in zip(recording.names, recording.effort.T, strict=True)
        if len(measured := effort[np.isfinite(effort)]) and (measured == measured[0]).all()
    }


def no_effort(prediction: Prediction, constant: Mapping[str, float]) -> list[Finding]:
    """
    Return findings for joints with a constant effort; loaded ones must be fixed.

    :param prediction: prediction for all joints with an effort
    :param constant: constant efforts by recorded joint name, N m or N
    """
    if constant.keys() >= set(prediction.joints.values()):
        values = 'exactly 0' if not any(constant.values()) else 'constant'
        text = f'every effort is {values}: the driver or simulation does not measure efforts'
        return [Finding(Cause.NO_EFFORT, text, tuple(range(len(prediction.joints))))]
    varies = prediction.rigid.std(axis=0)
    return [
        Finding(
            Cause.NO_EFFORT,
            f"{name}: the effort is {constant[other]:g} throughout; the model's varies by "
            f'{varies[place]:.2f} N m or N',
            must_be_fixed=bool(varies[place] >= LOADED_SHARE * varies.max()),
        )
        for place, (name, other) in enumerate(prediction.joints.items())
        if other in constant
    ]
