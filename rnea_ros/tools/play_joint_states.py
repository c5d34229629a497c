# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Play the joint states of a bag over DDS at their own pace, stamped anew.

Every recorded sample is sent at the time that its own stamp gives it, counted from the first one.
Samples that repeat the stamp before are left out, as are all topics but joint states.
"""

from __future__ import annotations

import argparse
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
import sys
import time

from rosbags.rosbag2.storage_sqlite3 import Sqlite3Reader
