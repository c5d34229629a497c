# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Payloads take each other's place evenly, from wherever a change finds them."""

from __future__ import annotations

from hypothesis import given, strategies
import pytest

from rnea_ros.feedforward.law import PayloadBlend, Shares
from rnea_ros.robot import Payload

BOX, CABLE, TOOL = Payload('a', 3.0), Payload('b', 0.5), Payload('c', 1.0)
PERIOD = 0.01


def mass(shares: Shares) -> float:
    return sum(share * payload.mass for payload, share in shares)


def test_what_is_there_from_the_start_is_there_whole() -> None:
    blend = PayloadBlend([BOX, CABLE])
    assert blend.shares() == [(BOX, 1.0), (CABLE, 1.0)]
    assert not blend.advance(PERIOD)


def test_a_payload_grows_evenly_over_its_time_and_stays() -> None:
    blend = PayloadBlend()
    blend.change([BOX], 1.0)
    for k in range(1, 150):
        blend.advance(PERIOD)
        assert mass(blend.shares()) == pytest.approx(3.0 * min(k * PERIOD, 1.0))
    assert blend.shares() == [(BOX, 1.0)]


def test_one_that_is_put_down_goes_as_the_next_comes() -> None:
    blend = PayloadBlend([BOX])
    blend.change([CABLE], 1.0)
    for _ in range(25):
        blend.advance(PERIOD)
    shares = {payload.link: round(share, 9) for payload, share in blend.shares()}
    assert shares == {'a': 0.75, 'b': 0.25}


def test_a_change_without_time_is_there_at_the_next_tick() -> None:
    blend = PayloadBlend([BOX])
    blend.change([], 0.0)
    assert mass(blend.shares()) == pytest.approx(3.0)
    blend.advance(PERIOD)
    assert blend.shares() == []


changes = strategies.lists(
    strategies.tuples(
        strategies.lists(strategies.sampled_from([BOX, CABLE, TOOL]), max_size=3),
        strategies.floats(0.05, 2.0),
        strategies.integers(1, 100),
    ),
    max_size=8,
)


@given(changes)
def test_no_change_of_plans_makes_a_step_or_a_negative_share(
    changes: list[tuple[list[Payload], float, int]]
) -> None:
    blend = PayloadBlend()
    before = 0.0
    for payloads, duration, ticks in changes:
        blend.change(payloads, duration)
        assert mass(blend.shares()) == pytest.approx(before)
        for _ in range(ticks):
            blend.advance(PERIOD)
            now = mass(blend.shares())
            assert abs(now - before) <= 9.0 * PERIOD / duration + 1e-9
            assert all(0.0 <= share <= 1.0 + 1e-12 for _, share in blend.shares())
            before = now
