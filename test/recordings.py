# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Where the recordings of real arms are: beside the checkout, or where a variable says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from robots import ROOT

VARIABLE = 'RNEA_ROS_RECORDINGS'


def recording(name: str) -> Path:
    """Return the path of a recording, or skip the test visibly where it is not there."""
    directory = Path(os.environ.get(VARIABLE, ROOT.parent / 'shared' / 'data'))
    path = directory / name
    if not path.is_file():
        pytest.skip(f'{name} is not in {directory}; set {VARIABLE}')
    return path
