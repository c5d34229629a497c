# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Fast reading of the messages of every tick: joint states, wrenches, IMU, controller state.

rclpy makes a Python object of a message and of each of its parts: 20 us for the joint states of 7
joints. Here the first message is read field by field, and its layout is kept: names, lengths, byte
order. A later message with the same bytes there has its numbers at the same offsets: 2 us.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
import sys
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..compilation import entry, entry_point
from ..errors import InputError
from ..feedforward import Reason
from .cdr import HEADER, CdrMessage, MalformedError, aligned

Sample = TypeVar('Sample')

NATIVE = b'\x00\x01' if sys.byteorder == 'little' else b'\x00\x00'

MAX_LAYOUTS = 32  # greatest number of kept layouts; one publisher needs one


@entry
def _compare(
    words: NDArray[np.uint64], mask: NDArray[np.uint64], expected: NDArray[np.uint64]
) -> bool:
    """Return whether the masked words equal the expected ones."""
    different = np.uint64(0)
    for k in range(words.size):
        different |= (words[k] & mask[k]) ^ expected[k]
    return bool(different == 0)


_agrees = entry_point(_compare, tuple(np.zeros((3, 1), dtype=np.uint64)))


class FixedLayout(CdrMessage):
    """A message whose memory is filled again with later messages of the same layout."""

    MAX_SIZE = 65_536  # joint states of 100 joints have 7 kB

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._length = len(data)
        self._header = data[:HEADER]
        self._buffer = memoryview(self._octets.data)[: self.size]
        self._mask = np.zeros_like(self._octets)
        self._layout = (self._octets.view(np.uint64), self._mask.view(np.uint64))
        self._expected = np.zeros_like(self._layout[0])

    @property
    def data(self) -> bytes:
        """The message as CDR bytes up to the last field read, with the present numbers."""
        return self._header + self._octets[: self.offset].tobytes()

    @property
    def stamp(self) -> float:
        """Stamp of the message's std_msgs/Header, s."""
        return self.words.item(0) + 1e-9 * (self.words.item(1) & 0xFFFFFFFF)

    def skip_time(self, what: str) -> None:
        """Skip a stamp or a duration; it is not part of the layout."""
        self.offset = aligned(self.offset, 4)
        self.expect(8, what)
        self.offset += 8

    def integer(self, what: str) -> int:
        """Read an int32 that is part of the layout."""
        value = super().integer(what)
        self._mask[self.offset - 4 : self.offset] = 0xFF
        return value

    def text(self, what: str) -> str:
        """Read a string that is part of the layout."""
        begin = aligned(self.offset, 4)
        text = super().text(what)
        self._mask[begin : self.offset] = 0xFF
        return text

    def numbers(self, count: int, what: str) -> NDArray[np.float64]:
        """Return a view of float64 numbers, shape (count,); :meth:`refill` changes them."""
        if count:
            self.offset = aligned(self.offset, 8)
        self.expect(8 * count, what)
        begin = self.offset // 8
        self.offset += 8 * count
        return self.doubles[begin : begin + count]

    def fix_layout(self) -> None:
        """Keep the integers and strings that were read as the layout."""
        words, mask = self._layout
        self._expected[:] = words & mask

    def refill(self, data: bytes) -> bool:
        """Fill in a later message; return whether it has this layout and its numbers are valid."""
        if len(data) != self._length or data[:2] != self._header[:2]:
            return False
        self._buffer[:] = data[HEADER:]
        return bool(_agrees(*self._layout, self._expected))


class FixedLayoutReader(Generic[Sample]):
    """Reads the messages of one topic; ``read`` makes a sample of views of the message."""

    def __init__(self, read: Callable[[FixedLayout], Sample]) -> None:
        self._read = read
        self._layouts: list[tuple[FixedLayout, Sample]] = []

    def __call__(self, data: bytes) -> tuple[Sample, float]:
        """
        Return a message's sample and stamp, s; the next call overwrites the sample.

        :raises MalformedError: the bytes are not a message of this type
        """
        for message, sample in self._layouts:
            if message.refill(data):
                return sample, message.stamp
        message = FixedLayout(data)
        message.skip_time('stamp')
        sample = self._read(message)
        message.fix_layout()
        if data[:2] == NATIVE:  # later messages are filled in: only in the machine's byte order
            if len(self._layouts) == MAX_LAYOUTS:
                self._layouts.clear()
            self._layouts.append((message, sample))
        return sample, message.stamp

    def samples(
        self, messages: Iterable[bytes], reject: Callable[[Reason], None]
    ) -> Iterator[tuple[Sample, float]]:
        """Yield the sample and the stamp, s, of each message; reject malformed messages."""
        for message in messages:
            try:
                sample = self(message)
            except MalformedError as error:
                reject(error.reason)
            else:
                yield sample


class JointStateSample(NamedTuple):
    """A sensor_msgs/JointState with k joints: shapes (k,), or empty; rad or m, and s, N m or N."""

    names: tuple[str, ...]
    position: Array
    velocity: Array
    effort: Array

    @classmethod
    def read(cls, message: FixedLayout) -> JointStateSample:
        """Read a message from the end of its stamp on."""
        message.text('frame')
        names = message.names()
        position, velocity, effort = (
            message.numbers(message.unsigned(f'number of {what}'), what)
            for what in ('positions', 'velocities', 'efforts')
        )
        return cls(names, position, velocity, effort)


class WrenchSample(NamedTuple):
    """A geometry_msgs/WrenchStamped: frame_id, force and torque, shape (3,), N and N m."""

    frame: str
    force: Array
    torque: Array

    @classmethod
    def read(cls, message: FixedLayout) -> WrenchSample:
        """Read a message from the end of its stamp on."""
        frame = message.text('frame')
        return cls(frame, message.numbers(3, 'force'), message.numbers(3, 'torque'))


class ImuSample(NamedTuple):
    """A sensor_msgs/Imu; a first covariance element of -1 marks a part as absent."""

    frame: str
    parts: tuple[Array, ...]        # (x, y, z, w); angular velocity, rad/s; acceleration, m/s^2
    covariances: tuple[Array, ...]  # of each part, row by row, shapes (9,)

    @classmethod
    def read(cls, message: FixedLayout) -> ImuSample:
        """Read a message from the end of its stamp on."""
        frame, parts, covariances = message.text('frame'), [], []
        for what, size in (('orientation', 4), ('angular velocity', 3), ('acceleration', 3)):
            parts.append(message.numbers(size, what))
            covariances.append(message.numbers(9, f'covariance of {what}'))
        return cls(frame, tuple(parts), tuple(covariances))

    def present(self) -> list[list[float] | None]:
        """Return the parts; None for an absent one."""
        return [
            None if covariance[0] == -1.0 else part.tolist()
            for part, covariance in zip(self.parts, self.covariances, strict=True)
        ]


class ControllerStateSample(NamedTuple):
    """The reference of k joints: shapes (k,), rad or m, s; speed factor, (1,). Absent: empty."""

    names: tuple[str, ...]
    position: Array
    velocity: Array
    acceleration: Array
    speed: Array


def controller_state_type() -> Any:
    """Return the class of a trajectory controller's state; raise an InputError without it."""
    try:
        from control_msgs.msg import JointTrajectoryControllerState
    except ImportError as error:
        raise InputError(
            'reference_source',
            f"'controller_state' needs the ROS package control_msgs, which cannot be imported: "
            f'{error}',
        ) from error
    return JointTrajectoryControllerState


def controller_state_reader(
    fields: Mapping[str, str],
) -> Callable[[FixedLayout], ControllerStateSample]:
    """
    Return a reader of messages from the end of the stamp on.

    ``fields``, types by name, differ between distributions: they are read in this order.
    """
    last = 'speed_scaling_factor' if 'speed_scaling_factor' in fields else 'reference'
    names = list(fields)
    readers = [(name, _FIELD_READERS[fields[name]]) for name in names[: names.index(last) + 1]]

    def read(message: FixedLayout) -> ControllerStateSample:
        values = {name: read_field(message, name) for name, read_field in readers}
        position, velocity, acceleration, _ = values['reference']
        speed = values.get('speed_scaling_factor', np.empty(0))
        joints = values['joint_names']
        return ControllerStateSample(joints, position, velocity, acceleration, speed)

    return read


def _point(message: FixedLayout, what: str, **widths: int) -> list[Array]:
    """Read a point; ``widths``: how many numbers an element of each field has."""
    values = []
    for field, width in widths.items():
        count = message.unsigned(f'number of {field} of {what}')
        values.append(message.numbers(width * count, f'{field} of {what}'))
    message.skip_time(f'time of {what}')
    return values


_FIELD_READERS: Mapping[str, Callable[[FixedLayout, str], Any]] = {
    'std_msgs/Header': lambda message, _: message.text('frame'),
    'sequence<string>': lambda message, _: message.names(),
    'trajectory_msgs/JointTrajectoryPoint': partial(
        _point, positions=1, velocities=1, accelerations=1, efforts=1
    ),
    'trajectory_msgs/MultiDOFJointTrajectoryPoint': partial(
        _point, transforms=7, velocities=6, accelerations=6
    ),
    'double': lambda message, what: message.numbers(1, what),
}
