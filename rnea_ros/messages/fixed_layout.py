# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Fast reading of messages whose layout stays the same while their numbers change.

rclpy makes a Python object of a message and of each of its parts: 20 us for the joint states of 7
joints. Here the first message is read field by field, and its layout is kept: names, lengths, byte
order. A later message with the same bytes there has its numbers at the same offsets: 2 us.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
import sys
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..compilation import entry, entry_point
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

    def skip_stamp(self) -> None:
        """Skip the stamp; it is not part of the layout."""
        self.expect(8, 'stamp')
        self.offset = 8

    def skip_duration(self, what: str) -> None:
        """Skip a duration; it is not part of the layout."""
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
    """
    Reads the messages of one topic.

    :param read: returns the sample of a message; its arrays are views of the message
    """

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
        message.skip_stamp()
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
