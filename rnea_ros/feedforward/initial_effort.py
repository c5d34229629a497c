# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The effort from which the first command starts."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from .inputs import JointStateMonitor
from .settings import ResolvedSettings


def initial_effort(states: JointStateMonitor, settings: ResolvedSettings) -> Array | None:
    """
    Return the measured effort of the commanded joints, None if it is unknown or not to be used.

    It is not used with ``hardware_compensates``: the measured effort then includes the robot's
    own compensation, which must not be commanded.

    :param states: measured state of all joints
    :param settings: the settings in force
    :return: shape (m,), N m or N
    """
    effort, given = states.effort[settings.joint_indices], settings.parameters
    used = given.start_from_measured_effort and not given.hardware_compensates
    return effort if used and np.isfinite(effort).all() else None
