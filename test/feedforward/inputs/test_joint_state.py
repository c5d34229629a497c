# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Which joint states are taken, which are rejected whole, and how those taken are merged."""

from collections import Counter
from collections.abc import Sequence
import math

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.inputs import JointStateMonitor
from rnea_ros.feedforward.inputs.joint_layouts import MAX_LAYOUTS, JointLayouts
from support.cases import each

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


@pytest.fixture
def states() -> JointStateMonitor:
    """A monitor with one valid sample, received at 5 s."""
    states = monitor()
    assert feed(states, 5.0, effort=(7.0, 8.0, 9.0)) is None
    return states


@each('sample, reason', [
    ({'q': (1.0, 2.0)}, Reason.WRONG_SIZE), ({'q': ()}, Reason.WRONG_SIZE),
    ({'q': (1.0, 2.0, 3.0, 4.0)}, Reason.WRONG_SIZE), ({'qd': (1.0, 2.0)}, Reason.WRONG_SIZE),
    ({'effort': (1.0, 2.0)}, Reason.WRONG_SIZE), ({'qd': ()}, Reason.NO_VELOCITY),
    ({'names': ('a', 'b', 'a')}, Reason.DUPLICATE_JOINT),
    ({'names': ('a', 'other', 'other')}, Reason.DUPLICATE_JOINT),
    *(({'q': (1.0, bad, 3.0)}, Reason.NOT_FINITE) for bad in (NAN, INF, -INF)),
    *(({'qd': (1.0, bad, 3.0)}, Reason.NOT_FINITE) for bad in (NAN, INF, -INF)),
    ({'qd': (NAN, NAN, NAN)}, Reason.NOT_FINITE),
    ({'names': ('c', 'b', 'a'), 'stamp': CLOCK + 5.0}, Reason.STAMP_NOT_NEWER),
    (
        {'names': ('b',), 'q': (0.0,), 'qd': (0.0,), 'stamp': CLOCK + 5.0},
        Reason.STAMP_NOT_NEWER,
    ),
    ({'stamp': CLOCK + 5.5 + 0.0101}, Reason.STAMP_IN_FUTURE),
])
def test_a_sample_with_a_fault_is_rejected_whole_and_counted(
    sample: dict[str, object], reason: Reason
) -> None:
    states = monitor()
    assert feed(states, 5.0, effort=(7.0, 8.0, 9.0)) is None
    before = contents(states)
    for count in (1, 2):
        assert feed(states, 5.5, **sample) is reason  # type: ignore[arg-type]
        assert contents(states) == before
        assert states.age(5.5) == 0.5
        assert states.rejections == Counter({reason: count})
    assert states.accepted == 1
    assert feed(states, 5.5, stamp=CLOCK + 5.5 + 0.0099) is None


def test_a_stamp_of_zero_counts_as_missing_and_age_counts_from_receipt(
    states: JointStateMonitor
) -> None:
    assert feed(states, 5.1, q=(4.0, 5.0, 6.0), stamp=0.0) is None
    assert feed(states, 5.2, q=(7.0, 8.0, 9.0), stamp=0.0) is None
    assert states.position.tolist() == [7.0, 8.0, 9.0]
    # The order of those that do have one is checked all the same.
    assert feed(states, 5.3, stamp=CLOCK + 4.9) is Reason.STAMP_NOT_NEWER
    assert feed(states, 5.4, stamp=CLOCK + 5.1) is None
    assert states.age(5.65) == pytest.approx(0.25)
    assert states.sample_time(ALL) == CLOCK + 5.1


def test_nan_or_no_effort_is_normal_and_replaces_an_older_one(states: JointStateMonitor) -> None:
    assert feed(states, 5.1, effort=(NAN, 8.0, INF)) is None
    np.testing.assert_array_equal(states.effort, [NAN, 8.0, NAN])
    assert feed(states, 5.2) is None
    assert np.isnan(states.effort).all()


def test_joints_are_matched_by_name_and_others_ignored_with_all_their_values(
    states: JointStateMonitor
) -> None:
    orders = [('c', 'a', 'b'), ('x', 'b', 'c', 'y', 'a'), ('a', 'b', 'c'), ('c', 'b', 'a')]
    for k, order in enumerate(orders):
        value = {name: 10.0 * k + number for number, name in enumerate(JOINTS)}
        q = np.array([value.get(name, NAN) for name in order])
        assert feed(states, 5.1 + 0.1 * k, names=order, q=q, qd=0.1 * q, effort=-q) is None
        expected = np.array([value[name] for name in JOINTS])
        np.testing.assert_allclose(contents(states), [expected, 0.1 * expected, -expected])
    before = contents(states)
    assert feed(states, 6.0, names=('x', 'y'), q=(NAN,), qd=()) is None
    assert feed(states, 6.0, names=(), q=(), qd=()) is None
    assert contents(states) == before
    assert not states.rejections
    assert states.age(6.0) == pytest.approx(0.6)


def test_several_publishers_are_merged_and_each_joint_has_its_own_age() -> None:
    states = monitor()
    assert states.missing() == JOINTS
    feed(states, 5.0, names=('a', 'c'), q=(1.0, 3.0), qd=(0.1, 0.3))
    assert states.missing() == ('b',)
    assert states.age(5.0) == INF
    assert np.isnan(states.position).tolist() == [False, True, False]
    # A publisher's stamps say nothing about the order of another's.
    assert feed(states, 5.2, names=('b',), q=(2.0,), qd=(0.2,), stamp=CLOCK + 4.0) is None
    assert states.missing() == ()
    assert contents(states)[:2] == [[1.0, 2.0, 3.0], [0.1, 0.2, 0.3]]
    assert states.age(5.3) == pytest.approx(0.3)
    feed(states, 5.3, names=('a', 'c'), q=(1.5, 3.5), qd=(0.1, 0.3))
    assert states.age(5.3) == pytest.approx(0.1)
    assert states.position.tolist() == [1.5, 2.0, 3.5]


def test_a_joint_is_late_after_two_periods_or_two_usual_intervals() -> None:
    states = monitor()
    feed(states, 0.0)
    for k in range(1, 1001):
        feed(states, 0.01 * k, names=('b', 'c'), q=(k, k), qd=(0.0, 0.0))
        if k % 10 == 0:  # b has two publishers
            feed(states, 0.01 * k + 0.005, names=('a', 'b'), q=(k, k), qd=(0.0, 0.0))
    # a comes every 100 ms, c every 10 ms: only c is late.
    assert not states.late(10.0199, period=0.002)
    assert states.late(10.0201, period=0.002)
    assert not states.late(10.0399, period=0.02)
    assert states.late(10.0401, period=0.02)
    states = monitor()
    for k in range(100):
        feed(states, 0.01 * k)
    feed(states, 1.09)
    # One long gap hardly changes the usual interval: 14.5 ms.
    assert not states.late(1.09 + 0.0289, period=0.001)
    assert states.late(1.09 + 0.0291, period=0.001)


def test_frozen_is_a_repeated_position_and_velocity(states: JointStateMonitor) -> None:
    for k in range(1, 11):
        feed(states, 5.0 + 0.01 * k, effort=(k, k, k))
        assert states.frozen_for(ALL) == pytest.approx(0.01 * k)
    for k, qd in enumerate((0.3, 0.3, 0.4)):
        feed(states, 5.11 + 0.01 * k, q=(1.0, 2.0, 3.0 + 1e-12), qd=(0.1, 0.2, qd))
        # A resting joint among moving ones is not frozen.
        assert states.frozen_for(ALL[:1]) == pytest.approx(0.01 if k == 1 else 0.0)


def test_frozen_is_judged_by_the_publisher_of_the_given_joints() -> None:
    states = monitor()
    for k in range(11):
        feed(states, 0.01 * k, names=('a', 'b'), q=(k, k), qd=(0.0, 0.0))
        feed(states, 0.01 * k, names=('c',), q=(0.0,), qd=(0.0,))
    assert states.frozen_for(ALL[:2]) == 0.0
    assert states.frozen_for(ALL[2:]) == states.frozen_for(ALL) == pytest.approx(0.1)
    # A publisher that has left leaves nothing frozen.
    feed(states, 0.2, names=('c', 'b', 'a'), q=(1.0, 1.0, 1.0))
    assert states.frozen_for(ALL) == 0.0


def test_frozen_positions_are_found_while_derived_velocity_fades() -> None:
    states = monitor(differentiate_velocity=True)
    for k in range(20):
        feed(states, 0.01 * k, q=np.full(3, min(k, 9)), qd=())
    assert states.velocity.any()
    assert states.frozen_for(ALL) == pytest.approx(0.1)


# Derived velocities


def test_a_derived_velocity_is_the_quotient_through_a_filter_of_first_order() -> None:
    for cutoff in (20.0, 2000.0):
        states, now = monitor(differentiate_velocity=True, cutoff=cutoff), 5.0
        rng = np.random.default_rng(4)
        expected, before = np.zeros(3), np.array([1e3, -1e3, 0.0])
        feed(states, now, q=before, qd=())
        assert states.velocity.tolist() == [0.0] * 3  # wherever the robot is
        for _ in range(50):
            dt, q = rng.uniform(0.001, 0.01), rng.normal(size=3)
            now += dt
            feed(states, now, q=q, qd=() if dt < 0.005 else (NAN, NAN, NAN))
            expected += (dt / (dt + 1.0 / (math.tau * cutoff))) * ((q - before) / dt - expected)
            before = q
            np.testing.assert_allclose(states.velocity, expected, rtol=1e-9)
            # The next quotient spans all samples of one tick, also of a second publisher.
            feed(states, now, names=('b', 'c'), q=q[1:] + 1.0, qd=(), stamp=0.0)
            np.testing.assert_allclose(states.velocity, expected, rtol=1e-9)
        feed(states, now + 0.01, qd=(0.4, 0.5, 0.6))
        assert states.velocity.tolist() == [0.4, 0.5, 0.6]  # a measured one is preferred
        assert feed(states, now + 0.02, qd=(NAN, 0.0, 0.0)) is Reason.NOT_FINITE


def test_a_flood_of_new_joint_lists_does_not_fill_the_memory() -> None:
    layouts = JointLayouts(JOINTS)
    first = layouts.of(('a', 'b', 'c'))
    for k in range(MAX_LAYOUTS - 1):
        layouts.of((*JOINTS, f'other_{k}'))
    assert layouts.of(('a', 'b', 'c')) is first
    layouts.of((*JOINTS, 'one more'))
    assert layouts.of(('a', 'b', 'c')) is not first
