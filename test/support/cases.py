# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Many small cases of one rule in one test, which names all that fail."""

from collections.abc import Callable, Iterable, Sequence
import functools
import inspect
from typing import Any, TypeAlias

import pytest

Test: TypeAlias = Callable[..., None]


class FailedCases(AssertionError):  # noqa: N818
    """Cases of a test failed; the message has a paragraph for each of its lines."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__(f'{len(lines)} cases failed:\n' + '\n'.join(lines))
        self.lines = lines


def each(names: str | Sequence[str], values: Iterable[Any]) -> Callable[[Test], Test]:
    """
    Run a test's body once for each value, as ``pytest.mark.parametrize`` does, but in one test.

    pytest takes some milliseconds for a test, and thousands of small cases take less each.
    Fixtures are made once for all cases. Several decorators give all combinations.

    :param names: of arguments: several, or one string with commas
    :param values: one for each case, a tuple where there are several names; or ``pytest.param``
    """
    arguments = [*names] if not isinstance(names, str) else names.replace(',', ' ').split()
    cases = [_named(value, len(arguments)) for value in values]

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            assert cases, 'no cases'
            failed: list[str] = []
            cause: BaseException | None = None
            for case, name in cases:
                title = f'{", ".join(arguments)}={name}'
                try:
                    test(**fixtures, **dict(zip(arguments, case, strict=True)))
                except FailedCases as error:
                    failed += [f'{title}, {line}' for line in error.lines]
                    cause = cause or error.__cause__
                except (Exception, pytest.fail.Exception) as error:
                    failed.append(f'{title}: {type(error).__name__}: {error}')
                    cause = cause or error
            if failed:
                raise FailedCases(failed) from cause

        parameters = inspect.signature(test).parameters.values()
        kept = [each for each in parameters if each.name not in arguments]
        run.__signature__ = inspect.Signature(kept)  # type: ignore[attr-defined]
        return run

    return decorate


def _named(value: Any, count: int) -> tuple[Sequence[Any], str]:
    """Return the values of a case, and its name."""
    if isinstance(value, type(pytest.param())):
        assert not value.marks, 'marks are for pytest.mark.parametrize'
        return value.values, str(value.id or value.values)
    return (value if count > 1 else (value,)), repr(value)
