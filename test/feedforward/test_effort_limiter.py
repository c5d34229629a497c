# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The last stage before a command leaves: never over a limit, never a step, blends that fade."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from numpy.typing import ArrayLike, NDArray

from rnea_ros.feedforward.limiter import EffortLimiter

Array = NDArray[np.float64]

LIMITS = np.array([10.0, 5.0])
RATE = np.array([1000.0, 100.0])
PERIOD = 0.002
STEP = RATE * PERIOD


class Stage(EffortLimiter):
    """Limits, a period after the last time."""

    now = 0.0

    def next(self, effort: Array) -> Array:
        self.now += PERIOD
        return self.limit(effort, self.now, PERIOD)


def stage(start: ArrayLike = (0.0, 0.0)) -> Stage:
    output = Stage(LIMITS, RATE)
    output.start(np.array(start, dtype=np.float64))
    return output


def run(output: Stage, desired: ArrayLike, ticks: int) -> Array:
    """Return the commands of some ticks in which the same is desired, shape (ticks, 2)."""
    target = np.array(desired, dtype=np.float64)
    return np.array([output.next(target).copy() for _ in range(ticks)])


def test_the_target_is_approached_at_the_rate_limit_and_reached() -> None:
    commands = run(stage(), (9.0, -1.1), 8)
    np.testing.assert_allclose(commands[:, 0], [2.0, 4.0, 6.0, 8.0, 9.0, 9.0, 9.0, 9.0])
    np.testing.assert_allclose(commands[:, 1], [-0.2, -0.4, -0.6, -0.8, -1.0, -1.1, -1.1, -1.1])
    assert commands[-1].tolist() == [9.0, -1.1]


def test_a_command_never_exceeds_its_limit_and_the_cut_joint_is_named() -> None:
    output = stage()
    commands = run(output, (50.0, 4.0), 50)
    assert commands[-1].tolist() == [10.0, 4.0]
    assert output.saturated.tolist() == [True, False]
    run(output, (9.0, -6.0), 1)
    assert output.saturated.tolist() == [False, True]
    run(output, (9.0, -5.0), 1)
    assert output.saturated.tolist() == [False, False]


def test_the_target_may_move_while_its_offset_fades() -> None:
    output = stage((4.0, 2.0))
    output.blend(0.2)
    desired = np.array([1.0, 3.0]) + 0.05 * np.sin(0.1 * np.arange(100))[:, np.newaxis]
    offset = np.array([4.0, 2.0]) - desired[0]
    for k, target in enumerate(desired):
        left = 1.0 - (k + 1) / 100.0
        np.testing.assert_allclose(output.next(target), target + left * offset, atol=1e-12)
        assert output.blending or k > 97  # the sum of the periods is rounded
    output.next(target)
    assert not output.blending


def test_an_ended_blend_leaves_the_rest_to_the_rate_limit() -> None:
    output = stage((9.0, 0.0))
    output.blend(1.0)
    run(output, (0.0, 0.0), 10)
    output.end_blend()
    assert not output.blending
    commands = run(output, (0.0, 0.0), 6)[:, 0]
    np.testing.assert_allclose(-np.diff(commands[:5]), [2.0, 2.0, 2.0, commands[3]])
    assert commands[-1] == 0.0


def test_settled_is_within_one_step_of_the_target_or_its_limit() -> None:
    output = stage((3.0, 1.0))
    assert output.settled(np.array([3.0, 1.0]), PERIOD)
    assert output.settled(np.array([5.0, 1.2]), PERIOD)
    assert not output.settled(np.array([5.1, 1.0]), PERIOD)
    assert not output.settled(np.array([3.0, 0.7]), PERIOD)
    output = stage((10.0, -5.0))
    assert output.settled(np.array([100.0, -7.0]), PERIOD)


def test_a_start_ends_by_time_where_an_effort_is_never_reached() -> None:
    output = stage()
    for k in range(200):
        assert (output.starting > 0.0) == (k <= 20)  # 4.0 at 100 a second
        output.next(np.array([0.0, 4.0 + 0.001 * (-1.0) ** k - 4.0 * (k % 2)]))


ANY_EFFORT = st.floats(-1e300, 1e300)
ACTION = st.one_of(st.tuples(ANY_EFFORT, ANY_EFFORT), st.floats(0.0, 10.0), st.none())
"""A tick towards efforts, a blend of some duration, or its end."""


@settings(max_examples=200)
@given(start=st.tuples(ANY_EFFORT, ANY_EFFORT), actions=st.lists(ACTION, max_size=60))
def test_limits_and_rate_limits_hold_for_random_targets_and_blends(
    start: tuple[float, float], actions: list[tuple[float, float] | float | None]
) -> None:
    output = stage(start)
    before = output.command.copy()
    for action in actions:
        if isinstance(action, tuple):
            output.next(np.array(action))
        elif action is None:
            output.end_blend()
        else:
            output.blend(action)
        command = output.command.copy()
        assert (np.abs(command) <= LIMITS).all()
        assert (np.abs(command - before) <= STEP * (1.0 + 1e-9)).all()
        before = command


def test_a_withdrawn_command_does_not_count_as_sent() -> None:
    output = stage()
    output.next(LIMITS)
    output.sent(output.now)
    before = output.command.copy()
    output.next(LIMITS)
    output.withdraw()
    np.testing.assert_array_equal(output.command, before)
    output.withdraw()  # a second time nothing is left to restore
    np.testing.assert_array_equal(output.command, before)
    np.testing.assert_allclose(output.next(LIMITS) - before, STEP)


def test_the_rate_limit_counts_from_the_time_of_sending() -> None:
    output = stage()
    before = output.next(LIMITS).copy()
    output.sent(output.now + 0.9 * PERIOD)
    np.testing.assert_allclose(output.next(LIMITS) - before, 0.1 * STEP)


def test_a_command_sent_in_time_set_back_counts_as_a_period_old() -> None:
    output = stage()
    before = output.next(LIMITS).copy()
    output.now = -100.0
    np.testing.assert_allclose(output.next(LIMITS) - before, STEP)
