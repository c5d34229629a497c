# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Efforts of another program: added to every law, limited, faded, and never after a pause."""

from collections import Counter
from collections.abc import Callable, Sequence
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rnea_ros.feedforward import Reason, State
from rnea_ros.feedforward.laws import LAWS, ControlLaw
from rnea_ros.feedforward.settings import AdditionalEffortSettings
from support.cases import each
from support.control.control_rig import Array, Rig, setpoint, two_joint_arm

JOINTS = ('shoulder', 'elbow')
DIRECT = AdditionalEffortSettings((20.0,), timeout=0.1, fade=0.001)
"""A stream acts in full at its first tick of 1 ms, but for rounding of the time."""


def rig(given: AdditionalEffortSettings = DIRECT, **settings: Any) -> Rig:
    """Return an active arm of 100 N m in each joint."""
    defaults: dict[str, Any] = {
        'ramp_duration': 0.02, 'effort_rate_limit': (1e8,), 'kp': (40.0,), 'kd': (2.0,)
    }
    built = Rig(two_joint_arm(), q=(0.4, -0.9), additional_effort=given, **(defaults | settings))
    built.activate()
    return built


def send(arm: Rig, effort: ArrayLike, names: Sequence[str] = JOINTS, late: float = 0.0) -> Any:
    """Let a message come now; return the reason of its rejection."""
    return arm.controller.additional_effort.take_sample(
        tuple(names), np.array(effort, dtype=np.float64), stamp=arm.now - late, clock=arm.now,
        received=arm.now,
    )


def next_command(arm: Rig) -> Array:
    command = arm.tick()
    assert command is not None
    return command


def assert_added(arm: Rig, *expected: float) -> None:
    """Assert by how much the next command exceeds the gravity torque; no message comes."""
    np.testing.assert_allclose(next_command(arm) - arm.gravity, expected, atol=1e-9)


@each('with_motion', [True, False])
@each('mode', LAWS.values())
def test_efforts_are_a_term_of_every_law(mode: type[ControlLaw], with_motion: bool) -> None:
    rng = np.random.default_rng(1)
    arms = with_it, without = rig(mode=mode), rig(mode=mode)
    send(with_it, (0.0, 0.0))
    for _ in range(10):
        q, qd, effort = rng.uniform(-1.0, 1.0, (3, 2))
        for arm in arms:
            arm.tick()
            arm.q[:], arm.qd[:] = q, qd
            if with_motion:
                arm.controller.follow(setpoint(JOINTS, 0.9 * q, qd), None)
        assert send(with_it, 20.0 * effort) is None
        difference = next_command(with_it) - next_command(without)
        np.testing.assert_allclose(difference, 20.0 * effort, rtol=0, atol=1e-12)
        terms = with_it.controller.terms()
        np.testing.assert_array_equal(terms.additional, 20.0 * effort)
        np.testing.assert_allclose(terms.total(), with_it.commands[-1], rtol=0, atol=1e-12)


def test_joints_are_matched_by_name() -> None:
    arm = rig()
    for names, effort, expected in (
        (JOINTS, (7.0, 8.0), (7.0, 8.0)), (('elbow', 'shoulder'), (1.0, 2.0), (2.0, 1.0)),
        (('elbow',), (1.0,), (0.0, 1.0)), ((), (), (0.0, 0.0)),
    ):
        assert send(arm, effort, names) is None
        assert_added(arm, *expected)


@each('effort, names, late, reason', [
    ((math.nan, 1.0), JOINTS, 0.0, Reason.NOT_FINITE),
    ((1.0, 1.0), ('shoulder', 'wrist'), 0.0, Reason.UNKNOWN_JOINT),
    ((1.0, 1.0), ('elbow', 'elbow'), 0.0, Reason.DUPLICATE_JOINT),
    ((1.0,), JOINTS, 0.0, Reason.WRONG_SIZE), ((1.0, 1.0), (), 0.0, Reason.WRONG_SIZE),
    ((1.0, 1.0), JOINTS, 0.002, Reason.STAMP_NOT_NEWER),
    ((1.0, 1.0), JOINTS, -1.0, Reason.STAMP_IN_FUTURE),
])
def test_a_bad_message_is_rejected_whole_and_counted_and_the_last_stays(
    effort: Sequence[float], names: Sequence[str], late: float, reason: Reason
) -> None:
    arm = rig()
    send(arm, (3.0, -4.0))
    assert_added(arm, 3.0, -4.0)
    assert send(arm, effort, names, late) is reason
    assert_added(arm, 3.0, -4.0)
    assert arm.controller.additional_effort.rejections == Counter((reason,))


def test_an_effort_above_its_limit_is_cut_and_flagged() -> None:
    arm = rig(AdditionalEffortSettings((5.0, 0.0), fade=0.001))
    for effort, cut in ((-4.0, False), (-6.0, True), (1e300, True), (5.0, False)):
        send(arm, (effort, 0.0))
        assert_added(arm, np.clip(effort, -5.0, 5.0), 0.0)
        arm.tick()
        assert (Reason.ADDITIONAL_EFFORT_CUT in arm.controller.flags) is cut
    arm.change(additional_effort=AdditionalEffortSettings((3.0,), fade=0.001))
    for _ in range(40):
        send(arm, (5.0, 0.0))
        arm.tick()
    assert_added(arm, 3.0, 0.0)
    arm.change(additional_effort=AdditionalEffortSettings(fade=0.001))
    arm.run(0.03)
    assert not arm.controller.flags
    assert not arm.controller.additional_effort.enabled


def test_a_stream_fades_in_and_out_linearly_within_timeout_and_fade() -> None:
    arm = rig(AdditionalEffortSettings((20.0,), timeout=0.05, fade=0.1))
    for tick in range(300):
        if tick < 150:
            send(arm, (10.0, 0.0))
        rising, falling = (tick + 1) / 100.0, 1.0 - (tick - 198) / 100.0
        assert_added(arm, 10.0 * max(min(rising, 1.0, falling), 0.0), 0.0)


def withhold(arm: Rig) -> None:
    arm.controller.permitted = False
    arm.tick()
    arm.controller.permitted = True


@each('interrupt', [withhold, lambda arm: arm.run(0.15, feed=False), lambda arm: arm.wait(150.0)])
def test_old_efforts_do_not_come_back_after_a_pause(interrupt: Callable[[Rig], object]) -> None:
    arm = rig(AdditionalEffortSettings((20.0,), timeout=10.0, fade=0.001), hold_duration=1.0)
    send(arm, (3.0, -4.0))
    arm.tick()
    interrupt(arm)
    arm.tick()
    arm.run_until(State.ACTIVE, State.DEGRADED)
    arm.run(0.1)
    assert_added(arm, 0.0, 0.0)


@each('end', [lambda control: control.request_stop(),
              lambda control: control.request_fault(Reason.CLOCK_RESET)])
def test_the_end_of_the_control_is_without_them(end: Callable[[Any], None]) -> None:
    arms = [rig(hold_duration=0.05), rig(hold_duration=0.05)]
    for arm in arms:
        end(arm.controller)
        arm.tick()
    while arms[0].state() in (State.HOLDING, State.RAMPING_DOWN):
        send(arms[0], (10.0, 10.0))
        np.testing.assert_array_equal(next_command(arms[0]), next_command(arms[1]))
    assert not arms[0].commands[-1].any()
