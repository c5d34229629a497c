# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The control tick by tick: how it starts, changes, follows and holds, and in which order."""

from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.feedforward import Reason, State
from rnea_ros.feedforward.laws import LAWS, ComputedTorque, ControlLaw, Feedforward, Gravity
from rnea_ros.feedforward.loaded_model import HardwareCompensation
from rnea_ros.feedforward.settings import SpringSettings, StaleAction
from support.control.control_rig import (
    PANDA_POSE,
    Array,
    Rig,
    law_effort,
    mixed_arm,
    panda_arm,
    setpoint,
    swing,
    two_joint_arm,
)

NAN, INF = np.nan, np.inf
RAMP = 0.5
GAINS = (60.0, 30.0), (6.0, 3.0)
"""kp and kd for joints of 100 N m."""

OFF = np.array([0.1, -0.05])
"""How far the position that a rig holds is off the measured one."""

MODES_THAT_FOLLOW = [mode for mode in LAWS.values() if mode.follows_motions]


def panda_rig(*, ramp_duration: float = RAMP, **settings: Any) -> Rig:
    """Return a Franka arm that stands bent, under gravity."""
    return Rig(panda_arm(), q=PANDA_POSE, ramp_duration=ramp_duration, **settings)


def swinging_rig(**settings: Any) -> Rig:
    """Return a two-joint arm that stands bent."""
    defaults: dict[str, Any] = {'kp': GAINS[0], 'kd': GAINS[1], 'ramp_duration': RAMP}
    return Rig(two_joint_arm(), q=(0.4, -0.9), **(defaults | settings))


def shares(ticks: int, rig: Rig) -> Array:
    """Return how much of a blend is over after each of some ticks, shape (ticks, 1)."""
    over: Array = np.minimum(np.arange(1, ticks + 1) * rig.period / RAMP, 1.0)
    return over[:, np.newaxis]


def settle(rig: Rig) -> Array:
    """Return the command once every blend is over."""
    rig.run(RAMP + 0.1)
    return rig.commands[-1]


def test_nothing_is_commanded_before_every_joint_has_a_valid_state() -> None:
    rig = panda_rig()
    names = rig.model.joint_names
    for _ in range(5):
        assert rig.tick(feed=False) is None
    rig.feed(names=names[:4])
    assert rig.step() is None
    rig.wait()
    rig.feed(names=names[4:], q=(NAN, 0.0, 0.0))
    assert rig.step() is None
    assert rig.state() is State.WAITING
    rig.wait()
    rig.feed(names=names[4:])
    assert rig.step() is not None
    assert rig.state() is State.RAMPING


def test_nothing_is_commanded_while_the_state_of_some_joint_is_too_old() -> None:
    rig = panda_rig()
    names = rig.model.joint_names
    rig.feed(names=names[:1])
    for _ in range(200):
        rig.wait()
        rig.feed(names=names[1:])
        if rig.now > 1000.1:
            assert rig.step() is None
            assert rig.state() is State.WAITING
    rig.feed(names=names[:1])
    assert rig.step() is not None


@pytest.mark.parametrize('action', StaleAction)
def test_a_controller_back_after_a_stop_is_ramped_to_the_last_command(action: StaleAction) -> None:
    rig = panda_rig(stale_action=action)
    rig.run(1.2 * RAMP)
    rig.controller.permitted = False
    rig.controller.request_stop()
    for _ in range(2000):
        assert rig.tick() is None
    assert rig.state() is State.STOPPED
    rig.controller.permitted = True
    last = rig.run(0.5)[-1]
    expected = rig.gravity if action is StaleAction.HOLD else 0.0 * rig.gravity
    tolerance = max(rig.controller.settings.effort_rate_limit) * rig.period
    np.testing.assert_allclose(last, expected, atol=tolerance)


@pytest.mark.parametrize(('effort', 'settings'), [
    (None, {}), *((bad, {}) for bad in (NAN, INF, -INF)),
    (3.0, {'start_from_measured_effort': False}),
    *((0.0, {'hardware_compensates': (part,)}) for part in HardwareCompensation),
])
def test_without_a_measured_effort_the_start_ramp_is_linear_from_zero(
    effort: float | None, settings: dict[str, Any]
) -> None:
    rig = panda_rig(**settings)
    if effort is not None:
        rig.effort = rig.gravity.copy()
        rig.effort[2] += effort
    commands = rig.run(1.2 * RAMP)
    own = HardwareCompensation.GRAVITY not in rig.settings.hardware_compensates
    np.testing.assert_allclose(commands, shares(600, rig) * rig.gravity * own, atol=1e-9)
    assert rig.state() is State.ACTIVE


def test_the_start_ramp_is_linear_from_the_measured_effort() -> None:
    rig = panda_rig()
    rig.effort = rig.gravity + np.array([1.0, -8.0, 3.0, 5.0, 0.5, -0.5, 0.2])
    share = shares(600, rig)
    commands = rig.run(1.2 * RAMP)
    expected = (1.0 - share) * rig.effort + share * rig.gravity
    np.testing.assert_allclose(commands, expected, atol=1e-9)


def test_no_effort_of_a_joint_that_is_not_commanded_is_missed() -> None:
    rig = Rig(mixed_arm(), joints=('lift', 'bend'), ramp_duration=RAMP)
    rig.effort = np.array([30.0, NAN, 5.0, NAN])
    rig.tick()
    share = shares(1, rig)[0]
    expected = (1.0 - share) * (30.0, 5.0) + share * rig.gravity
    np.testing.assert_allclose(rig.commands[0], expected)


@pytest.mark.parametrize('mode', MODES_THAT_FOLLOW)
def test_joints_that_are_not_commanded_are_expected_as_measured(mode: type[ControlLaw]) -> None:
    joints, numbers = ('bend', 'lift'), [2, 0]
    rig = Rig(
        mixed_arm(), q=(0.1, 0.7, -0.3, 0.5), joints=joints, mode=mode, kp=GAINS[0], kd=GAINS[1],
        ramp_duration=RAMP, joint_states_timeout=10.0,  # it stands still
    )
    rig.qd[:] = (0.2, -0.4, 0.3, 0.6)
    settle(rig)
    q_d, qd_d, qdd_d = np.array([-0.25, 0.15]), np.array([0.2, 0.1]), np.array([0.4, -0.2])
    position, velocity = rig.controller.measured()
    assert (position.tolist(), velocity.tolist()) == ([-0.3, 0.1], [0.3, 0.2])
    motion = setpoint(joints, q_d, qd_d)
    motion.qdd[:] = qdd_d
    rig.controller.follow(motion, None)
    command = rig.run(0.15)[-1]

    desired, gains = (rig.q.copy(), rig.qd.copy(), np.zeros(4)), (np.zeros(4), np.zeros(4))
    parts: tuple[Any, ...] = (q_d, qd_d, qdd_d, *GAINS)
    for whole, part in zip((*desired, *gains), parts, strict=True):
        whole[numbers] = part
    expected = law_effort(mode, rig.model, (rig.q, rig.qd), desired, gains)[numbers]
    np.testing.assert_allclose(command, expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(rig.controller.terms().total(), command, rtol=1e-9, atol=1e-9)


def test_the_terms_add_up_to_the_command_while_the_control_winds_down_too() -> None:
    rig = swinging_rig(compensate_coriolis=True, hold_duration=0.2, joint_states_timeout=10.0)
    rig.qd[:] = 1.0
    settle(rig)
    rig.controller.enter_fault(Reason.CLOCK_RESET, rig.now)
    rig.run(0.05)  # the rate limit takes the Coriolis efforts away
    seen = set()
    for _ in range(round((0.2 + RAMP) / rig.period)):
        seen.add(rig.state())
        rig.tick()
        terms = rig.controller.terms()
        np.testing.assert_allclose(terms.total(), rig.commands[-1], atol=1e-9)
    assert seen == {State.HOLDING, State.RAMPING_DOWN, State.FAULT}


def holding_rig(**settings: Any) -> tuple[Rig, Array]:
    """Return a rig that holds a position off the measured one, and its settled command."""
    rig = swinging_rig(**({'mode': Feedforward} | settings))
    settle(rig)
    rig.controller.follow(setpoint(rig.model.joint_names, rig.q + OFF), None)
    return rig, settle(rig)


def expected_hold(rig: Rig, mode: type[ControlLaw]) -> Array:
    """Return what a mode commands for that position."""
    still = np.zeros(2)
    desired = (rig.q + OFF, still, still)
    return law_effort(mode, rig.model, (rig.q, still), desired, GAINS)


@pytest.mark.parametrize('mode', [mode for mode in LAWS.values() if mode is not Feedforward])
def test_a_change_of_mode_fades_in_during_ramp_duration(mode: type[ControlLaw]) -> None:
    rig, before = holding_rig()
    after = expected_hold(rig, mode)
    assert np.abs(after - before).max() > 0.3
    rig.change(mode=mode)
    share = shares(600, rig)
    commands = rig.run(1.2 * RAMP)
    np.testing.assert_allclose(commands, (1.0 - share) * before + share * after, atol=1e-9)
    assert rig.controller.law.name == mode.name
    assert rig.state() is State.ACTIVE


def test_factors_and_springs_fade_in_and_are_held_until_the_ramp_to_zero() -> None:
    rig, before = holding_rig(hold_duration=0.2)
    rig.change(gravity_factor=(0.7, 1.6), spring=SpringSettings((0.0, 3.0), (0.5,)))
    stiffness, held = np.array([0.0, 3.0]), rig.model.gravity_torques(rig.q + OFF)
    gravity = (0.7, 1.6) * held + stiffness * (rig.q + OFF - 0.5)
    after = before + gravity - held
    share = shares(600, rig)
    commands = rig.run(1.2 * RAMP)
    np.testing.assert_allclose(commands, (1.0 - share) * before + share * after, atol=1e-9)
    np.testing.assert_allclose(rig.controller.terms().gravity, gravity, atol=1e-9)
    rig.controller.enter_fault(Reason.CLOCK_RESET, rig.now)
    rig.run(0.15)
    gravity = (0.7, 1.6) * rig.gravity + stiffness * (rig.q - 0.5)
    np.testing.assert_allclose(rig.commands[-1], gravity, atol=1e-9)
    rig.run_until(State.FAULT)
    assert not rig.commands[-1].any()


def test_a_change_is_prepared_before_its_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    rig, _ = holding_rig()
    rig.change(mode=ComputedTorque)

    def too_late(model: RobotModel) -> None:
        raise AssertionError('memory is allocated and kernels are looked up in a tick')

    monkeypatch.setattr(RobotModel, 'workspace', too_late)
    rig.tick()
    assert isinstance(rig.controller.law, ComputedTorque)
    assert rig.controller.snapshot.error is None


def test_mode_gravity_drops_a_motion_that_waits_for_its_start() -> None:
    rig = swinging_rig(mode=Feedforward)
    settle(rig)
    motion = swing(rig.model.joint_names, rig.q, rig.q + 0.5, 1.0)
    rig.controller.follow(motion, rig.now + 2.0 * RAMP)
    rig.change(mode=Gravity)
    rig.run(0.1)
    rig.change(mode=Feedforward)
    rig.run(3.0 * RAMP)
    np.testing.assert_allclose(settle(rig), rig.gravity, rtol=1e-9, atol=1e-10)


def test_a_cancelled_motion_is_held_where_it_is_with_velocity_zero() -> None:
    rig = swinging_rig(mode=Feedforward, joint_states_timeout=10.0)  # it stands still
    settle(rig)
    rig.controller.follow(swing(rig.model.joint_names, rig.q, rig.q + 0.8, 1.0), None)
    rig.run(0.5)
    position, velocity = rig.desired()
    assert velocity.all()
    rig.controller.cancel()
    rig.run(2.0)
    held, velocity = rig.desired()
    np.testing.assert_allclose(held, position)
    assert velocity.tolist() == [0.0, 0.0]
    expected = rig.model.gravity_torques(held) + GAINS[0] * (held - rig.q)
    np.testing.assert_allclose(rig.commands[-1], expected, rtol=1e-9)


def test_a_cancel_with_nothing_to_cancel_leaves_plain_gravity() -> None:
    rig = swinging_rig(mode=Feedforward)
    settle(rig)
    rig.controller.cancel()
    rig.q[:] = (0.9, 0.2)
    np.testing.assert_allclose(settle(rig), rig.gravity, rtol=1e-9)


@pytest.mark.parametrize(('qd', 'flagged'), [((0.5, -0.5), True), ((0.0, 0.0), False)])
def test_a_stopped_stream_is_flagged_if_moving(qd: tuple[float, float], flagged: bool) -> None:
    rig = swinging_rig(mode=Feedforward, reference_timeout=0.1)
    settle(rig)
    names = rig.model.joint_names
    for _ in range(10):
        rig.controller.follow(setpoint(names, rig.q + OFF, qd), None)
        rig.run(0.05)
        assert Reason.REFERENCE_STALE not in rig.controller.flags
    rig.run(0.06)
    assert (Reason.REFERENCE_STALE in rig.controller.flags) is flagged
    assert rig.controller.snapshot.flag_counts[Reason.REFERENCE_STALE] == flagged
    expected = expected_hold(rig, Feedforward)
    np.testing.assert_allclose(rig.run(0.2)[-1], expected, rtol=1e-9, atol=1e-9)
    assert rig.desired()[1].tolist() == [0.0, 0.0]
    assert rig.state() is (State.DEGRADED if flagged else State.ACTIVE)
    rig.controller.follow(setpoint(names, rig.q), None)
    rig.run(0.002)
    assert Reason.REFERENCE_STALE not in rig.controller.flags


def test_requests_act_at_the_next_tick_in_their_order() -> None:
    rig = swinging_rig(mode=Feedforward)
    settle(rig)
    names = rig.model.joint_names
    rig.controller.follow(setpoint(names, (1.0, 1.0)), None)
    rig.controller.follow(setpoint(names, (0.5, 0.6)), None)
    assert rig.desired()[0].tolist() == [0.0, 0.0]
    rig.tick()
    assert rig.desired()[0].tolist() == [0.5, 0.6]
    rig.controller.cancel()
    rig.controller.follow(setpoint(names, (0.7, 0.8)), None)
    rig.tick()
    assert rig.desired()[0].tolist() == [0.7, 0.8]
    rig.controller.request_stop()
    assert rig.state() is State.ACTIVE
    rig.tick()
    assert rig.state() is not State.ACTIVE
