# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The effort that acts on the robot before the first command, as far as it is known."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from .inputs import JointStateMonitor
from .settings import ResolvedSettings


def acting_effort(states: JointStateMonitor, settings: ResolvedSettings) -> Array | None:
    """
    Return the measured effort of the commanded joints, None where it does not count or is unknown.

    What the hardware adds is in the measured effort, but must not be commanded.

    :param states: the measured joint state
    :param settings: in force
    :return: shape (m,), N m or N
    """
    effort, given = states.effort[settings.in_model], settings.settings
    counts = given.start_from_measured_effort and not given.hardware_compensates
    return effort if counts and np.isfinite(effort).all() else None
