# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Read and write ROS bags without ROS; why a bag cannot be read, and the way out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
import errno
from itertools import islice
import os.path
from pathlib import Path
import resource
from threading import RLock
import time
from typing import Any

from ..errors import RneaError, one_line
from ..files import is_special
from ..yaml_files import YamlError, read_document

SUFFIXES = ('.db3', '.mcap')
"""File name suffixes of ROS 2 bags."""

MESSAGE_TYPE = 'sensor_msgs/msg/JointState'

SQLITE, MCAP, ROS1 = b'SQLite format 3\0', b'\x89MCAP0\r\n', b'#ROSBAG V2.0'
"""First bytes of a ``.db3``, an ``.mcap`` and a ``.bag`` of ROS 1."""

FORMATS = {'.db3': SQLITE, '.mcap': MCAP, '.bag': ROS1}

MAX_MESSAGE, MAX_METADATA = 20_000_000, 500_000  # bytes
MAX_UNPACKED = 500_000_000  # bytes of memory, and of an unpacked file; or MAX_RATIO x the bag
MAX_RATIO = 100
_STATM = Path('/proc/self/statm')
_LIMITS = RLock()  # of the process: one thread at a time sets and restores them
TOO_LARGE = 'a part of it is too large once unpacked; record it again without compression'


class BagError(RneaError):
    """A bag cannot be read, or lacks the requested messages."""


class Bag:
    """An open bag, with a reader of the package rosbags; :func:`open_bag` makes it."""

    def __init__(self, path: Path, reader: Any) -> None:
        self._path = path
        self._reader = reader
        #: message types by recorded topic
        self.topics: Mapping[str, str] = {
            connection.topic: connection.msgtype for connection in reader.connections
        }

    def topic_with(self, message_type: str, what: str, topic: str | None) -> str:
        """
        Return the requested topic, None for the only one, with messages of a type.

        :param message_type: such as ``sensor_msgs/msg/JointState``
        :param what: name of these messages in errors
        :raises BagError: no such topic, or several and none requested
        """
        topics = sorted(name for name, kind in self.topics.items() if kind == message_type)
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
        """Yield topic, time of receipt in ns, and serialised message, in the order of receipt."""
        connections = [each for each in self._reader.connections if each.topic in topics]
        messages = self._reader.messages(connections=connections)
        while True:
            with _bounds(self._path):
                some = list(islice(messages, MAX_UNPACKED // MAX_MESSAGE))
            if not some:
                return
            for connection, received, data in some:
                if len(data) > MAX_MESSAGE:
                    raise BagError(f'{self._path} cannot be read: {TOO_LARGE}')
                yield connection.topic, received, data

    def messages(self, topics: Collection[str]) -> Iterator[tuple[str, int, Any]]:
        """Yield topic, time of receipt in ns, and message, in the order of receipt."""
        for topic, received, data in self.raw_messages(topics):
            try:
                message = self._reader.deserialize(data, self.topics[topic])
            except Exception as error:
                raise self.broken_message(topic, received) from error
            yield topic, received, message

    def broken_message(self, topic: str, received: int) -> BagError:
        """Return the error for a message that cannot be decoded, received at a time, ns."""
        return BagError(
            f'{self._path} is damaged: the message received at {1e-9 * received:.3f} s on {topic} '
            f'is not a {self.topics[topic]}; record again'
        )


@contextmanager
def open_bag(path: Path) -> Iterator[Bag]:
    """
    Open a bag for the duration of a ``with`` block.

    :param path: directory of a ROS 2 bag, or a file: ``.db3``, ``.mcap``, or ``.bag`` of ROS 1
    :raises BagError: the path does not exist or is not a bag, or the package rosbags is missing
    """
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError as error:
        raise BagError('reading bags needs the package rosbags: pip install rosbags') from error
    if not os.path.exists(path):  # False too for a name that no file can have
        raise BagError(f'{path} does not exist')
    for file in (path, *path.glob('*')):
        if is_special(file):
            raise BagError(f'{file} is a pipe or device; name a recording in regular files')
    metadata = path / 'metadata.yaml'
    with _bounds(path):
        if os.path.isfile(metadata):  # rosbags reads a hostile or long one for minutes
            try:
                read_document(metadata, MAX_METADATA, 'shorten it')
            except YamlError as error:
                raise BagError(f'{error}, or name a file beside it') from error
        reader = AnyReader([path], default_typestore=get_typestore(Stores.LATEST))
        reader.open()
    try:
        yield Bag(path, reader)
    finally:
        reader.close()


@contextmanager
def _bounds(path: Path) -> Iterator[None]:
    """
    Bound what the package rosbags unpacks, in memory and on disk; its errors become a BagError.

    It unpacks a message, chunk or file of any size whole: only the process can be limited.
    """
    size = sum(map(os.path.getsize, filter(os.path.isfile, (path, *path.glob('*')))))
    none = resource.RLIM_INFINITY
    bounds = {resource.RLIMIT_FSIZE: max(MAX_UNPACKED, MAX_RATIO * size)}
    if _STATM.exists():  # without /proc the memory in use is unknown
        used = int(_STATM.read_text().split()[0]) * resource.getpagesize()
        bounds[resource.RLIMIT_AS] = used + MAX_UNPACKED
    _LIMITS.acquire()
    before = {kind: resource.getrlimit(kind) for kind in bounds}
    try:
        for kind, (soft, hard) in before.items():
            bound = bounds[kind] if soft == none else min(soft, bounds[kind])
            resource.setrlimit(kind, (bound, hard))
        yield
    except RneaError:
        raise
    except Exception as error:  # each layer of rosbags raises an error class of its own
        large = isinstance(error, MemoryError) or getattr(error, 'errno', 0) == errno.EFBIG
        fault = TOO_LARGE if large else bag_fault(path)
        raise BagError(f'{path} cannot be read: {fault}') from error
    finally:
        for kind, limits in before.items():
            resource.setrlimit(kind, limits)
        _LIMITS.release()


def stamp_or_receipt(header: Any, received: int) -> float:
    """Return the stamp of a ``std_msgs/Header``, s; the time of receipt, in ns, if it is 0."""
    return float(header.stamp.sec + 1e-9 * header.stamp.nanosec) or 1e-9 * received


@contextmanager
def bag_writer(path: Path, topic: str) -> Iterator[Callable[[bytes], None]]:
    """
    Provide a function that writes a serialised joint state; the bag is closed after the block.

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


def bag_fault(path: Path) -> str:
    """Return why a bag that exists cannot be read, and the way out."""
    try:
        return _of_directory(path) if path.is_dir() else _of_file(path)
    except OSError as error:
        return f'it cannot be opened: {error.strerror}'


def _of_directory(path: Path) -> str:
    files = [file for file in sorted(path.iterdir()) if file.suffix in FORMATS]
    missing = not (path / 'metadata.yaml').is_file()
    if not files and any(path.glob('*.zstd')):  # `ros2 bag reindex` reads no compressed file
        fault = 'is missing' if missing else 'or a compressed file is damaged'
        return f'metadata.yaml {fault}; unpack its files: zstd -d {path}/*.zstd'
    if not files:
        return 'the directory has no .db3 or .mcap file; name the directory of a bag'
    way_out = f'name its file: {files[0]}'
    if len(files) > 1:
        # Without -s, Humble leaves the storage identifier empty (rosbag2 issue 2175).
        storage = 'sqlite3' if files[0].suffix == '.db3' else 'mcap'
        way_out = f'write it again: ros2 bag reindex -s {storage} {path}'
    if missing:
        return f'metadata.yaml is missing; {way_out}'
    faults = [f'{file.name}: {fault}' for file in files if (fault := _cut_off(file))]
    return [*faults, f'metadata.yaml or {files[0].name} is damaged or too new; {way_out}'][0]


def _of_file(path: Path) -> str:
    if path.suffix not in FORMATS:
        return 'it is not a bag; name a directory with metadata.yaml or a .db3, .mcap or .bag file'
    if fault := _cut_off(path):
        return fault
    if path.suffix == '.db3':
        return f'it is damaged; recover it: sqlite3 {path} .recover | sqlite3 recovered.db3'
    return 'it is damaged; recover it with `mcap recover` (.mcap) or `rosbag reindex` (.bag)'


def _cut_off(path: Path) -> str:
    """Return what is wrong with the first and last bytes of a file."""
    magic = FORMATS[path.suffix]
    with path.open('rb') as file:
        start = file.read(len(magic))
        if not start:
            return 'the file is empty; record again'
        if start != magic:
            return f'it is not a {path.suffix} file; name the recording, or record again'
        if magic is MCAP:
            file.seek(-min(len(MCAP), path.stat().st_size), 2)
            if file.read() != MCAP:
                return (
                    'its end is missing, as the recorder was killed or the copy is incomplete; '
                    f'recover it: mcap recover {path} -o recovered.mcap'
                )
    return ''
