# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The recordings of real arms in test/data, unpacked for the tests of one process."""

import atexit
from functools import cache
import lzma
from pathlib import Path
from tempfile import TemporaryDirectory

from support.models.robots import ROOT

DATA = ROOT / 'test' / 'data'


@cache
def recording(name: str) -> Path:
    """
    Return the path of an unpacked recording.

    :param name: file name of the bag, such as ``panda_exciting_trajectory.db3``
    """
    directory = TemporaryDirectory(prefix='rnea_ros_recording_')
    atexit.register(directory.cleanup)
    path = Path(directory.name, name)
    path.write_bytes(lzma.decompress((DATA / f'{name}.xz').read_bytes()))
    return path
