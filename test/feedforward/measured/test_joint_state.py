# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Which joint states are taken, which are rejected whole, and how those taken are merged."""

from collections import Counter
from collections.abc import Sequence
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
import pytest

from rnea_ros.arrays import Indices
from rnea_ros.feedforward import JointStateMonitor, Reason
from rnea_ros.feedforward.measured import MAX_LAYOUTS, JointLayouts, TickMonitor
from support.cases import each

JOINTS = ('a', 'b', 'c')
ALL = np.arange(3)
CLOCK = 1_700_000_000.0
"""What the wall clock shows when monotonic time is 0."""

NAN, INF = math.nan, math.inf


class States(JointStateMonitor):
    """A monitor of three joints."""

    def __init__(self, **given: Any) -> None:
        super().__init__(JOINTS, **given)

    def feed(
        self, received: float, *, names: Sequence[str] = JOINTS, q: ArrayLike = (1.0, 2.0, 3.0),
        qd: ArrayLike = (0.1, 0.2, 0.3), effort: ArrayLike = (), stamp: float | None = None,
    ) -> Reason | None:
        """Let a sample come, by default stamped with the time of its receipt."""
        return self.take_sample(
            list(names), *(np.array(values, dtype=np.float64) for values in (q, qd, effort)),
            stamp=CLOCK + received if stamp is None else stamp, clock=CLOCK + received,
            received=received,
        )

    def check(self, now: float, period: float = 0.1, joints: Indices = ALL) -> TickMonitor:
        """Check these commanded joints in one tick."""
        settings: Any = SimpleNamespace(
            joint_indices=joints, period=period, joint_states_timeout=1.0, uncommanded_timeout=0.0
        )
        reference: Any = SimpleNamespace(
            position=np.zeros(joints.size), moving=False, stale=False
        )
        monitor = TickMonitor(self, reference, settings)
        monitor.check(now, follows=False)
        monitor.set_flags(now, overloaded=False, cut=False)
        return monitor

    def contents(self) -> list[list[float]]:
        return [values.tolist() for values in (self.position, self.velocity, self.effort)]


@pytest.fixture
def states() -> States:
    """A monitor with one valid sample, received at 5 s."""
    states = States()
    assert states.feed(5.0, effort=(7.0, 8.0, 9.0)) is None
    return states


@each('sample, reason', [
    ({'q': (1.0, 2.0)}, Reason.WRONG_SIZE), ({'q': (1.0,) * 4}, Reason.WRONG_SIZE),
    ({'qd': (1.0, 2.0)}, Reason.WRONG_SIZE), ({'effort': (1.0, 2.0)}, Reason.WRONG_SIZE),
    ({'qd': ()}, Reason.NO_VELOCITY), ({'names': ('a', 'b', 'a')}, Reason.DUPLICATE_JOINT),
    ({'names': ('a', 'other', 'other')}, Reason.DUPLICATE_JOINT),
    *(({name: (1.0, bad, 3.0)}, Reason.NOT_FINITE) for name in ('q', 'qd') for bad in (NAN, -INF)),
    ({'names': ('c', 'b', 'a'), 'stamp': CLOCK + 5.0}, Reason.STAMP_NOT_NEWER),
    ({'names': ('b',), 'q': (0.0,), 'qd': (0.0,), 'stamp': CLOCK + 5.0}, Reason.STAMP_NOT_NEWER),
    ({'stamp': CLOCK + 5.5 + 0.0101}, Reason.STAMP_IN_FUTURE),
])
def test_a_sample_with_a_fault_is_rejected_whole_and_counted(
    sample: dict[str, Any], reason: Reason
) -> None:
    states = States()
    states.feed(5.0, effort=(7.0, 8.0, 9.0))
    before = states.contents()
    for count in (1, 2):
        assert states.feed(5.5, **sample) is reason
        assert states.contents() == before
        assert states.age(5.5) == 0.5
        assert states.rejections == Counter({reason: count})
    assert states.accepted == 1
    assert states.feed(5.5, stamp=CLOCK + 5.5 + 0.0099) is None


def test_a_stamp_of_zero_counts_as_missing_and_age_counts_from_receipt(states: States) -> None:
    assert states.feed(5.1, q=(4.0, 5.0, 6.0), stamp=0.0) is None
    assert states.feed(5.2, q=(7.0, 8.0, 9.0), stamp=0.0) is None
    assert states.position.tolist() == [7.0, 8.0, 9.0]
    # The order of those that do have one is checked all the same.
    assert states.feed(5.3, stamp=CLOCK + 4.9) is Reason.STAMP_NOT_NEWER
    assert states.feed(5.4, stamp=CLOCK + 5.1) is None
    assert states.age(5.65) == pytest.approx(0.25)
    assert states.sample_time(ALL) == CLOCK + 5.1


def test_nan_or_no_effort_is_normal_and_replaces_an_older_one(states: States) -> None:
    assert states.feed(5.1, effort=(NAN, 8.0, INF)) is None
    np.testing.assert_array_equal(states.effort, [NAN, 8.0, NAN])
    assert states.feed(5.2) is None
    assert np.isnan(states.effort).all()


def test_joints_are_matched_by_name_and_others_ignored_with_all_their_values(
    states: States
) -> None:
    orders = [('c', 'a', 'b'), ('x', 'b', 'c', 'y', 'a'), ('a', 'b', 'c')]
    for k, order in enumerate(orders):
        value = {name: 10.0 * k + number for number, name in enumerate(JOINTS)}
        q = np.array([value.get(name, NAN) for name in order])
        assert states.feed(5.1 + 0.1 * k, names=order, q=q, qd=0.1 * q, effort=-q) is None
        expected = np.array([value[name] for name in JOINTS])
        np.testing.assert_allclose(states.contents(), [expected, 0.1 * expected, -expected])
    assert states.feed(6.0, names=('x', 'y'), q=(NAN,), qd=()) is None
    assert states.feed(6.0, names=(), q=(), qd=()) is None
    assert not states.rejections
    assert states.age(6.0) == pytest.approx(0.7)


def test_several_publishers_are_merged_and_each_joint_has_its_own_age() -> None:
    states = States()
    assert states.missing() == JOINTS
    states.feed(5.0, names=('a', 'c'), q=(1.0, 3.0), qd=(0.1, 0.3))
    assert states.missing() == ('b',)
    assert states.age(5.0) == INF
    assert np.isnan(states.position).tolist() == [False, True, False]
    # A publisher's stamps say nothing about the order of another's.
    assert states.feed(5.2, names=('b',), q=(2.0,), qd=(0.2,), stamp=CLOCK + 4.0) is None
    assert states.missing() == ()
    assert states.contents()[:2] == [[1.0, 2.0, 3.0], [0.1, 0.2, 0.3]]
    assert states.age(5.3) == pytest.approx(0.3)
    states.feed(5.3, names=('a', 'c'), q=(1.5, 3.5), qd=(0.1, 0.3))
    assert states.age(5.3) == pytest.approx(0.1)


def test_a_joint_is_late_after_two_periods_or_two_usual_intervals() -> None:
    states, two = States(), np.zeros(2)
    states.feed(0.0)
    for k in range(1, 1001):
        states.feed(0.01 * k, names=('b', 'c'), q=two, qd=two)
        if k % 10 == 0:  # b has two publishers
            states.feed(0.01 * k + 0.005, names=('a', 'b'), q=two, qd=two)
    # a comes every 100 ms, c every 10 ms: only c is late.
    for late, period in ((0.02, 0.002), (0.04, 0.02)):
        assert Reason.JOINT_STATES_LATE not in states.check(10.0 + late - 1e-4, period).flags
        assert Reason.JOINT_STATES_LATE in states.check(10.0 + late + 1e-4, period).flags
    states = States()
    for k in range(100):
        states.feed(0.01 * k)
    states.feed(1.09)
    # One long gap hardly changes the usual interval: 14.5 ms.
    assert Reason.JOINT_STATES_LATE not in states.check(1.09 + 0.0289, period=0.001).flags
    assert Reason.JOINT_STATES_LATE in states.check(1.09 + 0.0291, period=0.001).flags


def test_frozen_is_a_repeated_position_and_velocity(states: States) -> None:
    for k in range(1, 11):
        states.feed(5.0 + 0.01 * k, effort=(k, k, k))
        assert states.check(6.0).unchanged_for == pytest.approx(0.01 * k)
    for k, qd in enumerate((0.3, 0.3, 0.4)):
        states.feed(5.11 + 0.01 * k, q=(1.0, 2.0, 3.0 + 1e-12), qd=(0.1, 0.2, qd))
        # A resting joint among moving ones is not frozen.
        unchanged_for = states.check(6.0, joints=ALL[:1]).unchanged_for
        assert unchanged_for == pytest.approx(0.01 if k == 1 else 0.0)


def test_frozen_is_judged_by_the_publisher_of_the_given_joints() -> None:
    states = States()
    for k in range(11):
        states.feed(0.01 * k, names=('a', 'b'), q=(k, k), qd=(0.0, 0.0))
        states.feed(0.01 * k, names=('c',), q=(0.0,), qd=(0.0,))
    for joints, expected in ((ALL[:2], 0.0), (ALL[2:], 0.1), (ALL, 0.1)):
        assert states.check(0.1, joints=joints).unchanged_for == pytest.approx(expected)
    # A publisher that has left leaves nothing frozen.
    states.feed(0.2, names=('c', 'b', 'a'), q=(1.0, 1.0, 1.0))
    assert states.check(0.2).unchanged_for == 0.0


@each('cutoff', [20.0, 2000.0])
def test_a_derived_velocity_is_the_quotient_through_a_filter_of_first_order(
    cutoff: float
) -> None:
    states, now = States(differentiate_velocity=True, cutoff=cutoff), 5.0
    rng = np.random.default_rng(4)
    expected, before = np.zeros(3), np.array([1e3, -1e3, 0.0])
    states.feed(now, q=before, qd=())
    assert states.velocity.tolist() == [0.0] * 3  # wherever the robot is
    for _ in range(50):
        dt, q = rng.uniform(0.001, 0.01), rng.normal(size=3)
        now += dt
        states.feed(now, q=q, qd=() if dt < 0.005 else (NAN, NAN, NAN))
        expected += (dt / (dt + 1.0 / (math.tau * cutoff))) * ((q - before) / dt - expected)
        before = q
        np.testing.assert_allclose(states.velocity, expected, rtol=1e-9)
        # The next quotient spans all samples of one tick, also of a second publisher.
        states.feed(now, names=('b', 'c'), q=q[1:] + 1.0, qd=(), stamp=0.0)
        np.testing.assert_allclose(states.velocity, expected, rtol=1e-9)
    states.feed(now + 0.01, qd=(0.4, 0.5, 0.6))
    assert states.velocity.tolist() == [0.4, 0.5, 0.6]  # a measured one is preferred
    assert states.feed(now + 0.02, qd=(NAN, 0.0, 0.0)) is Reason.NOT_FINITE


def test_a_flood_of_new_joint_lists_does_not_fill_the_memory() -> None:
    layouts = JointLayouts(JOINTS)
    first = layouts.of(('a', 'b', 'c'))
    for others, kept in ((MAX_LAYOUTS - 1, True), (MAX_LAYOUTS, False)):
        for k in range(others):
            layouts.of((*JOINTS, f'other_{others}_{k}'))
        assert (layouts.of(['a', 'b', 'c']) is first) is kept
