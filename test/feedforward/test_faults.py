# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Faults of joint states and time, stops, exceptions: to gravity, hold, ramp to zero, end."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward import CONTROLLING, Reason, State
from rnea_ros.feedforward.laws import ControlLaw, Feedback, Feedforward
from rnea_ros.feedforward.measured import TickMonitor
from rnea_ros.feedforward.motion import Reference
from rnea_ros.feedforward.settings import StaleAction
from support.control.control_rig import PANDA_POSE, Rig, mixed_arm, panda_arm, swing

RAMP, HOLD = 0.3, 0.4
GOING_ON = (State.ACTIVE, State.DEGRADED)


def rig_at_start(**settings: Any) -> Rig:
    """Return a Franka arm a third of whose start ramp is over."""
    rig = Rig(panda_arm(), q=PANDA_POSE, **{
        'joint_states_timeout': 0.02, 'ramp_duration': RAMP, 'hold_duration': HOLD, **settings
    })
    rig.run(RAMP / 3.0)
    return rig


def rig_in_motion(**settings: Any) -> Rig:
    """Return a Franka arm that follows a long motion, with gains, off its desired position."""
    rig = rig_at_start(**{'mode': Feedforward, 'kp': (60.0,), 'kd': (4.0,), **settings})
    rig.activate()
    start = rig.q + 0.05
    rig.controller.follow(swing(rig.model.joint_names, start, start + 0.4, 20.0), None)
    for _ in range(100):
        follow_along(rig)
        rig.tick()
    return rig


def follow_along(rig: Rig) -> None:
    """Let the robot move, a little slower than it should."""
    rig.qd[:] = 0.01
    rig.q += rig.qd * rig.period


def assert_winds_down(rig: Rig, *, feed: bool = False, in_ramp: bool = False) -> None:
    """
    Step a rig in which a fault was just found through all that must follow.

    :param feed: whether joint states come meanwhile
    :param in_ramp: whether the fault ended a start ramp, whose share is held instead of gravity
    """
    began = len(rig.commands) - 1
    start = rig.commands[began - 1]
    held = start if in_ramp else rig.gravity
    took = rig.run_until(State.RAMPING_DOWN, feed=feed)
    assert took == pytest.approx(HOLD, abs=1.5 * rig.period)
    # Every joint goes straight to gravity, at its rate limit.
    commands = np.array(rig.commands[began:])
    allowed = np.arange(1, len(commands) + 1)[:, np.newaxis] * rig.greatest_step
    expected = start + np.clip(held - start, -allowed, allowed)
    np.testing.assert_allclose(commands, expected, rtol=1e-6, atol=1e-9)
    # From there it is a straight line to zero.
    ticks = round(RAMP / rig.period)
    left = 1.0 - np.arange(1, ticks + 1)[:, np.newaxis] / ticks
    np.testing.assert_allclose(rig.run(RAMP, feed=feed), left * held, atol=1e-9)
    rig.run(2.0 * rig.period, feed=feed)
    assert not rig.commands[-1].any()
    assert rig.state() is State.FAULT


@pytest.mark.parametrize(('rate', 'given', 'timeout', 'start'), [
    (1000.0, 0.0, 0.1, 0.0), (100.0, 0.0, 0.2, 86_399.999_7), (1000.0, 0.001, 0.001, 3e6 + 0.1),
    (500.0, 0.04, 0.04, 0.0),
])
def test_joint_states_that_stop_lead_to_gravity_after_their_timeout(
    rate: float, given: float, timeout: float, start: float
) -> None:
    rig = rig_in_motion(rate=rate, start=start, joint_states_timeout=given)
    received = rig.now
    for lost in range(1, round(timeout * rate)):
        rig.tick(feed=False)
        assert rig.state() in GOING_ON, f'{lost} samples lost'
    rig.tick(feed=False)
    assert rig.state() is State.HOLDING
    assert rig.now - received <= timeout + 1e-6
    assert rig.controller.reason is Reason.JOINT_STATES_STALE


@pytest.mark.parametrize('rate', [1000.0, 500.0])
def test_joint_states_that_stop_are_flagged_after_two_periods(rate: float) -> None:
    rig = rig_in_motion(rate=rate)
    for wait, flagged in ((0.99, False), (0.99, False), (0.03, True)):
        rig.wait(wait)
        rig.step()
        assert rig.controller.flags == ({Reason.JOINT_STATES_LATE} if flagged else set())
    assert rig.state() is State.DEGRADED
    rig.tick()
    assert not rig.controller.flags
    assert rig.state() is State.ACTIVE
    assert rig.controller.snapshot.flag_counts == Counter({Reason.JOINT_STATES_LATE: 1})
    rig.run(0.01, feed=False)
    assert rig.controller.snapshot.flag_counts == Counter({Reason.JOINT_STATES_LATE: 2})


@pytest.mark.parametrize(('settings', 'away'), [
    ({}, 0.5), ({'mode': Feedback, 'effort_rate_limit': (200.0,)}, 10.0),
])
def test_stale_joint_states_lead_to_gravity_then_to_zero_then_to_a_fault(
    settings: dict[str, Any], away: float
) -> None:
    rig = rig_in_motion(**settings)
    assert np.abs(rig.commands[-1] - rig.gravity).max() > away
    rig.run_until(State.HOLDING, feed=False)
    assert_winds_down(rig)
    assert rig.controller.reason is Reason.JOINT_STATES_STALE


def test_stale_action_hold_keeps_gravity_after_a_fault_until_the_stop() -> None:
    rig = rig_in_motion(stale_action=StaleAction.HOLD)
    rig.run_until(State.HOLDING, feed=False)
    rig.run(2.0 * (HOLD + RAMP), feed=False)
    assert rig.state() is State.HOLDING
    np.testing.assert_array_equal(rig.commands[-1], rig.gravity)
    rig.controller.request_stop()
    rig.run(0.1, feed=False)
    assert rig.state() is State.STOPPED
    np.testing.assert_array_equal(rig.commands[-1], rig.gravity)


def test_values_frozen_during_a_motion_are_flagged_within_100_ms() -> None:
    rig = rig_in_motion()
    frozen_since = rig.now
    while not rig.controller.flags:
        rig.tick()
        assert rig.now - frozen_since <= 0.1
    assert rig.controller.flags == {Reason.JOINT_STATES_FROZEN}
    assert rig.state() in GOING_ON
    follow_along(rig)
    rig.run(2 * rig.period)
    assert not rig.controller.flags
    assert rig.controller.snapshot.flag_counts == Counter({Reason.JOINT_STATES_FROZEN: 1})


@pytest.mark.parametrize('methods', [('effort',), ('effort', 'holding_effort')])
@pytest.mark.parametrize('make_rig', [rig_at_start, rig_in_motion])
def test_an_effort_not_finite_ends_the_control_at_once_at_the_last_finite_gravity(
    monkeypatch: pytest.MonkeyPatch, make_rig: Callable[[], Rig], methods: tuple[str, ...]
) -> None:
    rig = make_rig()
    spoiled = rig.gravity * np.where(np.arange(7) == 3, np.nan, 1.0)
    for method in methods:
        monkeypatch.setattr(ControlLaw, method, lambda *_, **__: spoiled)
    rig.tick()
    assert rig.state() is State.HOLDING
    assert rig.controller.reason is Reason.OUTPUT_NOT_FINITE
    assert_winds_down(rig, feed=True, in_ramp=make_rig is rig_at_start)


@pytest.mark.parametrize(('field', 'off', 'reason'), [
    ('q', 0.1, Reason.POSITION_JUMP), ('qd', 6.0, Reason.VELOCITY_TOO_HIGH),
    ('qd', -1e300, Reason.VELOCITY_TOO_HIGH), ('qd', np.nan, Reason.NOT_FINITE),
])
def test_false_positions_and_velocities_are_rejected_and_move_no_command(
    field: str, off: float, reason: Reason
) -> None:
    rig, other = rig_in_motion(velocity_limit_factor=2.0), rig_in_motion(velocity_limit_factor=2.0)
    for k in range(200):
        follow_along(rig)
        follow_along(other)
        true = k % 5 != 0
        other.tick(feed=true)
        rig.wait()
        given = {} if true else {field: getattr(rig, field) + off}
        assert rig.feed(**given) is (None if true else reason)
        np.testing.assert_array_equal(rig.step(), other.commands[-1])
    assert rig.state() in GOING_ON
    assert rig.states.rejections == Counter({reason: 40})


@pytest.mark.parametrize('step', [-3600.0, -0.005, 0.02, 1e6])
@pytest.mark.parametrize('whose', ['the robot', 'the node', 'both'])
def test_a_wall_clock_that_is_set_does_not_end_the_control(whose: str, step: float) -> None:
    rig = rig_in_motion()
    robots, nodes = step * (whose != 'the node'), step * (whose != 'the robot')
    for k in range(200):
        follow_along(rig)
        rig.wait()
        rig.feed(stamp=rig.now + robots * (k >= 100), clock=rig.now + nodes * (k >= 100))
        rig.step()
        assert rig.state() in GOING_ON
        assert rig.states.age(rig.now) <= 2.5 * rig.period
    assert rig.states.clock_steps == (whose != 'the node')
    assert rig.states.rejections.total() == 2 * (whose != 'the node')


@pytest.mark.parametrize(('silent', 'uncommanded', 'timeout'), [
    ('lift', 10.0, 0.1), ('gripper', 0.5, 0.5),
])
def test_a_joint_that_falls_silent_ends_the_control_after_its_own_timeout(
    silent: str, uncommanded: float, timeout: float
) -> None:
    joints = ('lift', 'turn', 'bend', 'gripper')
    rig = Rig(mixed_arm(), joints=joints[:3], ramp_duration=0.0, uncommanded_timeout=uncommanded)
    rig.tick()
    newest = rig.now
    while rig.state() in CONTROLLING:
        assert rig.now - newest < 1.0
        rig.wait()
        rig.feed(names=[name for name in joints if name != silent])
        rig.step()
    assert rig.now - newest == pytest.approx(timeout)


@pytest.mark.parametrize('action', StaleAction)
def test_a_stop_before_anything_was_commanded_commands_nothing(action: StaleAction) -> None:
    rig = Rig(panda_arm(), stale_action=action)
    rig.tick(feed=False)
    rig.controller.request_stop()
    assert rig.tick() is None
    assert rig.state() is State.STOPPED
    assert rig.tick() is None


@pytest.mark.parametrize('state', [State.RAMPING, State.ACTIVE])
def test_a_stop_leads_to_gravity_or_its_share_and_at_once_to_zero(state: State) -> None:
    rig = rig_at_start() if state is State.RAMPING else rig_in_motion()
    assert rig.state() is state
    rig.qd[:] = 0.0
    rig.controller.request_stop()
    start = rig.commands[-1]
    rig.tick()
    assert rig.controller.snapshot.stop_requested
    assert rig.controller.reason is Reason.STOP_REQUESTED
    to_gravity = np.abs(start - rig.gravity) / rig.greatest_step * (state is State.ACTIVE)
    ticks = rig.run_until(State.STOPPED) / rig.period
    assert ticks == pytest.approx(to_gravity.max() + RAMP / rig.period, abs=3.0)
    assert not rig.commands[-1].any()


@pytest.mark.parametrize(('after', 'back'), [(0.0, 0.05), (0.1, 1000.0), (HOLD + 0.05, 10.0)])
def test_time_set_back_during_the_ramp_down_does_not_stop_it(after: float, back: float) -> None:
    rig = rig_in_motion()
    rig.run_until(State.HOLDING, feed=False)
    rig.run(after, feed=False)
    before = np.abs(rig.commands[-1])
    rig.now -= back
    rig.controller.enter_fault(Reason.CLOCK_RESET, rig.now)
    commands = rig.run(HOLD + RAMP + 0.1, feed=False)
    assert (np.abs(commands) <= np.maximum(before, np.abs(rig.gravity)) + 1e-9).all()
    assert rig.state() is State.FAULT
    assert rig.controller.reason is Reason.JOINT_STATES_STALE


class Broken:
    """Raises at every call, another error each time."""

    calls = 0

    def __call__(self, *_: object, **__: object) -> Any:
        self.calls += 1
        raise RuntimeError(f'call {self.calls}')


@pytest.mark.parametrize(('owner', 'method'), [
    (ControlLaw, 'effort'), (ControlLaw, 'holding_effort'), (Reference, 'advance'),
    (TickMonitor, 'check'),
])
@pytest.mark.parametrize('make_rig', [rig_at_start, rig_in_motion])
def test_an_exception_in_a_tick_winds_down_and_the_first_one_is_kept(
    monkeypatch: pytest.MonkeyPatch, owner: type, method: str, make_rig: Callable[[], Rig]
) -> None:
    rig = make_rig()
    assert rig.controller.snapshot.error is None
    monkeypatch.setattr(owner, method, Broken())
    rig.tick()
    assert rig.state() is State.HOLDING
    assert rig.controller.reason is Reason.INTERNAL_ERROR
    assert_winds_down(rig, in_ramp=make_rig is rig_at_start)
    assert str(rig.controller.snapshot.error) == 'call 1'


def test_an_exception_before_any_command_commands_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(panda_arm())
    monkeypatch.setattr(TickMonitor, 'check', Broken())
    assert rig.tick() is None
    assert rig.state() is State.FAULT
    assert rig.controller.reason is Reason.INTERNAL_ERROR
    rig.controller.request_stop()
    assert rig.tick() is None
    assert rig.state() is State.STOPPED


def test_a_law_that_fails_to_start_again_winds_down(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = rig_in_motion()
    rig.controller.permitted = False
    rig.tick()
    monkeypatch.setattr(ControlLaw, 'reset', Broken())
    rig.controller.permitted = True
    rig.tick()
    assert rig.state() is State.HOLDING
    rig.run_until(State.FAULT)
    assert not rig.commands[-1].any()


@pytest.mark.parametrize('fails_again', [False, True])
def test_after_an_error_a_robot_that_another_controller_moved_is_held_where_it_is(
    monkeypatch: pytest.MonkeyPatch, *, fails_again: bool
) -> None:
    rig = Rig(panda_arm(), hold_duration=60.0)
    rig.activate()
    with monkeypatch.context() as patched:
        patched.setattr(ControlLaw, 'effort', Broken())
        rig.tick()
    rig.controller.permitted = False
    rig.tick()
    for _ in range(100):
        rig.q[1] += 0.002
        rig.tick()
    if fails_again:
        monkeypatch.setattr(ControlLaw, 'holding_effort', Broken())
    rig.controller.permitted = True
    rig.run(5.0)
    assert rig.state() is State.HOLDING
    assert rig.commands[-1] == pytest.approx(0.0 if fails_again else rig.gravity, abs=1e-9)


@pytest.mark.parametrize(('rate_limit', 'ramp_duration'), [(20.0, 0.4), (2000.0, 0.0)])
def test_a_stop_is_over_in_time_however_far_gravity_is_from_the_command(
    rate_limit: float, ramp_duration: float
) -> None:
    rig = Rig(
        panda_arm(), q=PANDA_POSE, rate=100.0, mode=Feedback, effort_limits=(30.0,),
        effort_rate_limit=(rate_limit,), ramp_duration=ramp_duration,
    )
    rig.effort = -30.0 * np.sign(rig.gravity)
    rig.tick()
    rig.controller.request_stop()
    took = rig.run_until(State.STOPPED)
    way = 30.0 + np.minimum(np.abs(rig.gravity), 30.0).max()
    assert took > way / rate_limit or ramp_duration  # gravity is not the aim within the ramp
    assert took < rig.resolved.greatest_stop_time + 3.0 * rig.period
