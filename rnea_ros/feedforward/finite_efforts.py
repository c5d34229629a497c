# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Check that efforts are finite with some settings, before the settings take effect."""

from __future__ import annotations

from itertools import product

import numpy as np

from ..errors import InputError
from ..robot import RobotModel
from .active_law import law_of
from .law import LAWS, LoadedModel
from .settings import ResolvedSettings

DEFAULT_MAX_VELOCITY = 10.0
"""Velocity for joints without a velocity limit, rad/s or m/s."""

HARDEST = 1000.0
"""Reference acceleration, rad/s^2 or m/s^2."""


def check_efforts(model: RobotModel, settings: ResolvedSettings) -> None:
    """
    Compute the effort of every mode at the ends of the joints' ranges.

    :param model: the robot
    :param settings: settings of its control
    :raises InputError: an effort is not finite
    """
    robot = LoadedModel(model, settings.parameters.hardware_compensates)
    robot.set_payloads(settings.parameters.payloads)
    laws = [law_of(settings, robot, each) for each in LAWS.values()]
    lower = np.where(np.isfinite(model.position_lower), model.position_lower, -np.pi)
    upper = np.where(np.isfinite(model.position_upper), model.position_upper, np.pi)
    limits = model.velocity_limits
    fastest = np.where((limits > 0.0) & np.isfinite(limits), limits, DEFAULT_MAX_VELOCITY)
    hardest = np.full(model.nv, HARDEST)
    one, other = (lower, fastest), (upper, -fastest)
    with np.errstate(all='ignore'):
        for law, ((q, qd), (q_d, qd_d)) in product(laws, ((one, other), (other, one))):
            effort = law.effort(q, qd, (q_d, qd_d, hardest))
            # The sum of huge efforts may overflow, too.
            if not np.isfinite(effort.sum()):
                joint = model.joint_names[int(np.abs(np.nan_to_num(effort)).argmax())]
                raise InputError(
                    'robot_description',
                    f'with these parameters the efforts in mode {law.name} are not finite, '
                    f'largest at joint {joint!r}; look for a mass or a length that is too large',
                )
