# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Bags to read: recordings written as ROS 2 writes them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
import pytest

from rnea_ros.recordings import Recording

Efforts: TypeAlias = Mapping[str, tuple[Sequence[str], NDArray[np.float64]]]


def write_bag(path: Path, recorded: Recording, storage: str) -> None:
    """Write a ROS 2 bag with the recording on /joint_states."""
    rosbag2 = pytest.importorskip('rosbags.rosbag2', reason='rosbags is not installed')
    store, state, header, stamp = _message_types()
    plugin = rosbag2.StoragePlugin[storage]
    with rosbag2.Writer(path, version=9, storage_plugin=plugin) as writer:
        connection = writer.add_connection('/joint_states', state.__msgtype__, typestore=store)
        for k, t in enumerate(recorded.time):
            nanoseconds = 10**18 + round(1e9 * t)
            message = state(
                header(stamp(nanoseconds // 10**9, nanoseconds % 10**9), ''), list(recorded.names),
                recorded.position[k], recorded.velocity[k], recorded.effort[k],
            )
            data = store.serialize_cdr(message, state.__msgtype__)
            writer.write(connection, nanoseconds, data)


def write_efforts(path: Path, efforts: Efforts, storage: str) -> None:
    """Write a ROS 2 bag with efforts of joints, shape (N, n), by topic; 100 a second."""
    rosbag2 = pytest.importorskip('rosbags.rosbag2', reason='rosbags is not installed')
    store, state, header, stamp = _message_types()
    plugin = rosbag2.StoragePlugin[storage]
    nothing = np.zeros(0)
    with rosbag2.Writer(path, version=9, storage_plugin=plugin) as writer:
        for topic, (joints, rows) in efforts.items():
            connection = writer.add_connection(topic, state.__msgtype__, typestore=store)
            for k, row in enumerate(rows):
                seconds, nanoseconds = divmod(10**18 + k * 10**7, 10**9)
                message = state(
                    header(stamp(seconds, nanoseconds), ''), list(joints), nothing, nothing, row
                )
                data = store.serialize_cdr(message, state.__msgtype__)
                writer.write(connection, 10**18 + k * 10**7, data)


def _message_types() -> tuple[Any, Any, Any, Any]:
    """Return rosbags' types, and of them those of a joint state, its header and stamp."""
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.LATEST)
    names = 'sensor_msgs/msg/JointState', 'std_msgs/msg/Header', 'builtin_interfaces/msg/Time'
    state, header, stamp = (store.types[name] for name in names)
    return store, state, header, stamp
