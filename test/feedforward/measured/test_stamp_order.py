# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Single stamps that are wrong are rejected; clocks that are set are followed."""

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.stamps import MAX_FUTURE, StampOrder
from support.cases import each

CLOCK = 1_700_000_000.0
"""What the wall clock shows when monotonic time is 0."""

ALL = (0, 1, 2)
ARM, GRIPPER = (0, 1), (2,)


class Stream:
    """A publisher's stamps, judged as they come."""

    def __init__(self, order: StampOrder, joints: tuple[int, ...] = ALL, period: float = 0.002):
        self.order, self.joints, self.period = order, joints, period
        self.time, self.offset = 10.0, CLOCK

    def send(self, shift: float = 0.0, delay: float = 0.0, clock: float = CLOCK) -> Reason | None:
        """Let the next sample come, with a stamp that is off."""
        self.time += self.period
        received = self.time + min(delay, 0.9 * self.period)  # samples keep their order
        stamp = self.time + self.offset + shift
        reason = self.order.check(self.joints, stamp, clock + received, received)
        if reason is None:
            self.order.accept(self.joints, stamp, received)
        return reason


@settings(max_examples=40)
@given(
    period=st.sampled_from([0.001, 0.002, 0.008, 1.0 / 30.0]),
    delays=st.lists(st.floats(0.0, 0.004), min_size=40, max_size=40),
    shift=st.one_of(st.floats(-1e7, -0.1), st.floats(0.02, 1e7)),
    wrong=st.sets(st.integers(5, 39), min_size=1, max_size=30),
    clocks=st.lists(st.floats(-1e7, 1e7), min_size=40, max_size=40),
)
def test_single_wrong_stamps_are_rejected_and_nothing_else_is(
    period: float, delays: list[float], shift: float, wrong: set[int], clocks: list[float]
) -> None:
    stream, rejected = Stream(StampOrder(3), period=period), set[int]()
    expected = Reason.STAMP_NOT_NEWER if shift < 0.0 else Reason.STAMP_IN_FUTURE
    for k, delay in enumerate(delays):
        # No more than two in a row: three that are off by the same would be a clock that was set.
        off = k in wrong and not {k - 1, k - 2} <= rejected
        rejected |= {k} if off else set()
        # The node's own clock may be set at any time.
        reason = stream.send(shift if off else 0.0, delay, clocks[k] if k else CLOCK)
        assert reason is (expected if off else None)
    assert stream.order.steps == 0


@each('shift, reason', [
    (lambda k: 1.0 + 0.02 * (k % 2), Reason.STAMP_IN_FUTURE),
    (lambda k: -(k + 1) * 0.002, Reason.STAMP_NOT_NEWER),
])
def test_stamps_of_no_clock_are_never_taken(shift: Callable[[int], float], reason: Reason) -> None:
    stream = Stream(StampOrder(3))
    stream.send()
    for k in range(100):
        assert stream.send(shift(k)) is reason


def test_a_second_publisher_with_another_clock_is_never_accepted() -> None:
    order = StampOrder(3)
    first, second = Stream(order), Stream(order)
    second.offset -= 3600.0
    for _ in range(30):
        assert first.send() is None
        assert second.send() is Reason.STAMP_NOT_NEWER


def test_a_stamp_must_be_newer_than_that_of_every_joint_of_its_sample() -> None:
    order = StampOrder(3)
    assert order.check(ALL, CLOCK, CLOCK, 0.0) is None
    order.accept(ARM, CLOCK + 0.004, 0.004)
    assert order.check(ALL, CLOCK + 0.002, CLOCK + 0.005, 0.005) is Reason.STAMP_NOT_NEWER
    assert order.check(GRIPPER, CLOCK + 0.002, CLOCK + 0.005, 0.005) is None


def test_each_publisher_recovers_by_itself_while_others_go_on() -> None:
    order = StampOrder(3)
    arm, gripper = Stream(order, ARM), Stream(order, GRIPPER)
    for k in range(40):
        if k == 10:
            gripper.offset -= 100.0
        if k == 20:
            arm.offset += 100.0
        assert (arm.send() is None) == (k not in (20, 21))
        assert (gripper.send() is None) == (k not in (10, 11))
    assert order.steps == 2


def test_after_a_clock_was_set_forward_future_stamps_are_rejected() -> None:
    stream = Stream(StampOrder(3))
    for offset in (CLOCK, CLOCK + 100.0, CLOCK - 100.0):
        stream.offset = offset
        for _ in range(10):
            stream.send()
        assert stream.send(0.9 * MAX_FUTURE) is None
        for _ in range(10):
            stream.send()
        assert stream.send(1.1 * MAX_FUTURE) is Reason.STAMP_IN_FUTURE
