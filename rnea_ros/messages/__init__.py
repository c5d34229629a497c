# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Messages: from CDR bytes to plain data. Importable without ROS."""

from .cdr import CdrMessage, MalformedError
from .fixed_layout import (
    FixedLayout,
    FixedLayoutReader,
    ImuSample,
    JointStateSample,
    WrenchSample,
    controller_state_reader,
    controller_state_type,
)
from .trajectory import decode_trajectory, load_decoder, trajectory_request

__all__ = [
    'CdrMessage', 'FixedLayout', 'FixedLayoutReader', 'ImuSample', 'JointStateSample',
    'MalformedError', 'WrenchSample', 'controller_state_reader', 'controller_state_type',
    'decode_trajectory', 'load_decoder', 'trajectory_request',
]
