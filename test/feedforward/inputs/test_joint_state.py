# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Which joint states are taken, which are rejected whole, and how those taken are merged."""

from collections.abc import Sequence
import math
import tracemalloc

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.inputs import JointStateMonitor
from rnea_ros.feedforward.inputs.joint_layouts import MAX_LAYOUTS
from rnea_ros.feedforward.stamps import MAX_FUTURE
from support.memory_use import least

JOINTS = ('a', 'b', 'c')
ALL = np.arange(3)
CLOCK = 1_700_000_000.0
"""What the wall clock shows when monotonic time is 0."""

NAN, INF = math.nan, math.inf


def monitor(*, differentiate_velocity: bool = False, cutoff: float = 20.0) -> JointStateMonitor:
    return JointStateMonitor(JOINTS, differentiate_velocity=differentiate_velocity, cutoff=cutoff)


def feed(
    states: JointStateMonitor, received: float, *, names: Sequence[str] = JOINTS,
    q: ArrayLike = (1.0, 2.0, 3.0), qd: ArrayLike = (0.1, 0.2, 0.3), effort: ArrayLike = (),
    stamp: float | None = None,
) -> Reason | None:
    """Let a sample come, by default stamped with the time of its receipt."""
    return states.take_sample(
        list(names), np.array(q, dtype=np.float64), np.array(qd, dtype=np.float64),
        np.array(effort, dtype=np.float64), stamp=CLOCK + received if stamp is None else stamp,
        clock=CLOCK + received, received=received,
    )


def contents(states: JointStateMonitor) -> list[list[float]]:
    values = (states.position, states.velocity, states.effort)
    return [array.tolist() for array in values]


def assert_rejected(states: JointStateMonitor, reason: Reason, **sample: object) -> None:
    """Feed a sample half a second after the last valid one, and see that it left no trace."""
    before, counts = contents(states), states.rejections.copy()
    age = states.age(5.5)
    assert feed(states, 5.5, **sample) is reason  # type: ignore[arg-type]
    np.testing.assert_array_equal(contents(states), before)
    assert states.age(5.5) == age
    assert states.rejections == counts + type(counts)((reason,))


@pytest.fixture
def states() -> JointStateMonitor:
    """A monitor with one valid sample, received at 5 s."""
    states = monitor()
    assert feed(states, 5.0, effort=(7.0, 8.0, 9.0)) is None
    return states


def test_joints_of_which_no_sample_came_are_missing_and_infinitely_old() -> None:
    states = monitor()
    assert states.missing() == JOINTS
    feed(states, 5.0, names=('b',), q=(2.0,), qd=(0.2,))
    assert states.missing() == ('a', 'c')
    assert states.age(5.0) == INF
    assert np.isnan(states.position[[0, 2]]).all()


@pytest.mark.parametrize(('sample', 'reason'), [
    ({'q': (1.0, 2.0)}, Reason.WRONG_SIZE),
    ({'q': ()}, Reason.WRONG_SIZE),
    ({'q': (1.0, 2.0, 3.0, 4.0)}, Reason.WRONG_SIZE),
    ({'qd': (1.0, 2.0)}, Reason.WRONG_SIZE),
    ({'effort': (1.0, 2.0)}, Reason.WRONG_SIZE),
    ({'qd': ()}, Reason.NO_VELOCITY),
    ({'names': ('a', 'b', 'a')}, Reason.DUPLICATE_JOINT),
    (
        {'names': ('a', 'other', 'other'), 'q': (1.0, 0.0, 0.0), 'qd': (1.0, 0.0, 0.0)},
        Reason.DUPLICATE_JOINT,
    ),
    *(
        ({field: (1.0, bad, 3.0)}, Reason.NOT_FINITE)
        for field in ('q', 'qd')
        for bad in (NAN, INF, -INF)
    ),
])
def test_a_sample_with_a_fault_is_rejected_whole_and_counted(
    states: JointStateMonitor, sample: dict[str, object], reason: Reason
) -> None:
    assert_rejected(states, reason, **sample)
    assert_rejected(states, reason, **sample)


def test_an_old_stamp_is_rejected_in_any_order_of_joints(states: JointStateMonitor) -> None:
    stamp = CLOCK + 5.0
    assert_rejected(states, Reason.STAMP_NOT_NEWER, names=('c', 'b', 'a'), stamp=stamp)
    assert_rejected(states, Reason.STAMP_NOT_NEWER, names=('b',), q=(0.0,), qd=(0.0,), stamp=stamp)


def test_a_stamp_may_lie_10_ms_in_the_future_but_no_more(states: JointStateMonitor) -> None:
    assert MAX_FUTURE == 0.010
    assert_rejected(states, Reason.STAMP_IN_FUTURE, stamp=CLOCK + 5.5 + 0.0101)
    assert_rejected(states, Reason.STAMP_IN_FUTURE, stamp=CLOCK + 1e6)
    assert feed(states, 5.5, stamp=CLOCK + 5.5 + 0.0099) is None


def test_a_stamp_of_zero_counts_as_missing_and_is_not_ordered(states: JointStateMonitor) -> None:
    assert feed(states, 5.1, q=(4.0, 5.0, 6.0), stamp=0.0) is None
    assert feed(states, 5.2, q=(7.0, 8.0, 9.0), stamp=0.0) is None
    assert states.position.tolist() == [7.0, 8.0, 9.0]
    # The order of those that do have one is checked all the same.
    assert feed(states, 5.3, stamp=CLOCK + 4.9) is Reason.STAMP_NOT_NEWER
    assert feed(states, 5.4) is None


def test_age_counts_from_monotonic_receipt_and_not_from_the_stamp() -> None:
    states = monitor()
    feed(states, 5.0, stamp=CLOCK + 1.0)
    assert states.age(5.25) == pytest.approx(0.25)
    feed(states, 6.0, stamp=CLOCK + 6.009)
    assert states.age(6.25) == pytest.approx(0.25)
    feed(states, 7.0, stamp=0.0)
    assert states.age(7.25) == pytest.approx(0.25)


def test_nan_or_no_effort_is_normal_and_replaces_an_older_one(states: JointStateMonitor) -> None:
    assert feed(states, 5.1, effort=(NAN, 8.0, INF)) is None
    np.testing.assert_array_equal(states.effort, [NAN, 8.0, NAN])
    assert feed(states, 5.2) is None
    assert np.isnan(states.effort).all()


def test_unknown_joints_are_ignored_with_all_their_values(states: JointStateMonitor) -> None:
    q, qd = (NAN, 4.0, 5.0, INF, 6.0), (INF, 0.4, 0.5, NAN, 0.6)
    assert feed(states, 5.1, names=('x', 'a', 'b', 'y', 'c'), q=q, qd=qd) is None
    assert states.position.tolist() == [4.0, 5.0, 6.0]
    assert states.velocity.tolist() == [0.4, 0.5, 0.6]


def test_a_sample_of_other_joints_is_neither_taken_nor_rejected(states: JointStateMonitor) -> None:
    before = contents(states)
    assert feed(states, 5.1, names=('x', 'y'), q=(NAN,), qd=()) is None
    assert feed(states, 5.1, names=(), q=(), qd=()) is None
    assert contents(states) == before
    assert not states.rejections
    assert states.age(5.1) == pytest.approx(0.1)


def test_joints_are_matched_by_name_in_any_changing_order(states: JointStateMonitor) -> None:
    orders = [('c', 'a', 'b'), ('b', 'c', 'a'), ('a', 'b', 'c'), ('c', 'b', 'a')]
    for k, order in enumerate(orders):
        value = {name: 10.0 * k + number for number, name in enumerate(JOINTS)}
        q = np.array([value[name] for name in order])
        assert feed(states, 5.1 + 0.1 * k, names=order, q=q, qd=0.1 * q, effort=-q) is None
        expected = np.array([value[name] for name in JOINTS])
        np.testing.assert_allclose(contents(states), [expected, 0.1 * expected, -expected])


def test_several_publishers_are_merged_and_each_joint_has_its_own_age() -> None:
    states = monitor()
    feed(states, 5.0, names=('a', 'c'), q=(1.0, 3.0), qd=(0.1, 0.3))
    # A publisher's stamps say nothing about the order of another's.
    assert feed(states, 5.2, names=('b',), q=(2.0,), qd=(0.2,), stamp=CLOCK + 4.0) is None
    assert states.missing() == ()
    assert states.position.tolist() == [1.0, 2.0, 3.0]
    assert states.velocity.tolist() == [0.1, 0.2, 0.3]
    assert states.age(5.3) == pytest.approx(0.3)
    feed(states, 5.3, names=('a', 'c'), q=(1.5, 3.5), qd=(0.1, 0.3))
    assert states.age(5.3) == pytest.approx(0.1)
    assert states.position.tolist() == [1.5, 2.0, 3.5]


def test_a_joint_is_late_after_two_periods_or_two_usual_intervals() -> None:
    states = monitor()
    for k in range(101):
        feed(states, 0.01 * k, names=('a', 'c'), q=(k, k), qd=(0.0, 0.0))
    for k in range(11):
        feed(states, 0.1 * k, names=('b',), q=(k,), qd=(0.0,))
    assert not states.late(1.0199, period=0.002)
    assert states.late(1.0201, period=0.002)  # a and c, which come every 10 ms
    feed(states, 1.03, names=('a', 'c'), q=(0.0, 0.0), qd=(0.0, 0.0))
    assert not states.late(1.03, period=0.002)  # b comes every 100 ms
    assert not states.late(1.0699, period=0.02)
    assert states.late(1.0701, period=0.02)


def test_a_joint_that_two_publishers_send_has_its_own_usual_interval() -> None:
    states = monitor()
    feed(states, 0.0)
    for k in range(1, 1001):
        feed(states, 0.01 * k, names=('b', 'c'), q=(k, k), qd=(0.0, 0.0))
        if k % 10 == 0:
            feed(states, 0.01 * k + 0.005, names=('a', 'b'), q=(k, k), qd=(0.0, 0.0))
    # a comes every 100 ms, c every 10 ms: only c is late.
    assert not states.late(10.019, period=0.002)
    assert states.late(10.021, period=0.002)


def test_a_joint_of_two_publishers_does_not_block_derived_velocities() -> None:
    states = monitor(differentiate_velocity=True)
    for k in range(200):
        q = (0.01 * k, 0.01 * k)
        feed(states, 0.01 * k, names=('a', 'b'), q=q, qd=(), stamp=CLOCK + 0.01 * k)
        feed(states, 0.01 * k, names=('b', 'c'), q=q, qd=(), stamp=CLOCK + 0.01 * k + 1e-4)
    np.testing.assert_allclose(states.velocity, 1.0, atol=1e-3)


def test_one_long_gap_hardly_changes_the_usual_interval() -> None:
    states = monitor()
    for k in range(100):
        feed(states, 0.01 * k)
    feed(states, 1.09)
    assert not states.late(1.09 + 0.028, period=0.001)
    assert states.late(1.09 + 0.030, period=0.001)


def test_frozen_is_a_repeated_position_and_velocity(states: JointStateMonitor) -> None:
    for k in range(1, 11):
        feed(states, 5.0 + 0.01 * k, effort=(k, k, k))
        assert states.frozen_for(ALL) == pytest.approx(0.01 * k)
    feed(states, 5.11, q=(1.0, 2.0, 3.0 + 1e-12))
    assert states.frozen_for(ALL) == 0.0
    feed(states, 5.12, q=(1.0, 2.0, 3.0 + 1e-12))
    feed(states, 5.13, q=(1.0, 2.0, 3.0 + 1e-12), qd=(0.1, 0.2, 0.4))
    assert states.frozen_for(ALL) == 0.0


def test_a_resting_joint_among_moving_ones_is_not_frozen(states: JointStateMonitor) -> None:
    for k in range(1, 11):
        feed(states, 5.0 + 0.01 * k, q=(1.0, 2.0, k))
    assert states.frozen_for(np.array([0])) == 0.0


def test_frozen_is_judged_by_the_publisher_of_the_given_joints() -> None:
    states = monitor()
    for k in range(11):
        feed(states, 0.01 * k, names=('a', 'b'), q=(k, k), qd=(0.0, 0.0))
        feed(states, 0.01 * k, names=('c',), q=(0.0,), qd=(0.0,))
    assert states.frozen_for(np.array([0, 1])) == 0.0
    assert states.frozen_for(np.array([2])) == pytest.approx(0.1)
    assert states.frozen_for(ALL) == pytest.approx(0.1)


def test_a_publisher_that_has_left_leaves_nothing_frozen(states: JointStateMonitor) -> None:
    for k in range(1, 11):
        feed(states, 5.0 + 0.01 * k)
    assert states.frozen_for(ALL) == pytest.approx(0.1)
    for k in range(10):
        feed(states, 5.2 + 0.01 * k, names=('c', 'b', 'a'), q=(k, k, k))
    assert states.frozen_for(ALL) == 0.0


def test_frozen_positions_are_found_while_derived_velocity_fades() -> None:
    states = monitor(differentiate_velocity=True)
    for k in range(10):
        feed(states, 0.01 * k, q=(k, k, k), qd=())
    for k in range(10, 20):
        feed(states, 0.01 * k, q=(9.0, 9.0, 9.0), qd=())
    assert states.velocity.any()
    assert states.frozen_for(ALL) == pytest.approx(0.1)


def sine_error(cutoff: float, period: float, frequency: float) -> float:
    """Return the greatest error of the derived velocity of a sine, as a share of its amplitude."""
    states = monitor(differentiate_velocity=True, cutoff=cutoff)
    w = math.tau * frequency
    worst = 0.0
    for k in range(round(3.0 / period)):
        t = k * period
        assert feed(states, t, q=np.sin(w * t + ALL), qd=()) is None
        if t > 1.0:
            worst = max(worst, *np.abs(states.velocity - w * np.cos(w * t + ALL)))
    return worst / w


def test_a_derived_velocity_is_right_on_a_sine_up_to_the_filter_s_lag() -> None:
    # At 1 Hz a first-order filter of 20 Hz lags by atan(1/20), and a difference quotient by half
    # a sample: 5.0 % and 0.6 % of the amplitude.
    assert sine_error(cutoff=20.0, period=0.002, frequency=1.0) < 0.057
    # A hundred times the cutoff leaves half a sample of lag.
    assert sine_error(cutoff=2000.0, period=0.002, frequency=1.0) < 0.0075


def test_a_derived_velocity_is_filtered() -> None:
    states = monitor(differentiate_velocity=True)
    rng = np.random.default_rng(4)
    velocities = []
    for k in range(2000):
        feed(states, 0.002 * k, q=1e-4 * rng.normal(size=3), qd=())
        velocities.append(states.velocity.copy())
    # White noise of 1e-4 rad has quotients of 0.07 rad/s (RMS): sqrt(2) 1e-4 / 0.002. The filter
    # takes a share of 0.2 of each, which leaves 0.2 / sqrt(2 - 0.2) of that.
    rms = float(np.sqrt(np.mean(np.square(velocities[100:]))))
    assert rms == pytest.approx(0.2 * math.sqrt(2.0) / math.sqrt(1.8) * 0.05, rel=0.1)


def test_the_first_derived_velocity_is_zero_wherever_the_robot_is() -> None:
    states = monitor(differentiate_velocity=True)
    feed(states, 5.0, q=(1e3, -1e3, 0.0), qd=())
    assert states.velocity.tolist() == [0.0, 0.0, 0.0]


def test_derived_velocity_is_right_for_samples_of_the_same_tick() -> None:
    states = monitor(differentiate_velocity=True)
    rng = np.random.default_rng(5)
    newest, q = 0, np.zeros(3)
    for tick in range(1, 500):
        # Samples of a steady motion at twice the rate of the ticks, one to three a tick.
        for _ in range(int(rng.integers(1, 4))):
            newest = min(newest + 1, 2 * tick)
            q = np.full(3, 0.001 * newest)
            feed(states, 0.002 * tick, q=q, qd=(), stamp=CLOCK + 0.001 * newest)
        if tick > 100:
            # Steady motion of 1 rad/s, seen with a jitter of up to one sample in two.
            np.testing.assert_allclose(states.velocity, 1.0, atol=0.35)


def test_a_measured_velocity_is_preferred_to_a_derived_one() -> None:
    states = monitor(differentiate_velocity=True)
    feed(states, 0.0, q=(0.0, 0.0, 0.0))
    feed(states, 0.01, q=(1.0, 1.0, 1.0), qd=(0.4, 0.5, 0.6))
    assert states.velocity.tolist() == [0.4, 0.5, 0.6]


def test_a_flood_of_new_joint_lists_does_not_fill_the_memory() -> None:
    def beyond_what_is_kept() -> int:
        states = monitor()
        sizes = np.zeros(5 * MAX_LAYOUTS)
        tracemalloc.start()
        for k in range(sizes.size):
            names = ('a', 'b', 'c', f'other_{k:04}')
            assert feed(states, 5.1 + 0.01 * k, names=names, q=[k] * 4, qd=[0.0] * 4) is None
            sizes[k] = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert feed(states, 20.0) is None
        assert states.position.tolist() == [1.0, 2.0, 3.0]
        return int(sizes[MAX_LAYOUTS:].max() - 1.1 * sizes[:MAX_LAYOUTS].max())

    assert least(beyond_what_is_kept) <= 0


def test_velocities_of_nan_alone_are_derived_from_positions() -> None:
    states = monitor(differentiate_velocity=True, cutoff=1e6)
    for now in (5.0, 5.01):
        assert feed(states, now, q=(now, 2.0, -now), qd=(NAN, NAN, NAN)) is None
    np.testing.assert_allclose(states.velocity, (1.0, 0.0, -1.0), rtol=1e-3)
    assert feed(states, 5.02, qd=(NAN, 0.0, 0.0)) is Reason.NOT_FINITE
    assert feed(monitor(), 5.0, qd=(NAN, NAN, NAN)) is Reason.NOT_FINITE
