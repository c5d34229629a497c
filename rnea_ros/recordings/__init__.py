# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Recorded joint states from bags: matched with a model, cleaned, filtered; robust estimation."""

from .bags import SUFFIXES, Bag, BagError, bag_writer, open_bag, stamp_or_receipt
from .cleaning import STILL_SPEED, clean
from .joint_states import (
    Recording,
    RecordingError,
    Sample,
    match_joints,
    read_joint_states,
    recording_from,
    usable_factor,
)
from .samples import (
    CUTOFF,
    MIN_POSES,
    Kind,
    Samples,
    filtered_motion,
    motion_samples,
    require_scipy,
    still_poses,
    take_samples,
)

__all__ = [
    'CUTOFF', 'MIN_POSES', 'STILL_SPEED', 'SUFFIXES', 'Bag', 'BagError', 'Kind', 'Recording',
    'RecordingError', 'Sample', 'Samples', 'bag_writer', 'clean', 'filtered_motion',
    'match_joints', 'motion_samples', 'open_bag', 'read_joint_states', 'recording_from',
    'require_scipy', 'stamp_or_receipt', 'still_poses', 'take_samples', 'usable_factor',
]
