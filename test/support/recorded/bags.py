# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Bags to read: recordings of real arms, and recordings written as ROS 2 writes them."""

import atexit
from collections.abc import Mapping, Sequence
from functools import cache
import lzma
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
import pytest

from rnea_ros.recordings import Recording
from support.models.robots import ROOT

Efforts: TypeAlias = Mapping[str, tuple[Sequence[str], NDArray[np.float64]]]


def write_bag(path: Path, recorded: Recording, storage: str) -> None:
    """Write a ROS 2 bag with the recording on /joint_states."""
    rows = [
        (10**18 + round(1e9 * time), *row) for time, *row in zip(
            recorded.time, recorded.position, recorded.velocity, recorded.effort, strict=True
        )
    ]
    _write(path, storage, {'/joint_states': (recorded.names, rows)})


def write_efforts(path: Path, efforts: Efforts, storage: str) -> None:
    """Write a ROS 2 bag with efforts of joints, shape (N, n), by topic; 100 a second."""
    nothing, at = np.zeros(0), 10**18
    _write(path, storage, {
        topic: (joints, [(at + k * 10**7, nothing, nothing, row) for k, row in enumerate(rows)])
        for topic, (joints, rows) in efforts.items()
    })


def _write(path: Path, storage: str, topics: Mapping[str, tuple[Sequence[str], Any]]) -> None:
    """Write joint states by topic: names, and rows of nanoseconds and three arrays."""
    rosbag2 = pytest.importorskip('rosbags.rosbag2', reason='rosbags is not installed')
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.LATEST)
    names = 'sensor_msgs/msg/JointState', 'std_msgs/msg/Header', 'builtin_interfaces/msg/Time'
    state, header, stamp = (store.types[name] for name in names)
    plugin = rosbag2.StoragePlugin[storage]
    with rosbag2.Writer(path, version=9, storage_plugin=plugin) as writer:
        for topic, (joints, rows) in topics.items():
            connection = writer.add_connection(topic, state.__msgtype__, typestore=store)
            for time, *arrays in rows:
                message = state(header(stamp(*divmod(time, 10**9)), ''), list(joints), *arrays)
                data = store.serialize_cdr(message, state.__msgtype__)
                writer.write(connection, time, data)

@cache
def recording(name: str) -> Path:
    """
    Return the path of a recording of test/data, unpacked for the tests of one process.

    :param name: file name of the bag, such as ``panda_exciting_trajectory.db3``
    """
    directory = TemporaryDirectory(prefix='rnea_ros_recording_')
    atexit.register(directory.cleanup)
    path = Path(directory.name, name)
    packed = ROOT / 'test' / 'data' / f'{name}.xz'
    path.write_bytes(lzma.decompress(packed.read_bytes()))
    return path
