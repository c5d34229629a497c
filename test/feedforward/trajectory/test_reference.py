# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The active motion, and the desired state before, between and after motions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward.trajectory import Reference
from support.control.control_rig import Array, cubic, setpoint, swing

NAMES = ('a', 'b')
TIMEOUT = 0.2
WHOLE = swing(NAMES, (0.0, 0.0), (1.0, -2.0), 2.0)
LATER = swing(NAMES, (7.0, 7.0), (8.0, 8.0), 1.0)


@pytest.fixture
def reference() -> Reference:
    return Reference(2, TIMEOUT)


def desired(reference: Reference) -> list[list[float]]:
    return [
        array.tolist()
        for array in (reference.position, reference.velocity, reference.acceleration)
    ]


def at_rest(*position: float) -> list[list[float]]:
    return [list(position), [0.0, 0.0], [0.0, 0.0]]


def midway(share: float) -> Array:
    """Return the position of the whole motion after a share of its time."""
    return np.array([cubic(0.0, 1.0, share), cubic(0.0, -2.0, share)])


def test_before_the_first_motion_and_after_clear_there_is_no_state(reference: Reference) -> None:
    for cleared in (False, True):
        if cleared:
            reference.accept(setpoint(NAMES, (1.0, 2.0), 0.5), None)
            reference.advance(5.0)
            reference.advance(6.0)
            assert reference.stale
            reference.accept(LATER, 9.0)
            reference.clear()
        for now in (6.1, 9.5):
            assert not reference.advance(now)
            assert not reference.is_set
            assert not reference.moving
            assert not reference.stale
        assert reference.state_at(10.0) is None


@pytest.mark.parametrize(('start', 'times'), [
    (None, {5.0: 0.0, 6.0: 0.5}),  # starts at its first sample
    (4.5, {5.0: 0.25}),            # its start has passed: joined midway
    (6.0, {5.999: None, 6.0: 0.0, 6.5: 0.25}),
])
def test_a_motion_starts_at_its_time(
    reference: Reference, start: float | None, times: dict[float, float | None]
) -> None:
    reference.accept(WHOLE, start)
    for now, share in times.items():
        assert reference.advance(now) is (share is not None)
        if share is not None:
            np.testing.assert_allclose(reference.position, midway(share))
            slope = 6.0 * share * (1.0 - share) / 2.0
            np.testing.assert_allclose(reference.velocity, (slope, -2.0 * slope))
            assert reference.moving is (share > 0.0)


def test_the_motion_in_force_goes_on_until_the_next_one_starts(reference: Reference) -> None:
    reference.accept(WHOLE, 5.0)
    reference.advance(5.0)
    reference.accept(LATER, 6.0)
    assert reference.waiting
    reference.advance(5.5)
    np.testing.assert_allclose(reference.position, midway(0.25))
    reference.advance(6.0)
    assert desired(reference) == [[7.0, 7.0], [0.0, 0.0], [6.0, 6.0]]
    assert not reference.waiting


def test_the_newest_of_the_motions_that_wait_for_their_start_counts(reference: Reference) -> None:
    reference.accept(WHOLE, 6.0)
    reference.accept(LATER, 7.0)
    assert not reference.advance(6.5)
    assert reference.advance(7.0)
    assert reference.position.tolist() == [7.0, 7.0]


def test_the_end_of_a_motion_is_held_at_rest_until_the_next(reference: Reference) -> None:
    reference.accept(WHOLE, 5.0)
    reference.advance(6.999)
    assert reference.velocity.all()
    reference.accept(LATER, 1e7)
    for now in (7.0, 8.0, 1e6):
        assert reference.advance(now)
        assert desired(reference) == at_rest(1.0, -2.0)
        assert not reference.moving
        assert not reference.stale
    reference.advance(1e7 + 0.5)
    assert reference.position.tolist() == [7.5, 7.5]


@pytest.mark.parametrize('start', [None, 5.0])
def test_a_set_point_counts_until_its_timeout(reference: Reference, start: float | None) -> None:
    point = setpoint(NAMES, (1.0, 2.0), (0.5, -0.5))
    point.qdd[:] = (3.0, 4.0)
    reference.accept(point, start)
    reference.advance(5.0)
    reference.advance(4.999 + TIMEOUT)
    assert desired(reference) == [[1.0, 2.0], [0.5, -0.5], [3.0, 4.0]]
    assert not reference.stale
    for time, velocity in ((5.1, [0.5, -0.5]), (5.3, [0.0, 0.0])):
        state = reference.state_at(time)
        assert state is not None
        assert [state.position.tolist(), state.velocity.tolist()] == [[1.0, 2.0], velocity]
    reference.advance(5.001 + TIMEOUT)
    assert desired(reference) == at_rest(1.0, 2.0)
    assert reference.is_set
    assert reference.stale


@pytest.mark.parametrize('acceleration', [0.0, 1.0])
def test_a_stream_ending_at_rest_is_not_stale(reference: Reference, acceleration: float) -> None:
    point = setpoint(NAMES, (1.0, 2.0))
    point.qdd[:] = acceleration
    reference.accept(point, None)
    reference.advance(5.0)
    reference.advance(6.0)
    assert desired(reference) == at_rest(1.0, 2.0)
    assert reference.stale is bool(acceleration)


def test_holding_a_position_drops_the_active_and_the_next_motion(reference: Reference) -> None:
    reference.accept(WHOLE, 5.0)
    reference.advance(6.0)
    reference.accept(LATER, 9.0)
    reference.hold(np.array([0.3, 0.4]))
    for now in (6.1, 9.5):
        assert reference.advance(now)
        assert desired(reference) == at_rest(0.3, 0.4)


@pytest.mark.parametrize(('change', 'position'), [
    (lambda reference: reference.hold(np.array((0.1, 0.2))), (0.1, 0.2)),
    (lambda reference: reference.advance(70.0), (1.0, -2.0)),
], ids=['held', 'over'])
def test_the_future_state_is_the_held_position(
    reference: Reference, change: Callable[[Reference], Any], position: tuple[float, float]
) -> None:
    reference.accept(WHOLE, None)
    reference.advance(50.0)
    change(reference)
    state = reference.state_at(80.0)
    assert state is not None
    np.testing.assert_array_equal(state[:3], at_rest(*position))
