# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The parameter file of all contenders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .motion import JOINTS, LINK, StateRound

HARMLESS = 'friction.smoothing_velocity'
"""A parameter that can be set while active; without friction it has no effect."""

PATIENT = 2.0
"""Ages at which inputs count as stale, s: a machine that stalls must not end the control."""

FOLLOWING: dict[str, Any] = {'mode': 'computed_torque', 'start_tolerance': 6.28}
"""
With no gains and at rest, the same numbers as mode gravity; trajectories are followed.
"""


def write_parameters(path: Path, rate: float, motion: StateRound, **more: Any) -> None:
    """
    Write a parameter file for nodes of any name.

    :param path: of the file
    :param rate: of commands, Hz
    :param motion: the robot, and what is sent of it
    :param more: further parameters by name
    """
    values = {
        'robot_description': motion.urdf,
        'joints': list(JOINTS),
        'rate': rate,
        HARMLESS: [0.05],
        'hardware_compensates': ['none'],
        'ramp_duration': 0.0,  # nor do changed parameters hide for a while what is commanded
        'payload.blend_duration': 0.0,
        'hold_duration': 0.1,
        'joint_states_timeout': PATIENT,
        'velocity_limit_factor': 0.0,  # a stalled machine loses joint states
        'effort_rate_limit': [1e6],
        'wrench_inputs.names': ['hand'],
        'wrench_inputs.hand.topic': 'wrench',
        'wrench_inputs.hand.link': LINK,
        'wrench_inputs.hand.deadband_force': 0.0,
        'wrench_inputs.hand.deadband_torque': 0.0,
        'wrench_inputs.hand.fade': 0.05,
        'wrench_inputs.hand.timeout': PATIENT,
        'wrench_inputs.hand.tare_duration': PATIENT,
        **more,
    }
    # JSON is YAML, and the only part of it that needs no library.
    path.write_text(json.dumps({'/**': {'ros__parameters': values}}), encoding='utf-8')
