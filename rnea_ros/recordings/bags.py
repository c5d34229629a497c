# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Bags, the recordings of topics, read without ROS."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import RneaError, one_line

SUFFIXES = ('.db3', '.mcap')
"""Of a ROS 2 bag's own files."""


class BagError(RneaError):
    """A bag cannot be read, or there is not in it what is needed."""


class Bag:
    """
    An open bag; see :func:`open_bag`.

    :param path: of the bag
    :param reader: rosbags' reader of it
    :ivar topics: the type of the messages on each recorded topic
    """

    def __init__(self, path: Path, reader: Any) -> None:
        self._path = path
        self._reader = reader
        self.topics: Mapping[str, str] = {
            connection.topic: connection.msgtype for connection in reader.connections
        }

    def topic_with(self, message_type: str, what: str, topic: str | None) -> str:
        """
        Return the topic that has messages of a type.

        :param message_type: such as ``sensor_msgs/msg/JointState``
        :param what: how these are called
        :param topic: the one that is wanted; None for the only one
        :raises BagError: there is not exactly one
        """
        topics = sorted(name for name, of in self.topics.items() if of == message_type)
        if topic in topics or (topic is None and len(topics) == 1):
            return topic or topics[0]
        if not topics:
            others = ', '.join(sorted(self.topics)) or 'none'
            raise BagError(f'{self._path} has {what} on no topic; its topics are: {others}')
        there = ', '.join(topics)
        if topic is None:
            raise BagError(f'{self._path} has {what} on {there}; name one topic')
        raise BagError(f'{self._path} has no {what} on {topic}; it has them on {there}')

    def raw_messages(self, topics: Collection[str]) -> Iterator[tuple[str, int, bytes]]:
        """
        Yield messages in the order of their receipt: topic, time of receipt in ns, and bytes.

        :param topics: from which
        :raises BagError: the bag is broken there
        """
        wanted = [each for each in self._reader.connections if each.topic in topics]
        messages = self._reader.messages(connections=wanted)
        while True:
            try:
                connection, received, data = next(messages)
            except StopIteration:
                return
            except Exception as error:
                raise self._broken(error) from error
            yield connection.topic, received, data

    def messages(self, topics: Collection[str]) -> Iterator[tuple[str, int, Any]]:
        """
        Yield messages in the order of their receipt: topic, time of receipt in ns, and message.

        :param topics: from which
        :raises BagError: the bag is broken there
        """
        for topic, received, data in self.raw_messages(topics):
            try:
                message = self._reader.deserialize(data, self.topics[topic])
            except Exception as error:
                raise self._broken(error) from error
            yield topic, received, message

    def _broken(self, error: Exception) -> BagError:
        return BagError(f'{self._path} has a broken message: {one_line(error)}')


@contextmanager
def open_bag(path: Path) -> Iterator[Bag]:
    """
    Open a bag until the block ends.

    :param path: directory of a ROS 2 bag, or a file: ``.db3``, ``.mcap``, or ROS 1's ``.bag``
    :raises BagError: no such file, no bag, or the package rosbags is missing
    """
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError as error:
        raise BagError('reading bags needs the package rosbags: pip install rosbags') from error
    if not path.exists():
        raise BagError(f'{path} does not exist')
    try:
        reader = AnyReader([path], default_typestore=get_typestore(Stores.LATEST))
        reader.open()
    except Exception as error:  # rosbags has an error class for every layer of a bag
        raise BagError(f'{path} cannot be read: {one_line(error)}') from error
    try:
        yield Bag(path, reader)
    finally:
        reader.close()


def stamp_or_receipt(header: Any, received: int) -> float:
    """
    Return the time of a message, s: of its header, or of its receipt where that has none.

    :param header: a ``std_msgs/Header``
    :param received: ns
    """
    stamp = float(header.stamp.sec + 1e-9 * header.stamp.nanosec)
    return stamp or 1e-9 * received
