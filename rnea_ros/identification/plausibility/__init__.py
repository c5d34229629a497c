# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Plausibility of runs and fits: enough motion, no faults, possible masses."""

from .bounds import mass_bounds, mass_notes, scaled_prior
from .checks import (
    LOAD_EXPLAINS,
    check_fit,
    check_runs,
    check_same_load,
    delay_notes,
    effort_delay,
)

__all__ = [
    'LOAD_EXPLAINS', 'check_fit', 'check_runs', 'check_same_load', 'delay_notes', 'effort_delay',
    'mass_bounds', 'mass_notes', 'scaled_prior',
]
