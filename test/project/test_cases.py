# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Cases in one test: all are run, and each that fails is named."""

import pytest

from support.cases import FailedCases, each


def test_every_combination_is_run() -> None:
    seen = []

    @each('a', [1, 2])
    @each('b, c', [(3, 4), pytest.param(5, 6, id='other')])
    def rule(start: int, a: int, b: int, c: int) -> None:
        seen.append((start, a, b, c))

    rule(start=0)
    assert seen == [(0, 1, 3, 4), (0, 1, 5, 6), (0, 2, 3, 4), (0, 2, 5, 6)]


def test_each_case_that_fails_is_named_and_the_others_are_run() -> None:
    @each('a', [1, 2, 3])
    @each('b', [pytest.param(0, id='nothing'), 1])
    def rule(a: int, b: int) -> None:
        assert a * b != 2, 'the product is 2'
        if a == 3:
            pytest.fail('three')

    with pytest.raises(FailedCases) as caught:
        rule()
    assert [line.split(':')[0] for line in caught.value.lines] == [
        'a=2, b=1', 'a=3, b=nothing', 'a=3, b=1',
    ]
    assert 'the product is 2' in str(caught.value)


def test_a_run_without_cases_fails() -> None:
    @each('a', [])
    def rule(a: int) -> None:
        del a

    with pytest.raises(AssertionError, match='no cases'):
        rule()
