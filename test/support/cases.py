# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Many small cases of one rule in one test, which names all that fail."""

from collections.abc import Callable, Iterable, Sequence
import functools
import inspect
from typing import Any, TypeAlias

import pytest

Test: TypeAlias = Callable[..., None]


def each(names: str | Sequence[str], values: Iterable[Any]) -> Callable[[Test], Test]:
    """
    Run a test's body once for each value, as ``pytest.mark.parametrize`` does, but in one test.

    pytest takes some milliseconds for a test, and thousands of small cases take less each.
    Fixtures are made once for all cases. Several decorators give all combinations.

    :param names: of arguments: several, or one string with commas
    :param values: one for each case, a tuple where there are several names; or ``pytest.param``
    """
    arguments = [*names] if not isinstance(names, str) else names.replace(',', ' ').split()
    title = ', '.join(arguments)
    cases = [_of_parametrize(value) for value in values]

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            failed: list[str] = []
            first: BaseException | None = None
            for value, label in cases:
                given = value if len(arguments) > 1 else (value,)
                try:
                    test(**fixtures, **dict(zip(arguments, given, strict=True)))
                except FailedCases as error:
                    failed += [f'{title}={label}, {line}' for line in error.lines]
                    first = first or error.first
                except (Exception, pytest.fail.Exception) as error:
                    failed.append(f'{title}={label}: {type(error).__name__}: {error}')
                    first = first or error
            assert cases, 'no cases'
            if first is not None:
                raise FailedCases(failed, first) from first

        parameters = inspect.signature(test).parameters.values()
        kept = [each for each in parameters if each.name not in arguments]
        run.__signature__ = inspect.Signature(kept)  # type: ignore[attr-defined]
        return run

    return decorate


class FailedCases(AssertionError):  # noqa: N818
    """Cases of a test failed; the message has a paragraph for each."""

    def __init__(self, lines: list[str], first: BaseException) -> None:
        super().__init__(f'{len(lines)} cases failed:\n' + '\n'.join(lines))
        self.lines = lines
        self.first = first


def _of_parametrize(value: Any) -> tuple[Any, str]:
    """Return the value of a case, and what names it."""
    if not isinstance(value, type(pytest.param())):
        return value, repr(value)
    assert not value.marks, 'marks are for pytest.mark.parametrize'
    whole = value.values[0] if len(value.values) == 1 else value.values
    return whole, str(value.id or repr(whole))
