# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Stalls of joint states or ticks: the control holds gravity, and returns when they are over."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward import Reason, State
from rnea_ros.feedforward.laws import ComputedTorque, ControlLaw, Feedforward, Gravity
from rnea_ros.feedforward.motion.trajectory import join
from rnea_ros.feedforward.state import (
    BACKLOG_TIME,
    MAX_RETURNS,
    RETURN_WINDOW,
    SETTLING_TIME,
    Stalls,
)
from support.control.control_rig import PANDA_POSE, Array, Rig, panda_arm, setpoint, swing

RAMP, HOLD = 0.2, 1.0
STALE, BLOCKED = Reason.JOINT_STATES_STALE, Reason.TICK_BLOCKED
EITHER = pytest.mark.parametrize('reason', [STALE, BLOCKED])


def active_rig(**settings: Any) -> Rig:
    rig = Rig(panda_arm(), q=PANDA_POSE, **{
        'rate': 500.0, 'mode': Feedforward, 'kp': (60.0,), 'kd': (4.0,),
        'ramp_duration': RAMP, 'hold_duration': HOLD, **settings,
    })
    rig.activate()
    return rig


def pause(rig: Rig, reason: Reason, duration: float = 0.25) -> None:
    """Stall joint states, or the loop."""
    if reason is STALE:
        rig.run(duration, feed=False)
    else:
        rig.now += duration


def stall(rig: Rig, reason: Reason, duration: float = 0.25, known: Reason | None = None) -> None:
    """Stall up to the first tick afterwards; ``known``: the reason of a stall before."""
    pause(rig, reason, duration)
    rig.tick()
    assert rig.state() is State.HOLDING
    assert rig.controller.reason is (known or reason)


def follow_long_motion(rig: Rig) -> Any:
    """Follow a motion of 5 s from the pose for a while; return its goal."""
    end = np.array(PANDA_POSE) + 0.4
    goal = rig.pursue(swing(rig.model.joint_names, PANDA_POSE, end, 5.0))
    rig.run(0.5)
    assert not goal.result
    return goal


def assert_starts_from(rig: Rig, effort: Array) -> None:
    """Run until the next command, which must be within a step of an effort."""
    count = len(rig.commands)
    while len(rig.commands) == count:
        rig.tick()
    assert (np.abs(rig.commands[-1] - effort) <= rig.greatest_step).all()


@EITHER
def test_the_control_returns_once_joint_states_are_fresh_again(reason: Reason) -> None:
    rig = active_rig()
    assert rig.controller.snapshot.stall is None
    stall(rig, reason)
    fresh_since = rig.now
    rig.run_until(State.RAMPING)
    assert rig.now - fresh_since == pytest.approx(SETTLING_TIME, abs=2.01 * rig.period)
    assert rig.controller.reason is None
    assert rig.run_until(State.ACTIVE) == pytest.approx(RAMP, abs=2.0 * rig.period)
    np.testing.assert_allclose(rig.commands[-1], rig.gravity)
    assert rig.controller.snapshot.returns == Counter((reason,))
    sentence = str(rig.controller.snapshot.stall)
    what = {STALE: 'no joint states', BLOCKED: 'no tick of the loop'}[reason]
    assert sentence.startswith(f'{what} for 0.25 s (limit 0.1 s)')
    assert 'realtime.priority' in sentence


@pytest.mark.parametrize(('timeout', 'blocked'), [
    (0.02, 0.019), (0.02, 0.023), (0.2, 0.05), (0.2, 0.5), (2.0, 0.5),
])
def test_a_tick_blocked_beyond_the_timeout_interrupts(timeout: float, blocked: float) -> None:
    rig = active_rig(rate=1000.0, joint_states_timeout=timeout)
    rig.now += blocked
    rig.tick()  # with a joint state that is as new as ever
    interrupted = blocked > timeout
    assert rig.state() is (State.HOLDING if interrupted else State.ACTIVE)
    assert rig.controller.reason is (BLOCKED if interrupted else None)


def test_slightly_late_ticks_end_nothing_at_any_timeout() -> None:
    rig = active_rig(joint_states_timeout=0.002)
    for late in np.random.default_rng(3).uniform(-0.4, 0.4, 500):
        rig.wait(1.0 + late)
        rig.feed()
        rig.step()
    assert rig.state() is State.ACTIVE


def test_a_blocked_tick_before_anything_is_commanded_ends_nothing() -> None:
    rig = Rig(panda_arm(), q=PANDA_POSE, ramp_duration=0.05)
    rig.tick(feed=False)
    rig.now += 10.0
    rig.activate()
    assert not rig.controller.reason


@EITHER
def test_a_motion_is_cancelled_and_the_arm_holds_where_it_is(reason: Reason) -> None:
    rig = active_rig()
    goal = follow_long_motion(rig)
    rig.q += 0.05  # the arm sinks
    stall(rig, reason)
    assert goal.result.text.startswith(reason.value)
    rig.activate()
    rig.run(0.5)
    held, velocity = rig.desired()
    np.testing.assert_array_equal(held, rig.q)
    assert not velocity.any()
    rig.controller.follow(setpoint(rig.model.joint_names, held + 0.02), None)
    rig.tick()
    np.testing.assert_array_equal(rig.desired()[0], held + 0.02)


@EITHER
@pytest.mark.parametrize('mode', [Gravity, ComputedTorque])
def test_a_weightless_arm_is_weightless_again(mode: type[ControlLaw], reason: Reason) -> None:
    rig = active_rig(mode=mode)
    stall(rig, reason)
    rig.activate()
    assert rig.controller.motions.reference_at(rig.now) is None


@EITHER
def test_a_return_starts_from_the_measured_effort_or_the_last_command(reason: Reason) -> None:
    rig = active_rig()
    last = rig.commands[-1]
    stall(rig, reason)  # the rig compares each command with the one before
    rig.activate()
    rig.effort = 0.2 * last  # a watchdog has taken effort away
    rig.tick()
    stall(rig, reason)
    assert_starts_from(rig, rig.effort if reason is BLOCKED else last)
    rig.activate()
    np.testing.assert_allclose(rig.commands[-1], rig.gravity)


@pytest.mark.parametrize('measured', [False, True])
def test_without_new_measured_efforts_commands_start_from_the_watchdogs(measured: bool) -> None:
    rig = active_rig(joint_states_timeout=0.5)
    left = 0.3 * rig.gravity
    rig.controller.acting_effort.watchdog_effort = lambda: left
    rig.acting_effort = left
    rig.now += 0.6
    if measured:
        rig.feed(effort=rig.gravity)  # from before the stall, and no joint state after it
        rig.step()
    commands = rig.run(0.11, feed=not measured)
    assert (np.abs(commands[0] - left) <= rig.greatest_step).all()


def test_nothing_is_sent_before_messages_are_current_after_a_blocked_tick() -> None:
    rig = active_rig()
    rig.effort = rig.gravity
    rig.now += 0.25
    resumed, rig.effort = rig.now, 0.1 * rig.gravity
    rig.feed(effort=rig.gravity)  # from before the stall
    rig.step()
    assert_starts_from(rig, rig.effort)
    assert rig.now - resumed == pytest.approx(BACKLOG_TIME, abs=1.01 * rig.period)


def test_without_joint_states_after_a_blocked_tick_the_last_command_counts() -> None:
    rig = active_rig()
    last = rig.commands[-1]
    rig.now += 0.25
    commands = rig.run(0.11, feed=False)
    assert (np.abs(commands[0] - last) <= rig.greatest_step).all()


@EITHER
@pytest.mark.parametrize('back', [0.01, 0.3])
def test_commands_that_were_withheld_in_a_stall_come_back(reason: Reason, back: float) -> None:
    rig = active_rig()
    rig.effort = np.zeros(7)
    rig.controller.permitted = False  # the effort controller has left
    rig.tick()
    stall(rig, reason)
    rig.run(back)  # 0.01 s: while the acting effort is still unknown
    rig.controller.permitted = True
    assert_starts_from(rig, np.zeros(7))
    rig.activate()
    rig.run(RAMP)
    np.testing.assert_allclose(rig.commands[-1], rig.gravity)


@EITHER
@pytest.mark.parametrize('when', ['before', 'during', 'after'])
def test_a_trajectory_joined_to_a_stalled_one_is_not_followed(when: str, reason: Reason) -> None:
    rig = active_rig()
    follow_long_motion(rig)
    handover = rig.controller.motions.handover(rig.now + 0.01)
    assert handover is not None
    position = handover.active.state(handover.time).position
    way = swing(rig.model.joint_names, position, PANDA_POSE, 3.0)
    joined = join(handover, way.knots, np.arange(7))
    if when == 'before':
        rig.controller.follow(joined, None)
        rig.tick()
    stall(rig, reason)
    if when == 'during':
        rig.controller.follow(joined, None)
    rig.run_until(State.RAMPING)
    if when == 'after':
        rig.controller.follow(joined, None)
    rig.activate()
    rig.run(1.0)
    np.testing.assert_array_equal(rig.desired()[0], rig.q)
    assert not rig.desired()[1].any()


@EITHER
def test_a_stall_beyond_hold_duration_ends_in_a_fault(reason: Reason) -> None:
    rig = active_rig()
    pause(rig, reason, HOLD + 0.15)
    rig.run_until(State.FAULT)
    assert rig.controller.reason is reason
    for _ in range(250):
        rig.controller.follow(setpoint(rig.model.joint_names, rig.q), None)
        rig.tick()
    assert not rig.commands[-1].any()
    assert rig.state() is State.FAULT


def test_a_further_stall_before_the_return_begins_another_hold_duration() -> None:
    rig = active_rig()
    stall(rig, STALE, 0.9 * HOLD)
    for _ in range(3):
        rig.tick()  # fresh for a moment
        stall(rig, BLOCKED, 0.9 * HOLD, known=STALE)
    rig.run_until(State.ACTIVE)
    assert rig.controller.reason is None


def test_only_so_many_returns_in_a_short_time() -> None:
    rig = active_rig()
    began = rig.now
    for _ in range(20):
        stall(rig, STALE, 0.15)
        rig.run_until(State.RAMPING)
    assert rig.now - began < RETURN_WINDOW
    stall(rig, STALE, 0.15)
    rig.run_until(State.FAULT)
    assert rig.controller.reason is STALE


def test_returns_before_simulated_time_was_set_back_do_not_count() -> None:
    stalls = Stalls(active_rig().resolved)
    for time in (*(100.0 + np.arange(MAX_RETURNS)), 50.0):
        stalls.begin(STALE, time, 0.1, 0.1)
        stalls.check_return(time, fresh=True, jumped=False)
        assert stalls.check_return(time + 0.2, fresh=True, jumped=False)


@pytest.mark.parametrize('end', [State.STOPPED, State.FAULT])
def test_a_stop_and_another_fault_during_a_stall_are_final(end: State) -> None:
    rig = active_rig()
    stall(rig, STALE)
    if end is State.STOPPED:
        rig.controller.request_stop()
    else:
        rig.controller.request_fault(Reason.CONTROLLER_JOINTS_CHANGED)
    rig.run_until(end)
    rig.run(1.0)
    assert rig.state() is end
    assert not rig.commands[-1].any()


@pytest.mark.parametrize('lost', [0.0, 0.12])
def test_the_control_does_not_return_on_positions_that_jumped(lost: float) -> None:
    rig = active_rig(velocity_limit_factor=2.0)
    rig.run(lost, feed=False)
    rig.q[4] += 1.0
    began = rig.now
    while rig.state() is not State.FAULT:
        assert rig.state() is not State.RAMPING
        assert rig.now - began < 5.0
        rig.wait()
        rig.feed()
        rig.step()
