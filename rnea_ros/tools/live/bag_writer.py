# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Write joint states into a bag as they arrive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
import time

from ...errors import one_line
from ...recordings import BagError

MESSAGE_TYPE = 'sensor_msgs/msg/JointState'

@contextmanager
def bag_writer(path: Path, topic: str) -> Iterator[Callable[[bytes], None]]:
    """
    Provide a function that writes a serialised joint state; the bag is closed after the block.

    :param path: directory of the new bag
    :param topic: name of the topic in the bag
    :raises BagError: the path exists already, or the package rosbags is missing
    """
    try:
        from rosbags.rosbag2 import Writer
        from rosbags.typesys import Stores, get_typestore
    except ImportError as error:
        raise BagError('writing bags needs the package rosbags: pip install rosbags') from error
    try:
        writer = Writer(path, version=9)
        writer.open()
    except Exception as error:  # each layer of rosbags raises an error class of its own
        raise BagError(f'{path} cannot be written: {one_line(error)}') from error
    try:
        connection = writer.add_connection(
            topic, MESSAGE_TYPE, typestore=get_typestore(Stores.LATEST)
        )
        yield lambda data: writer.write(connection, time.time_ns(), bytes(data))
    finally:
        writer.close()
