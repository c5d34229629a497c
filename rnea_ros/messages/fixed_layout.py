# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Messages that come a thousand times a second, their numbers changed and all else the same.

rclpy makes an object of a message and of each of its parts, which costs more than the control
does. Here the first message of a kind is taken apart, and what makes its layout is remembered:
names, lengths, the byte order. The next ones are compared with that, byte by byte, and where they
agree their numbers are where those of the first were.
"""

from __future__ import annotations

from collections.abc import Callable
import sys
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..dynamics.compilation import entry, entry_point
from .cdr import HEADER, CdrMessage, aligned

Sample = TypeVar('Sample')

NATIVE = b'\x00\x01' if sys.byteorder == 'little' else b'\x00\x00'

MOST_LAYOUTS = 32
"""So many layouts are remembered; a publisher has one."""


@entry
def _compare(
    words: NDArray[np.uint64], mask: NDArray[np.uint64], expected: NDArray[np.uint64]
) -> bool:
    """Return whether words are as expected where the mask has ones."""
    different = np.uint64(0)
    for k in range(words.size):
        different |= (words[k] & mask[k]) ^ expected[k]
    return bool(different == 0)


_agrees = entry_point(_compare, tuple(np.zeros((3, 1), dtype=np.uint64)))


class FixedLayout(CdrMessage):
    """
    A message whose memory takes the next ones of the same layout.

    :param data: the message with its header
    :raises MalformedError: if the header is none of plain CDR
    """

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._length = len(data)
        self._header = data[:HEADER]
        self._room = memoryview(self._octets.data)[: self.size]
        self._mask = np.zeros_like(self._octets)
        self._layout = (self._octets.view(np.uint64), self._mask.view(np.uint64))
        self._expected = np.zeros_like(self._layout[0])

    @property
    def refillable(self) -> bool:
        """Whether numbers are read from where they came: not so in another byte order."""
        return self._header[:2] == NATIVE

    @property
    def data(self) -> bytes:
        """The bytes of what was read until now, with the numbers as they are."""
        return self._header + self._octets[: self.offset].tobytes()

    @property
    def stamp(self) -> float:
        """The time that a message with a header begins with, s."""
        return self.words.item(0) + 1e-9 * (self.words.item(1) & 0xFFFFFFFF)

    def skip_stamp(self) -> None:
        """Go on after the stamp, which is no part of the layout."""
        self.expect(8, 'stamp')
        self.offset = 8

    def skip_duration(self, what: str) -> None:
        """Go on after a duration, which is no part of the layout."""
        self.offset = aligned(self.offset, 4)
        self.expect(8, what)
        self.offset += 8

    def integer(self, what: str) -> int:
        """Read an int32; it is a part of the layout."""
        value = super().integer(what)
        self._mask[self.offset - 4 : self.offset] = 0xFF
        return value

    def text(self, what: str) -> str:
        """Read a string; it is a part of the layout."""
        begin = aligned(self.offset, 4)
        text = super().text(what)
        self._mask[begin : self.offset] = 0xFF
        return text

    def numbers(self, count: int, what: str) -> NDArray[np.float64]:
        """
        Return float64 numbers, shape (count,); those of the next message once it was refilled.

        :param count: how many
        :param what: what they are, for the error
        :raises MalformedError: if the message ends before
        """
        if count:
            self.offset = aligned(self.offset, 8)
        self.expect(8 * count, what)
        begin = self.offset // 8
        self.offset += 8 * count
        return self.doubles[begin : begin + count]

    def remember(self) -> None:
        """Take what was read until now, but for numbers and stamp, for the layout."""
        words, mask = self._layout
        self._expected[:] = words & mask

    def refill(self, data: bytes) -> bool:
        """
        Take the next message, if it has the layout of the first; if not, numbers are void.

        :param data: the message with its header
        """
        if len(data) != self._length or data[:2] != self._header[:2]:
            return False
        self._room[:] = data[HEADER:]
        return bool(_agrees(*self._layout, self._expected))


class FixedLayoutReader(Generic[Sample]):
    """
    Reads messages of one topic.

    :param read: makes a sample of a message, whose arrays are the message's own
    """

    def __init__(self, read: Callable[[FixedLayout], Sample]) -> None:
        self._read = read
        self._known: list[tuple[FixedLayout, Sample]] = []

    def __call__(self, data: bytes) -> tuple[Sample, float]:
        """
        Return what a message holds, and its stamp, s; overwritten by the next call.

        :param data: the message with its header
        :raises MalformedError: if it is none
        """
        for message, sample in self._known:
            if message.refill(data):
                return sample, message.stamp
        message = FixedLayout(data)
        message.skip_stamp()
        sample = self._read(message)
        message.remember()
        if message.refillable:
            if len(self._known) == MOST_LAYOUTS:
                self._known.clear()
            self._known.append((message, sample))
        return sample, message.stamp
