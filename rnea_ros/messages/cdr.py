# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Plain CDR, in which DDS sends messages: read from the front, nothing beyond the end.

Four bytes say the byte order. What follows is aligned to its own size, at most 8 bytes, counted
from there. A string or sequence begins with its length, a string ends in a zero that its length
includes. Bytes that are left at the end are ignored, as rclpy ignores them: its serialiser leaves
some.
"""

from __future__ import annotations

import numpy as np

from ..errors import RneaError

HEADER = 4
"""Bytes before the first that counts for alignment."""

_BYTE_ORDERS = {b'\x00\x00': '>', b'\x00\x01': '<'}
_SHOWN = 40  # bytes of a string that is none: what a log line can take


class MalformedError(RneaError):
    """
    Bytes are no message of their type.

    :param offset: where in the message, bytes from the header's first on
    :param detail: what is there, and what was expected
    """

    def __init__(self, offset: int, detail: str) -> None:
        super().__init__(f'malformed: byte {offset}: {detail}')
        self.word = 'malformed'
        self.offset = offset
        self.detail = detail

    @classmethod
    def too_short(cls, offset: int, what: str, need: int, left: int) -> MalformedError:
        """Return that something needs more bytes than the message has left."""
        return cls(offset, f'{what}: {need} bytes expected, {max(0, left)} left')


class CdrMessage:
    """
    The bytes of a message, read from the front.

    Kernels read on from :attr:`offset`, which counts from after the header: in :attr:`words` and
    :attr:`doubles` a number stands where its offset, divided by its own size, says.

    :param data: the message with its header
    :raises MalformedError: if the header is none of plain CDR
    """

    def __init__(self, data: bytes) -> None:
        order = _BYTE_ORDERS.get(data[:2])
        if order is None or len(data) < HEADER:
            raise MalformedError(
                0, f'header {data[:HEADER].hex()}, but CDR begins with 0000 or 0001 and 4 bytes'
            )
        self.size = len(data) - HEADER
        self.offset = 0
        # A copy: it is aligned in memory. What is left of its last word or double is not read.
        self._octets = np.empty(aligned(self.size, 8), dtype=np.uint8)
        self._octets[: self.size] = np.frombuffer(data, dtype=np.uint8)[HEADER:]
        self.words = self._octets.view(f'{order}i4').astype(np.int32, copy=False)
        self.doubles = self._octets.view(f'{order}f8').astype(np.float64, copy=False)

    def integer(self, what: str) -> int:
        """
        Read an int32.

        :param what: what it is, for the error
        :raises MalformedError: if the message ends before
        """
        self.offset = aligned(self.offset, 4)
        self.expect(4, what)
        value = int(self.words[self.offset // 4])
        self.offset += 4
        return value

    def unsigned(self, what: str) -> int:
        """
        Read an uint32.

        :param what: what it is, for the error
        :raises MalformedError: if the message ends before
        """
        return self.integer(what) & 0xFFFFFFFF

    def text(self, what: str) -> str:
        """
        Read a string; a length of 0 counts as an empty one.

        :param what: what it is, for the error
        :raises MalformedError: if it does not end where its length says, or is no UTF-8
        """
        length = self.unsigned(f'length of {what}')
        self.expect(length, what)
        encoded = self._octets[self.offset : self.offset + length].tobytes()
        text = _text(encoded)
        if text is None:
            raise MalformedError(
                self.offset + HEADER,
                f'{what}: {encoded[:_SHOWN]!r}, but a string is UTF-8 with one zero, at its end',
            )
        self.offset += length
        return text

    def expect(self, need: int, what: str) -> None:
        """
        Make sure of the bytes that come next.

        :param need: how many
        :param what: what they are, for the error
        :raises MalformedError: if fewer are left
        """
        left = self.size - self.offset
        if need > left:
            raise MalformedError.too_short(self.offset + HEADER, what, need, left)


def aligned(offset: int, size: int) -> int:
    """Return the first multiple of a size from an offset on."""
    return -(-offset // size) * size


def _text(encoded: bytes) -> str | None:
    """Return the string that bytes are, or None where they are none."""
    if encoded.find(b'\0') != len(encoded) - 1:
        return None
    try:
        return encoded[:-1].decode()
    except UnicodeDecodeError:
        return None
