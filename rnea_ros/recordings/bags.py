# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Read ROS bags without ROS."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
import os.path
from pathlib import Path
from typing import Any

from ..errors import RneaError
from .bag_faults import bag_fault

SUFFIXES = ('.db3', '.mcap')
"""File name suffixes of ROS 2 bags."""


class BagError(RneaError):
    """A bag cannot be read, or lacks the requested messages."""


class Bag:
    """
    An open bag; :func:`open_bag` makes it.

    :param path: of the bag
    :param reader: the bag's reader, of the package rosbags
    :ivar topics: message types by recorded topic
    """

    def __init__(self, path: Path, reader: Any) -> None:
        self._path = path
        self._reader = reader
        self.topics: Mapping[str, str] = {
            connection.topic: connection.msgtype for connection in reader.connections
        }

    def topic_with(self, message_type: str, what: str, topic: str | None) -> str:
        """
        Return the topic with messages of a type.

        :param message_type: such as ``sensor_msgs/msg/JointState``
        :param what: name of these messages in errors
        :param topic: the requested topic; None for the only one
        :raises BagError: no such topic, or several and none requested
        """
        topics = sorted(name for name, of in self.topics.items() if of == message_type)
        if topic in topics or (topic is None and len(topics) == 1):
            return topic or topics[0]
        if not topics:
            others = ', '.join(sorted(self.topics)) or 'none'
            raise BagError(f'{self._path} has no topic with {what}; its topics are: {others}')
        there = ', '.join(topics)
        if topic is None:
            raise BagError(f'{self._path} has several topics with {what}: {there}; name one')
        raise BagError(f'{self._path} has no {what} on {topic}; topics with {what}: {there}')

    def raw_messages(self, topics: Collection[str]) -> Iterator[tuple[str, int, bytes]]:
        """
        Yield topic, time of receipt in ns, and serialised message, in the order of receipt.

        :param topics: the topics to read
        :raises BagError: a message cannot be read
        """
        connections = [each for each in self._reader.connections if each.topic in topics]
        messages = self._reader.messages(connections=connections)
        while True:
            try:
                connection, received, data = next(messages)
            except StopIteration:
                return
            except Exception as error:
                raise _unreadable(self._path) from error
            yield connection.topic, received, data

    def messages(self, topics: Collection[str]) -> Iterator[tuple[str, int, Any]]:
        """
        Yield topic, time of receipt in ns, and message, in the order of receipt.

        :param topics: the topics to read
        :raises BagError: a message cannot be read
        """
        for topic, received, data in self.raw_messages(topics):
            try:
                message = self._reader.deserialize(data, self.topics[topic])
            except Exception as error:
                raise self.broken_message(topic, received) from error
            yield topic, received, message

    def broken_message(self, topic: str, received: int) -> BagError:
        """
        Return the error for a message that cannot be decoded.

        :param topic: its topic
        :param received: its time of receipt, ns
        """
        return BagError(
            f'{self._path} has a broken message: that of {1e-9 * received:.3f} s on {topic} is no '
            f'{self.topics[topic]}; the bag is damaged: record again'
        )


@contextmanager
def open_bag(path: Path) -> Iterator[Bag]:
    """
    Open a bag for the duration of a ``with`` block.

    :param path: directory of a ROS 2 bag, or a file: ``.db3``, ``.mcap``, or ``.bag`` of ROS 1
    :raises BagError: the path does not exist or is no bag, or the package rosbags is missing
    """
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError as error:
        raise BagError('reading bags needs the package rosbags: pip install rosbags') from error
    if not os.path.exists(path):  # False too for a name that no file can have
        raise BagError(f'{path} does not exist')
    try:
        reader = AnyReader([path], default_typestore=get_typestore(Stores.LATEST))
        reader.open()
    except Exception as error:  # each layer of rosbags raises an error class of its own
        raise _unreadable(path) from error
    try:
        yield Bag(path, reader)
    finally:
        reader.close()


def _unreadable(path: Path) -> BagError:
    return BagError(f'{path} cannot be read: {bag_fault(path)}')


def stamp_or_receipt(header: Any, received: int) -> float:
    """
    Return the header stamp of a message, s; its time of receipt if the stamp is 0.

    :param header: a ``std_msgs/Header``
    :param received: ns
    """
    stamp = float(header.stamp.sec + 1e-9 * header.stamp.nanosec)
    return stamp or 1e-9 * received
