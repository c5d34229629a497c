# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The active motion, and the desired state before, between and after motions."""

import numpy as np
import pytest

from rnea_ros.feedforward.trajectory import Reference
from support.control.control_rig import Array, cubic, setpoint, swing

NAMES = ('a', 'b')
TIMEOUT = 0.2


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
    """Return the position of the motion from (0, 0) to (1, -2) after a share of its time."""
    return np.array([cubic(0.0, 1.0, share), cubic(0.0, -2.0, share)])


def test_there_is_no_desired_state_before_the_first_motion(reference: Reference) -> None:
    assert not reference.advance(5.0)
    assert not reference.is_set
    assert not reference.moving


def test_a_motion_without_a_start_time_starts_at_its_first_sample(reference: Reference) -> None:
    reference.accept(swing(NAMES, (0.0, 0.0), (1.0, -2.0), 2.0), None)
    assert reference.advance(5.0)
    assert reference.position.tolist() == [0.0, 0.0]
    reference.advance(6.0)
    np.testing.assert_allclose(reference.position, midway(0.5))
    np.testing.assert_allclose(reference.velocity, [0.75, -1.5])
    assert reference.moving


def test_a_motion_whose_start_time_has_passed_is_joined_midway(reference: Reference) -> None:
    reference.accept(swing(NAMES, (0.0, 0.0), (1.0, -2.0), 2.0), 4.5)
    reference.advance(5.0)
    np.testing.assert_allclose(reference.position, midway(0.25))


def test_before_a_future_start_there_is_no_reference(reference: Reference) -> None:
    reference.accept(swing(NAMES, (0.0, 0.0), (1.0, -2.0), 2.0), 6.0)
    assert not reference.advance(5.999)
    assert reference.advance(6.0)
    reference.advance(6.5)
    np.testing.assert_allclose(reference.position, midway(0.25))


def test_the_motion_in_force_goes_on_until_the_next_one_starts(reference: Reference) -> None:
    reference.accept(swing(NAMES, (0.0, 0.0), (1.0, -2.0), 2.0), 5.0)
    reference.advance(5.0)
    reference.accept(swing(NAMES, (7.0, 7.0), (8.0, 8.0), 1.0), 6.0)
    reference.advance(5.5)
    np.testing.assert_allclose(reference.position, midway(0.25))
    reference.advance(6.0)
    assert desired(reference) == [[7.0, 7.0], [0.0, 0.0], [6.0, 6.0]]


def test_the_newest_of_the_motions_that_wait_for_their_start_counts(reference: Reference) -> None:
    reference.accept(swing(NAMES, (1.0, 1.0), (2.0, 2.0), 1.0), 6.0)
    reference.accept(swing(NAMES, (3.0, 3.0), (4.0, 4.0), 1.0), 7.0)
    assert not reference.advance(6.5)
    assert reference.advance(7.0)
    assert reference.position.tolist() == [3.0, 3.0]


def test_the_end_of_a_motion_is_held_at_rest(reference: Reference) -> None:
    reference.accept(swing(NAMES, (0.0, 0.0), (1.0, -2.0), 2.0), 5.0)
    reference.advance(6.999)
    assert reference.velocity.all()
    for now in (7.0, 8.0, 1e6):
        assert reference.advance(now)
        assert desired(reference) == at_rest(1.0, -2.0)
        assert not reference.moving
        assert not reference.stale


def test_a_motion_that_waits_survives_the_end_of_the_one_before(reference: Reference) -> None:
    reference.accept(swing(NAMES, (0.0, 0.0), (1.0, 1.0), 1.0), 5.0)
    reference.advance(5.0)
    reference.accept(swing(NAMES, (1.0, 1.0), (2.0, 2.0), 1.0), 8.0)
    reference.advance(7.0)
    assert desired(reference) == at_rest(1.0, 1.0)
    reference.advance(8.5)
    assert reference.position.tolist() == [1.5, 1.5]


def test_a_set_point_counts_until_its_timeout_then_is_held_at_rest(reference: Reference) -> None:
    point = setpoint(NAMES, (1.0, 2.0), (0.5, -0.5))
    point.qdd[:] = (3.0, 4.0)
    reference.accept(point, None)
    reference.advance(5.0)
    reference.advance(4.999 + TIMEOUT)
    assert desired(reference) == [[1.0, 2.0], [0.5, -0.5], [3.0, 4.0]]
    assert not reference.stale
    reference.advance(5.001 + TIMEOUT)
    assert desired(reference) == at_rest(1.0, 2.0)
    assert reference.is_set
    assert reference.stale


def test_the_timeout_counts_from_the_start_of_a_stamped_set_point(reference: Reference) -> None:
    reference.accept(setpoint(NAMES, (1.0, 2.0), 0.5), 5.0)
    reference.advance(5.1)
    assert reference.moving
    reference.advance(5.21)
    assert desired(reference) == at_rest(1.0, 2.0)


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
    reference.accept(swing(NAMES, (0.0, 0.0), (1.0, -2.0), 2.0), 5.0)
    reference.advance(6.0)
    reference.accept(swing(NAMES, (7.0, 7.0), (8.0, 8.0), 1.0), 9.0)
    reference.hold(np.array([0.3, 0.4]))
    for now in (6.1, 9.5):
        assert reference.advance(now)
        assert desired(reference) == at_rest(0.3, 0.4)


def test_clear_removes_the_reference(reference: Reference) -> None:
    reference.accept(setpoint(NAMES, (1.0, 2.0), 0.5), None)
    reference.advance(5.0)
    reference.advance(6.0)
    reference.accept(swing(NAMES, (7.0, 7.0), (8.0, 8.0), 1.0), 9.0)
    reference.clear()
    for now in (6.1, 9.5):
        assert not reference.advance(now)
        assert not reference.is_set
        assert not reference.moving
        assert not reference.stale
