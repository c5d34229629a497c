# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What ends or interrupts a start ramp goes down, or on, from the share that it has reached."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward import Reason, State
from rnea_ros.feedforward.laws import ComputedTorque, ControlLaw, Feedforward, Gravity
from rnea_ros.feedforward.settings import StaleAction
from support.control.control_rig import PANDA_POSE, Rig, panda_arm, setpoint, swing

RAMP = 1.0
PART = 0.05
"""Time after the start at which something happens, s."""


def ramping_rig(seconds: float = PART, effort: Any = None, **settings: Any) -> Rig:
    """Return a Franka arm that has started, without or with measured efforts."""
    rig = Rig(panda_arm(), q=PANDA_POSE, **{'ramp_duration': RAMP, 'kp': (50.0,), **settings})
    rig.effort = effort
    rig.run(seconds)
    return rig


def stop(rig: Rig) -> None:
    rig.controller.request_stop()


def fault(rig: Rig) -> None:
    rig.controller.request_fault(Reason.CLOCK_RESET)


def lost(rig: Rig) -> None:
    rig.run_until(State.HOLDING, feed=False)


def away(rig: Rig) -> None:
    """Let the effort controller leave for a tick, and stop when it is back."""
    rig.controller.permitted = False
    rig.tick()
    rig.controller.permitted = True
    stop(rig)


ENDS = pytest.mark.parametrize('end', [stop, fault, lost, away])


@ENDS
@pytest.mark.parametrize('action', StaleAction)
@pytest.mark.parametrize('mode', [Gravity, ComputedTorque])
def test_no_end_raises_an_effort_faster_than_the_ramp(
    mode: type[ControlLaw], action: StaleAction, end: Callable[[Rig], None]
) -> None:
    rig = ramping_rig(mode=mode, stale_action=action)
    end(rig)
    reached = np.abs(rig.commands[-1])
    assert (reached <= 0.16 * np.abs(rig.gravity)).all()
    commands = rig.run(2.5, feed=end is not lost)
    assert (np.abs(commands) <= reached + 1e-9).all()
    assert rig.state() is not State.RAMPING


@ENDS
def test_from_measured_efforts_no_end_of_a_start_steps(end: Callable[[Rig], None]) -> None:
    effort = np.array([3.0, -20.0, 3.0, 12.0, 0.5, 1.0, 0.2])
    rig = ramping_rig(effort=effort)
    end(rig)
    steps = np.abs(np.diff(rig.run(3.0, feed=end is not lost), axis=0))
    assert steps.max() < 1.1 * np.abs([effort, rig.gravity]).max() * rig.period / RAMP


def test_a_false_first_message_does_not_raise_the_effort() -> None:
    rig = Rig(panda_arm(), q=0.0, ramp_duration=RAMP, velocity_limit_factor=2.0)
    rig.tick()
    rig.q[:] = PANDA_POSE
    for _ in range(2000):
        rig.wait()
        rig.feed()
        rig.step()
    assert np.abs(rig.commands).max() <= 0.11 * np.abs(rig.gravity).max()


def test_a_stall_in_the_ramp_returns_from_the_share_reached() -> None:
    rig = ramping_rig()
    lost(rig)
    reached = rig.commands[-1]
    rig.run_until(State.RAMPING)
    commands = np.array([rig.commands[-1], *rig.run(RAMP)])
    assert np.abs(np.diff(commands, axis=0)).max() < 1.01 * np.abs(rig.gravity).max() / 1000.0
    np.testing.assert_allclose(commands[0], reached, atol=0.05)
    np.testing.assert_allclose(commands[-1], rig.gravity, atol=1e-9)


def test_a_blend_in_state_active_is_no_part_of_what_is_held() -> None:
    rig = ramping_rig(1.2 * RAMP, mode=Feedforward, hold_duration=0.5)
    rig.controller.follow(setpoint(rig.model.joint_names, rig.q + 0.3), None)
    rig.run(0.3)
    rig.change(kp=(0.0,))
    rig.run(0.2)
    fault(rig)
    np.testing.assert_allclose(rig.run(0.4)[-1], rig.gravity, atol=1e-9)


@pytest.mark.parametrize('ticks', [1, 300])
@pytest.mark.parametrize('after', [PART, 1.5 * RAMP])
def test_withheld_commands_start_anew(after: float, ticks: int) -> None:
    rig = ramping_rig(after)
    rig.controller.permitted = False
    assert not rig.run(ticks * rig.period).size
    rig.controller.permitted = True
    commands = rig.run(0.5 * RAMP)
    assert rig.state() is State.RAMPING
    share = np.arange(1, len(commands) + 1)[:, np.newaxis] * rig.period / RAMP
    np.testing.assert_allclose(commands, share * rig.gravity, atol=1e-9)
    rig.run(0.6 * RAMP)
    assert rig.state() is State.ACTIVE


def swing_by(rig: Rig, way: float) -> Any:
    return swing(rig.model.joint_names, rig.q, rig.q + way, 2.0)


@pytest.mark.parametrize('waiting', [False, True])
@pytest.mark.parametrize('held', [False, True])
def test_an_arm_that_was_moved_meanwhile_is_not_pulled_back(held: bool, waiting: bool) -> None:
    rig = ramping_rig(1.5 * RAMP, mode=Feedforward)
    if held:
        rig.controller.follow(setpoint(rig.model.joint_names, rig.q), None)
        rig.run(0.3)
    if waiting:
        rig.controller.follow(swing_by(rig, 0.5), rig.now + 0.2)
    rig.controller.permitted = False
    rig.run(0.1)
    goal = rig.pursue(swing_by(rig, 0.3), rig.now + 5.0)  # must not wait
    for _ in range(300):
        rig.q += 0.002  # another controller
        rig.tick()
    assert goal.result.text.startswith('commands_withheld: ')
    rig.controller.permitted = True
    commands = rig.run(1.5 * RAMP)
    assert (np.abs(commands) <= np.abs(rig.gravity) + 1e-9).all()
    np.testing.assert_allclose(commands[-1], rig.gravity, atol=1e-9)
    desired = rig.controller.motions.reference_at(rig.now)
    assert (desired is not None) == held
    if desired is not None:
        np.testing.assert_allclose(desired.position, rig.q)


def shake(rig: Rig, seconds: float, until: State) -> float:
    """Let the arm swing by hand or base; return the time until a state."""
    began = rig.now
    while rig.state() is not until:
        assert rig.now - began < seconds, f'still {rig.state()}'
        rig.q[1] = PANDA_POSE[1] + 0.8 * np.sin(20.0 * rig.now)
        rig.tick()
    return rig.now - began


@pytest.mark.parametrize('requested', [False, True])
def test_holding_ends_by_time_while_the_arm_swings(requested: bool) -> None:
    rig = ramping_rig(1.5 * RAMP, hold_duration=0.5, effort_rate_limit=(60.0,))
    (stop if requested else fault)(rig)
    rig.tick()
    swing_time = 2.0 * 87.0 / 60.0
    took = shake(rig, 10.0, State.RAMPING_DOWN)
    assert took <= swing_time + 0.5 * (not requested) + 2.0 * rig.period
    shake(rig, RAMP + swing_time, State.STOPPED if requested else State.FAULT)
    assert not rig.commands[-1].any()
