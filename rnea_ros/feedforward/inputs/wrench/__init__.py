# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Force-torque sensors: from readings to external forces on bodies."""

from .tare import TareOffsets
from .wrench_inputs import WrenchInputs

__all__ = ['TareOffsets', 'WrenchInputs']
