# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Reader of plain CDR, the encoding in which DDS sends messages.

A header of 4 bytes gives the byte order. After it, each value is aligned to its own size, at most
8 bytes, counted from the end of the header. A string or sequence begins with its length (uint32).
A string ends with a zero byte, which its length includes. Bytes after the last field are ignored:
rclpy ignores them too, and its serialiser appends some.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..errors import RneaError
from ..feedforward import Reason

HEADER = 4  # size of the header, bytes

_BYTE_ORDERS = {b'\x00\x00': '>', b'\x00\x01': '<'}
MAX_TEXT = 256  # bytes of a name; ROS permits 255 characters of a topic
MAX_NAMES = 256  # names in a list: they are read in less than 1 ms


class MalformedError(RneaError):
    """
    The bytes are not a message of the expected type, or too many.

    :param offset: position in the message, bytes from the start of the header
    """

    def __init__(self, offset: int, detail: str, reason: Reason = Reason.MALFORMED) -> None:
        super().__init__(f'{reason.value}: byte {offset}: {detail}')
        self.reason, self.word = reason, reason.value
        self.offset, self.detail = offset, detail

    @classmethod
    def too_short(cls, offset: int, what: str, need: int, left: int) -> MalformedError:
        """Return the error for a field of ``need`` bytes with fewer left."""
        return cls(offset, f'{what}: {need} bytes expected, {max(0, left)} left')


class CdrMessage:
    """
    A message that is read from front to back; a MalformedError quotes the name of the field.

    :ivar size: number of bytes after the header
    :ivar offset: position of the next field, bytes from the end of the header
    :ivar words: the message as int32, ``doubles`` as float64: index = offset / size of a number
    """

    MAX_SIZE: ClassVar[int] = 20_000_000  # larger messages are rejected before they are copied

    def __init__(self, data: bytes) -> None:
        self.offset = -HEADER
        self.limit(len(data), self.MAX_SIZE, 'bytes of the message')
        order = _BYTE_ORDERS.get(data[:2])
        if order is None or len(data) < HEADER:
            raise MalformedError(
                0, f'header {data[:HEADER].hex()}, but CDR begins with 0000 or 0001 and 4 bytes'
            )
        self.size = len(data) - HEADER
        self.offset = 0
        # A copy is aligned in memory. It is padded to whole doubles; padding is never read.
        self._octets = np.empty(aligned(self.size, 8), dtype=np.uint8)
        self._octets[: self.size] = np.frombuffer(data, dtype=np.uint8)[HEADER:]
        self.words = self._octets.view(f'{order}i4').astype(np.int32, copy=False)
        self.doubles = self._octets.view(f'{order}f8').astype(np.float64, copy=False)

    def integer(self, what: str) -> int:
        """Read an int32."""
        self.offset = aligned(self.offset, 4)
        self.expect(4, what)
        value = int(self.words[self.offset // 4])
        self.offset += 4
        return value

    def unsigned(self, what: str) -> int:
        """Read a uint32."""
        return self.integer(what) & 0xFFFFFFFF

    def text(self, what: str) -> str:
        """Read a string, UTF-8 that ends where its length says; a length of 0: an empty one."""
        length = self.unsigned(f'length of {what}')
        self.expect(length, what)
        self.limit(length, MAX_TEXT, f'bytes of {what}')
        encoded = self._octets[self.offset : self.offset + length].tobytes()
        try:
            text = encoded[:-1].decode() if encoded.find(b'\0') == length - 1 else None
        except UnicodeDecodeError:
            text = None
        if text is None:
            raise MalformedError(
                self.offset + HEADER,
                f'{what}: {encoded!r}, but a string is UTF-8 with one zero, at its end',
            )
        self.offset += length
        return text

    def names(self) -> tuple[str, ...]:
        """Read a list of names of joints."""
        count = self.unsigned('number of joints')
        names = [self.text(f'name of joint {joint}') for joint in range(min(count, MAX_NAMES))]
        self.limit(count, MAX_NAMES, 'joints')
        return tuple(names)

    def limit(self, number: int, most: int, what: str) -> None:
        """Raise a MalformedError if a number exceeds a bound."""
        if number > most:
            detail = f'{number} {what}, at most {most} are read'
            raise MalformedError(self.offset + HEADER, detail, Reason.TOO_LARGE)

    def expect(self, need: int, what: str) -> None:
        """Raise a MalformedError if less than a number of bytes is left for the next field."""
        if need > self.size - self.offset:
            left = self.size - self.offset
            raise MalformedError.too_short(self.offset + HEADER, what, need, left)


def aligned(offset: int, size: int) -> int:
    """Return the smallest multiple of a size that is not below an offset, bytes."""
    return -(-offset // size) * size
