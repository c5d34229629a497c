# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Bags to read: recordings written as ROS 2 writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rnea_ros.preflight.recording import Recording


def write_bag(path: Path, recorded: Recording, storage: str) -> None:
    """Write a ROS 2 bag with the recording on /joint_states."""
    rosbag2 = pytest.importorskip('rosbags.rosbag2', reason='rosbags is not installed')
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.LATEST)
    state, header, stamp = (
        store.types[name]
        for name in (
            'sensor_msgs/msg/JointState', 'std_msgs/msg/Header', 'builtin_interfaces/msg/Time'
        )
    )
    plugin = rosbag2.StoragePlugin[storage]
    with rosbag2.Writer(path, version=9, storage_plugin=plugin) as writer:
        connection = writer.add_connection('/joint_states', state.__msgtype__, typestore=store)
        for k, t in enumerate(recorded.time):
            nanoseconds = 10**18 + round(1e9 * t)
            message = state(
                header(stamp(nanoseconds // 10**9, nanoseconds % 10**9), ''),
                list(recorded.names),
                recorded.position[k],
                recorded.velocity[k],
                recorded.effort[k],
            )
            data = store.serialize_cdr(message, state.__msgtype__)
            writer.write(connection, nanoseconds, data)
