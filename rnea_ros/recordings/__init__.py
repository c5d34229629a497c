# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Joint states from bags and tables: matched with a model, cleaned, filtered; robust figures."""

from .bags import SUFFIXES, Bag, BagError, bag_writer, open_bag, stamp_or_receipt
from .cleaning import STILL_SPEED, clean
from .joint_states import (
    Recording,
    RecordingError,
    Sample,
    match_joints,
    read_joint_states,
    recording_from,
    samples_from,
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
from .tables import KEYS, Recorded, is_table, read_recording, read_recordings, turning

__all__ = [
    'CUTOFF', 'KEYS', 'MIN_POSES', 'STILL_SPEED', 'SUFFIXES', 'Bag', 'BagError', 'Kind',
    'Recorded', 'Recording', 'RecordingError', 'Sample', 'Samples', 'bag_writer', 'clean',
    'filtered_motion', 'is_table', 'match_joints', 'motion_samples', 'open_bag',
    'read_joint_states', 'read_recording', 'read_recordings', 'recording_from', 'require_scipy',
    'samples_from', 'stamp_or_receipt', 'still_poses', 'take_samples', 'turning', 'usable_factor',
]
