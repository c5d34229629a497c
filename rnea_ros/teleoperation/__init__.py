# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Teleoperation: a leader arm moves a follower arm, which sends its contact forces back."""

from .arm import follower_rules, leader_inertia
from .coupling import Coupling, CouplingState, Output, Uncoupled
from .settings import PARAMETERS, FeedbackSettings, FeedbackSource, TeleoperationSettings

__all__ = [
    'PARAMETERS', 'Coupling', 'CouplingState', 'FeedbackSettings', 'FeedbackSource', 'Output',
    'TeleoperationSettings', 'Uncoupled', 'follower_rules', 'leader_inertia'
]
