# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The errors of the package: one root class; each child holds the cause as data.

``except RneaError`` catches every error that this package raises on purpose.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
import re
import reprlib
from typing import Any

MAX_TEXT = 4000  # characters of an error's text

# Control characters, line breaks, reversed text, surrogates: they would forge lines of a report.
_CONTROLS = re.compile('[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]')

_short = reprlib.Repr()
_short.maxlist = 4
_short.maxstring = _short.maxother = _short.maxlong = 60


class RneaError(Exception):
    """Root of every error that rnea_ros raises on purpose; its text is one line, cut off."""

    def __str__(self) -> str:
        return clipped(super().__str__(), MAX_TEXT)


def one_line(error: BaseException) -> str:
    """Return the text of an error in one line; if it is empty, the words of its class name."""
    words = re.findall('[A-Z]+(?![a-z])|[A-Z]?[a-z]+', type(error).__name__)
    return clipped(' '.join(str(error).split()), MAX_TEXT) or ' '.join(words).lower()


def clipped(text: str, most: int = 500) -> str:
    """Return a text as a part of one line: cut off, with escapes for control characters."""
    short = text if len(text) <= most else f'{text[: most - 4]} ...'
    return _CONTROLS.sub(lambda found: found[0].encode('unicode_escape').decode(), short)


def brief(value: Any) -> str:
    """Return a value for an error message: long lists and texts are shortened."""
    try:
        return _short.repr(list(value) if isinstance(value, tuple | array) else value)
    except Exception:  # an integer of thousands of digits, or a foreign object's own error
        return f'<{type(value).__name__}>'


class ElementError(RneaError):
    """
    One part of a robot is at fault.

    :param element: the part, such as ``joint 'elbow'``
    :param reason: the fault, with the offending value
    """

    _separator = ': '

    def __init__(self, element: str, reason: str) -> None:
        super().__init__(f'{element}{self._separator}{reason}')
        self.element = element
        self.reason = reason


class UrdfError(ElementError):
    """A robot description cannot be used; long names and values are cut off."""

    def __init__(self, element: str, reason: str) -> None:
        super().__init__(clipped(element, 200), clipped(reason, 1000))


class TreeError(ElementError):
    """A kinematic tree cannot be built."""


class SingularityError(ElementError):
    """Equations have no solution, or only one of rounding errors."""

    _separator = ' '


class LoopClosureError(ElementError):
    """A closed loop of a linkage is open, or cannot be closed; with the gap or the positions."""

    _separator = ' '


class UrdfWarning(UserWarning):
    """A robot description can be used, but a part of it is not physical or was left out."""


class CompiledCodeError(RneaError):
    """The installed numba creates machine code that does not detect NaN or infinity."""

    def __init__(self, kernel: str, reason: str) -> None:
        super().__init__(
            f'the compiled kernel {kernel} {reason}: the installed numba cannot be used. Set '
            'RNEA_ROS_PURE_PYTHON=1 (slow, but correct), or install another version of numba'
        )
        self.kernel = kernel
        self.reason = reason


class KernelCacheWarning(UserWarning):
    """Compiled code cannot be saved to disk or read from it: the start takes longer."""


class SpecialisationWarning(UserWarning):
    """The general kernels compute what a specialised kernel was asked for."""


class InputError(RneaError, ValueError):
    """
    An argument or a parameter has the wrong shape, is not finite or is out of its range.

    :param argument: the name of the argument or parameter
    :param reason: the fault, with the offending value
    """

    def __init__(self, argument: str, reason: str) -> None:
        super().__init__(f'{argument}: {reason}')
        self.argument = argument
        self.reason = reason


class UnknownNameError(RneaError, KeyError):
    """A joint or link, by its ``kind`` and ``name``, is not among the ``known`` of the model."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        super().__init__(name)
        self.kind = kind
        self.name = name
        self.known = tuple(known)

    def __str__(self) -> str:
        known = ', '.join(self.known)
        return clipped(f'unknown {self.kind} {brief(self.name)}; known are {known}', MAX_TEXT)


class RequestRejectedError(RneaError):
    """A requested motion is rejected for another cause than its points: a word and a detail."""

    def __init__(self, word: str, detail: str) -> None:
        super().__init__(f'{word}: {detail}')
        self.word = word
