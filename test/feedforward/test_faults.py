# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Faults of joint states and time, stops, exceptions: to gravity, hold, ramp to zero, end.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.feedforward import Reason, State
from rnea_ros.feedforward.inputs import JointStateMonitor
from rnea_ros.feedforward.inputs.joint_bounds import LOWER, MAX_MEASURED_VELOCITY, UPPER
from rnea_ros.feedforward.law import ComputedTorque, ControlLaw, Feedback, Feedforward
from rnea_ros.feedforward.settings import StaleAction
from rnea_ros.feedforward.trajectory import Reference
from support.control.control_rig import (
    PANDA_POSE,
    Array,
    Rig,
    mixed_arm,
    panda_arm,
    setpoint,
    swing,
)
from support.models.robots import joint, link, load, robot

RATES = [1000.0, 500.0]
RAMP, HOLD = 0.3, 0.4
GOING_ON = (State.ACTIVE, State.DEGRADED)
RUNNING = (State.RAMPING, *GOING_ON)


def rig_in_motion(**settings: Any) -> Rig:
    """
    Return a Franka arm that follows a long motion, with gains, off its desired position.

    Joint states are stale after twenty periods, so that stalls are short.
    """
    defaults: dict[str, Any] = {
        'joint_states_timeout': 20.0 / settings.get('rate', 1000.0), 'mode': Feedforward,
        'kp': (60.0,), 'kd': (4.0,), 'ramp_duration': RAMP, 'hold_duration': HOLD,
    }
    rig = Rig(panda_arm(), q=PANDA_POSE, **(defaults | settings))
    rig.activate()
    start = rig.q + 0.05
    rig.controller.follow(swing(rig.model.joint_names, start, start + 0.4, 20.0), None)
    for _ in range(100):
        follow_along(rig)
        rig.tick()
    return rig


def rig_at_start(**settings: Any) -> Rig:
    """Return a Franka arm a third of whose start ramp is over."""
    rig = Rig(
        panda_arm(), q=PANDA_POSE, ramp_duration=RAMP, hold_duration=HOLD,
        **{'joint_states_timeout': 0.02, **settings},
    )
    rig.run(RAMP / 3.0)
    return rig


def follow_along(rig: Rig) -> None:
    """Let the robot move, a little slower than it should."""
    rig.qd[:] = 0.01
    rig.q += rig.qd * rig.period


def assert_winds_down(
    rig: Rig, *, feed: bool, held: bool = True, in_ramp: bool = False
) -> None:
    """
    Step a rig in which a fault was just found through all that must follow.

    :param feed: whether joint states come meanwhile
    :param held: whether gravity is held for hold_duration, as it is after a fault
    :param in_ramp: whether the fault ended a start ramp, whose share is held instead
    """
    gravity, began = rig.gravity, len(rig.commands) - 1
    start = rig.commands[began - 1]
    if in_ramp:
        gravity = start
    took = rig.run_until(State.RAMPING_DOWN, feed=feed)
    # Every joint goes straight to gravity, at its rate limit.
    commands = np.array(rig.commands[began:])
    allowed = np.arange(1, len(commands) + 1)[:, np.newaxis] * rig.greatest_step
    way = gravity - start
    expected = start + np.sign(way) * np.minimum(np.abs(way), allowed)
    np.testing.assert_allclose(commands, expected, rtol=1e-6, atol=1e-9)
    if held:
        assert took == pytest.approx(HOLD, abs=1.5 * rig.period)
    # From there it is a straight line to zero.
    ticks = round(RAMP / rig.period)
    ramp = np.array([rig.tick(feed=feed) for _ in range(ticks)])
    left = 1.0 - np.arange(1, ticks + 1)[:, np.newaxis] / ticks
    np.testing.assert_allclose(ramp, left * gravity, atol=1e-9)
    rig.run(2.0 * rig.period, feed=feed)
    assert not rig.commands[-1].any()
    assert rig.state() is State.FAULT


@pytest.mark.parametrize('start', [0.0, 86_399.999_7, 3e6 + 0.1])
@pytest.mark.parametrize(('rate', 'given', 'timeout'), [
    (1000.0, 0.0, 0.1), (100.0, 0.0, 0.2), (1000.0, 0.001, 0.001), (1000.0, 0.005, 0.005),
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


@pytest.mark.parametrize('rate', RATES)
def test_joint_states_that_stop_are_flagged_after_two_periods(rate: float) -> None:
    rig = rig_in_motion(rate=rate)
    assert not rig.controller.flags
    for _ in range(2):
        assert Reason.JOINT_STATES_LATE not in rig.controller.flags
        rig.wait(0.99)
        rig.step()
    assert not rig.controller.flags
    rig.wait(0.03)
    rig.step()
    assert rig.controller.flags == {Reason.JOINT_STATES_LATE}
    assert rig.state() is State.DEGRADED
    assert rig.controller.flag_counts == Counter({Reason.JOINT_STATES_LATE: 1})
    rig.tick()
    assert not rig.controller.flags
    assert rig.state() is State.ACTIVE
    assert rig.controller.flag_counts == Counter({Reason.JOINT_STATES_LATE: 1})
    rig.run(0.01, feed=False)
    assert rig.controller.flag_counts == Counter({Reason.JOINT_STATES_LATE: 2})


@pytest.mark.parametrize(('settings', 'away'), [
    ({}, 0.5),
    ({'mode': Feedback, 'effort_rate_limit': (200.0,)}, 10.0),
])
def test_stale_joint_states_lead_to_gravity_then_to_zero_then_to_a_fault(
    settings: dict[str, Any], away: float
) -> None:
    rig = rig_in_motion(**settings)
    assert np.abs(rig.commands[-1] - rig.gravity).max() > away
    rig.run_until(State.HOLDING, feed=False)
    assert_winds_down(rig, feed=False)
    assert rig.controller.reason is Reason.JOINT_STATES_STALE


def test_joint_states_after_hold_duration_do_not_restart_the_control() -> None:
    rig = rig_in_motion()
    rig.run_until(State.HOLDING, feed=False)
    rig.run(HOLD + 0.01, feed=False)
    rig.effort = np.full(7, 10.0)
    names = rig.model.joint_names
    for _ in range(500):
        rig.controller.follow(setpoint(names, rig.q), None)
        rig.change(kp=(10.0,))
        rig.tick()
        assert rig.state() not in (State.WAITING, *RUNNING)
    assert rig.state() is State.FAULT
    assert not rig.commands[-1].any()


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


@pytest.mark.parametrize('rate', RATES)
def test_up_to_nineteen_lost_samples_in_a_row_stop_nothing(rate: float) -> None:
    rig = rig_in_motion(rate=rate)
    rng = np.random.default_rng(19)
    for lost in (19, 1, 19):
        for _ in range(lost):
            follow_along(rig)
            # The loop's thread wakes up now a little early, now a little late.
            rig.wait(rng.uniform(0.98, 1.02))
            rig.step()
        rig.qd[:] = rng.uniform(-1.0, 1.0, 7)
        rig.q += 0.01 * rig.qd  # the robot was somewhere else all the while
        rig.tick()
        assert rig.state() in GOING_ON
    assert rig.controller.reason is None


def one_bad(values: Array, bad: float) -> Array:
    return np.where(np.arange(values.size) == 3, bad, values)


@pytest.mark.parametrize(
    ('sample', 'reason'),
    [
        (lambda rig, k: {'stamp': rig.now - 0.001 * k}, Reason.STAMP_NOT_NEWER),
        (lambda rig, k: {'stamp': rig.now - 0.002 * k}, Reason.STAMP_NOT_NEWER),
        (lambda rig, k: {'stamp': rig.now + 0.035 + 0.03 * (k % 2)}, Reason.STAMP_IN_FUTURE),
        *(
            (lambda rig, _, bad=bad: {'q': one_bad(rig.q, bad)}, Reason.NOT_FINITE)
            for bad in (np.nan, -np.inf)
        ),
        (lambda rig, _: {'qd': one_bad(rig.qd, np.nan)}, Reason.NOT_FINITE),
    ],
)
def test_wrong_joint_states_are_rejected_counted_and_as_good_as_none(
    sample: Callable[[Rig, int], dict[str, Any]], reason: Reason
) -> None:
    rig = rig_in_motion()
    for k in range(1, 21):
        rig.wait()
        given: dict[str, Any] = {'q': rig.q + 0.5} | sample(rig, k)
        assert rig.feed(**given) is reason
        rig.step()
        assert rig.states.rejections == Counter({reason: k})
        np.testing.assert_array_equal(rig.states.position, rig.q)
    assert rig.state() is State.HOLDING
    assert rig.controller.reason is Reason.JOINT_STATES_STALE


@pytest.mark.parametrize('rate', RATES)
def test_values_frozen_during_a_motion_are_flagged_within_100_ms(rate: float) -> None:
    rig = rig_in_motion(rate=rate)
    frozen_since = rig.now
    while not rig.controller.flags:
        rig.tick()
        assert rig.now - frozen_since <= 0.1
    assert rig.controller.flags == {Reason.JOINT_STATES_FROZEN}
    assert rig.state() in GOING_ON
    follow_along(rig)
    rig.run(2 * rig.period)
    assert not rig.controller.flags
    assert rig.controller.flag_counts == Counter({Reason.JOINT_STATES_FROZEN: 1})


def test_a_motion_after_a_long_rest_is_not_flagged_too_early() -> None:
    rig = Rig(panda_arm(), q=PANDA_POSE, mode=Feedforward, ramp_duration=RAMP)
    rig.run(1.0)
    goal = rig.q + 0.3
    for _ in range(2):
        rig.controller.follow(swing(rig.model.joint_names, rig.q, goal, 0.4), None)
        rig.run(0.05)
        assert not rig.controller.flags  # the robot answers only now
        for _ in range(350):
            follow_along(rig)
            rig.tick()
        rig.run(0.5)  # at its goal, at rest
        assert not rig.controller.flag_counts


def telescope() -> RobotModel:
    """Return an arm that gets longer: the gravity torque of its root has no bound."""
    return load(robot(
        link('base'), link('outer', 2.0), link('inner', 1.0, com=(0.5, 0.0, 0.0)),
        joint('root', 'revolute', 'base', 'outer', axis=(0, 1, 0)),
        joint('slide', 'prismatic', 'outer', 'inner', axis=(1, 0, 0)),
    ))


def unbounded(rig: Rig) -> Rig:
    """Return a rig whose joints may measure any finite number."""
    rig.states.bounds.table[[UPPER, MAX_MEASURED_VELOCITY]] = np.inf
    rig.states.bounds.table[LOWER] = -np.inf
    return rig


@pytest.mark.parametrize('field', ['q', 'qd'])
@pytest.mark.parametrize('mode', [Feedback, Feedforward, ComputedTorque])
def test_finite_numbers_that_overflow_raise_nothing(mode: type[ControlLaw], field: str) -> None:
    ends = set()
    for model, number in ((telescope(), 0), (telescope(), 1), (mixed_arm(), 2)):
        rig = unbounded(Rig(
            model, q=0.3, rate=100.0, mode=mode, kp=(10.0,), kd=(1.0,), compensate_coriolis=True,
            ramp_duration=RAMP, hold_duration=HOLD,
        ))
        rig.activate()
        rig.controller.follow(setpoint(rig.model.joint_names, rig.q), None)
        rig.run(0.1)
        getattr(rig, field)[number] = 1e308
        with np.errstate(all='ignore'):  # warnings are errors in these tests, not in use
            rig.run(RAMP + HOLD + 0.5)
        assert rig.controller.error is None
        ends.add((rig.state(), rig.controller.reason))
    assert ends <= {
        (State.ACTIVE, None), (State.FAULT, Reason.OUTPUT_NOT_FINITE),
        (State.FAULT, Reason.JOINT_STATES_FROZEN),  # a speed, and positions that stay
    }


def test_where_gravity_is_not_finite_that_of_the_position_before_is_held() -> None:
    rig = unbounded(Rig(telescope(), q=(0.3, 0.2), ramp_duration=RAMP, hold_duration=HOLD))
    rig.activate()
    gravity = rig.gravity
    rig.q[1] = 1e308
    with np.errstate(all='ignore'):
        rig.tick()
        assert rig.state() is State.HOLDING
        assert rig.controller.reason is Reason.OUTPUT_NOT_FINITE
        np.testing.assert_allclose(rig.run(0.9 * HOLD), [gravity] * 360, rtol=1e-9)


def test_where_gravity_never_was_finite_the_measured_effort_is_ramped_down() -> None:
    rig = unbounded(Rig(telescope(), q=(0.3, 1e308), ramp_duration=RAMP, hold_duration=0.0))
    rig.effort = np.array([50.0, 20.0])
    with np.errstate(all='ignore'):
        commands = rig.run(RAMP + 0.01)
    assert (np.diff(commands, axis=0) <= 0.0).all()
    assert rig.state() is not State.ACTIVE
    assert not commands[-1].any()


def test_an_effort_not_finite_ends_the_control_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = rig_in_motion()
    effort = ControlLaw.effort

    monkeypatch.setattr(ControlLaw, 'effort', lambda *given: one_bad(effort(*given), np.nan))
    rig.tick()
    assert rig.state() is State.HOLDING
    assert rig.controller.reason is Reason.OUTPUT_NOT_FINITE
    assert_winds_down(rig, feed=True)


@pytest.mark.parametrize(('field', 'value', 'reason'), [
    ('q', None, Reason.POSITION_JUMP),
    *(('qd', value, Reason.VELOCITY_TOO_HIGH) for value in (6.0, -1e300)),
])
def test_false_positions_and_velocities_are_rejected_and_move_no_command(
    field: str, value: float | None, reason: Reason
) -> None:
    rig, other = rig_in_motion(velocity_limit_factor=2.0), rig_in_motion(velocity_limit_factor=2.0)
    for k in range(200):
        follow_along(rig)
        follow_along(other)
        other.tick(feed=k % 5 != 0)
        if k % 5 == 0:
            rig.wait()
            false = rig.q + 0.1 if value is None else one_bad(rig.qd, value)
            assert rig.feed(**{field: false}) is reason  # type: ignore[arg-type]
            np.testing.assert_array_equal(rig.step(), other.commands[-1])
        else:
            np.testing.assert_array_equal(rig.tick(), other.commands[-1])
    assert rig.state() in GOING_ON
    assert rig.states.rejections == Counter({reason: 40})


@pytest.mark.parametrize(('timeout', 'moving', 'jump', 'rate'), [
    (0.0, True, 0.03, 500.0), (0.2, True, 0.03, 1000.0), (0.0, False, 100.0, 1000.0),
])
def test_a_persistent_jump_ends_the_control_despite_lost_samples(
    timeout: float, moving: bool, jump: float, rate: float
) -> None:
    rig = rig_in_motion(velocity_limit_factor=2.0, rate=rate, joint_states_timeout=timeout)
    newest = rig.now
    at = rig.q.copy()
    while rig.state() in GOING_ON:
        if moving:
            follow_along(rig)
        rig.wait()
        assert rig.feed(q=rig.q + np.array([0.0] * 4 + [jump] + [0.0] * 2)) is not None
        rig.step()
    assert rig.now - newest == pytest.approx(rig.resolved.joint_states_timeout)
    assert rig.controller.reason is Reason.JOINT_STATES_STALE
    np.testing.assert_array_equal(rig.states.position, at)


@pytest.mark.parametrize('step', [-3600.0, -0.005, 0.02, 1e6])
@pytest.mark.parametrize('whose', ['the robot', 'the node', 'both'])
def test_a_wall_clock_that_is_set_does_not_end_the_control(whose: str, step: float) -> None:
    rig = rig_in_motion()
    for k in range(300):
        off = step if k >= 100 else 0.0
        follow_along(rig)
        rig.wait()
        rig.feed(
            stamp=rig.now + off * (whose != 'the node'),
            clock=rig.now + off * (whose != 'the robot'),
        )
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
    while rig.state() in RUNNING:
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


@pytest.mark.parametrize('rate', RATES)
@pytest.mark.parametrize('state', [State.RAMPING, State.ACTIVE])
def test_a_stop_leads_to_gravity_or_its_share_and_at_once_to_zero(
    state: State, rate: float
) -> None:
    rig = rig_at_start(rate=rate) if state is State.RAMPING else rig_in_motion(rate=rate)
    assert rig.state() is state
    rig.qd[:] = 0.0
    rig.controller.request_stop()
    start = rig.commands[-1]
    rig.tick()
    assert rig.controller.stop_requested
    assert rig.controller.reason is Reason.STOP_REQUESTED
    began = len(rig.commands)
    to_gravity = np.abs(start - rig.gravity) / rig.greatest_step * (state is State.ACTIVE)
    rig.run_until(State.STOPPED)
    ticks = len(rig.commands) - began
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


def test_time_that_is_set_back_ends_the_control() -> None:
    rig = rig_in_motion()
    rig.now = 0.0
    rig.controller.enter_fault(Reason.CLOCK_RESET, rig.now)
    rig.tick(feed=False)
    assert rig.controller.reason is Reason.CLOCK_RESET
    assert_winds_down(rig, feed=False)


class CallCounter:
    """Raises at every call, another error each time."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, *arguments: object, **keywords: object) -> Any:
        self.calls += 1
        raise RuntimeError(f'call {self.calls}')


@pytest.mark.parametrize(('owner', 'method'), [
    (ControlLaw, 'effort'), (ControlLaw, 'holding_effort'), (Reference, 'advance'),
    (JointStateMonitor, 'age'), (JointStateMonitor, 'late'),
])
@pytest.mark.parametrize('in_motion', [True, False])
def test_an_exception_in_a_tick_winds_down_and_the_first_one_is_kept(
    monkeypatch: pytest.MonkeyPatch, owner: type, method: str, in_motion: bool
) -> None:
    rig = rig_in_motion() if in_motion else rig_at_start()
    assert rig.controller.error is None
    monkeypatch.setattr(owner, method, CallCounter())
    rig.tick()
    assert rig.state() is State.HOLDING
    assert rig.controller.reason is Reason.INTERNAL_ERROR
    assert_winds_down(rig, feed=False, in_ramp=not in_motion)
    assert str(rig.controller.error) == 'call 1'


def test_an_exception_does_not_stop_the_ramp_down(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = rig_in_motion()
    rig.controller.request_stop()
    rig.run(0.05)
    monkeypatch.setattr(ControlLaw, 'holding_effort', CallCounter())
    rig.run_until(State.STOPPED)
    assert not rig.commands[-1].any()
    assert str(rig.controller.error) == 'call 1'


def test_an_exception_before_any_command_commands_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(panda_arm())
    monkeypatch.setattr(JointStateMonitor, 'age', CallCounter())
    assert rig.tick() is None
    assert rig.state() is State.FAULT
    assert rig.controller.reason is Reason.INTERNAL_ERROR
    rig.controller.request_stop()
    assert rig.tick() is None
    assert rig.state() is State.STOPPED


def test_reading_flags_and_counts_during_a_tick_is_safe() -> None:
    rig = rig_in_motion()
    rig.wait()
    rig.feed(stamp=1.0)
    rig.run(0.005, feed=False)
    readers: list[Callable[[], object]] = [
        iter(rig.states.rejections.items()).__next__,
        iter(rig.controller.flag_counts.items()).__next__, iter(rig.controller.flags).__next__,
    ]
    rig.tick()
    rig.wait()
    rig.feed(q=np.full(7, np.nan))
    rig.run(0.2)
    assert len(rig.states.rejections) == 2
    assert len(rig.controller.flag_counts) == 2
    for read in readers:
        read()


@pytest.mark.parametrize(('rate_limit', 'ramp_duration'), [
    (20.0, 0.0), (20.0, 0.4), (100.0, 0.4), (2000.0, 0.0),
])
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
