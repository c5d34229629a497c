# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Straight-line code of expressions, in the syntax that Python and C share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from .expressions import Expression, Value, needed

WIDTH = 70
"""Longest text of an expression inside another one, in characters."""


class Printer:
    """
    Text of values.

    :param number: text of a constant
    :param read: text of an input, of its name and indices
    :param call: text of a function of one value, of its name and its argument
    """

    def __init__(
        self, number: Callable[[float], str], read: Callable[..., str],
        call: Callable[[str, str], str],
    ) -> None:
        self._number = number
        self._read = read
        self._call = call

    def statements(self, results: Iterable[Value]) -> tuple[list[tuple[str, str]], list[str]]:
        """
        Return assignments (name, text), and the text of each result.

        An operation that is used once stands where it is used.

        :param results: expressions and constants
        """
        results = list(results)
        steps = needed(results)
        uses = Counter(
            value for used in (*(step.arguments for step in steps), results) for value in used
            if isinstance(value, Expression)
        )
        texts: dict[Expression, str] = {}
        assignments: list[tuple[str, str]] = []
        for step in steps:
            text = self._text(step, texts)
            if step.operation != 'input' and (uses[step] > 1 or len(text) > WIDTH):
                assignments.append((f't{len(assignments)}', text))
                text = assignments[-1][0]
            texts[step] = text
        return assignments, [self._value(value, texts) for value in results]

    def _value(self, value: Value, texts: dict[Expression, str]) -> str:
        return texts[value] if isinstance(value, Expression) else self._number(value)

    def _text(self, step: Expression, texts: dict[Expression, str]) -> str:
        if step.operation == 'input':
            return self._read(*step.arguments)
        arguments = [self._value(value, texts) for value in step.arguments]
        if step.operation == 'negative':
            return f'-{_bracketed(arguments[0], "+-")}'
        if len(arguments) == 1:
            return self._call(step.operation, arguments[0])
        left, right = arguments
        if step.operation == '*':
            return f'{_bracketed(left, "+-")} * {_bracketed(right, "+-*")}'
        return f'{left} {step.operation} {_bracketed(right, "+-")}'


def _bracketed(text: str, operations: str) -> str:
    """Return a text, in brackets if one of these operations stands outside of brackets."""
    depth = 0
    for i, character in enumerate(text):
        depth += (character in '([') - (character in ')]')
        if not depth and character in operations and (i == 0 or text[i - 1] == ' '):
            return f'({text})'
    return text
