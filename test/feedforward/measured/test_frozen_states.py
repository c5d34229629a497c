# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Joint states that repeat old values in a motion, and two sources that contradict each other."""

from collections.abc import Sequence
import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from rnea_ros.feedforward import CONTROLLING, Reason, State
from rnea_ros.feedforward.laws import ComputedTorque, Feedforward, Gravity
from support.control.control_rig import (
    PANDA_POSE,
    Array,
    Rig,
    cubic,
    panda_arm,
    setpoint,
    swing,
    two_joint_arm,
)

NAMES = ('shoulder', 'elbow')


class Arm(Rig):
    """An arm of two joints that follows its commands, without friction, as forward dynamics."""

    def __init__(self, **options: Any) -> None:
        defaults: dict[str, Any] = {
            'rate': 500.0, 'mode': ComputedTorque, 'kp': (100.0,), 'kd': (20.0,),
            'ramp_duration': 0.1, 'velocity_limit_factor': 10.0,
        }
        super().__init__(two_joint_arm(), q=(0.3, 0.5), **(defaults | options))
        self.speeds: list[float] = []

    def move(self, command: Array | None) -> None:
        """Let the arm move for a period."""
        if command is not None:
            qdd = self.model.forward_dynamics(self.q, self.qd, command - 0.1 * self.qd)
            self.qd += qdd * self.period
            self.q += self.qd * self.period
        self.speeds.append(float(np.abs(self.qd).max()))

    def advance(self, seconds: float, *, frozen: bool = False) -> None:
        """Let time pass; ``frozen``: the driver repeats the last positions and velocities."""
        last = self.q.copy(), self.qd.copy()
        for _ in range(round(seconds / self.period)):
            self.wait()
            q, qd = last if frozen else (self.q, self.qd)
            self.feed(q=q, qd=qd)
            self.move(self.step())


def arm_in_motion() -> tuple[Arm, Any]:
    arm = Arm()
    arm.run(0.3)  # held by its brakes
    goal = arm.pursue(swing(NAMES, arm.q, arm.q + 0.8, 4.0))
    arm.advance(1.0)
    assert arm.state() in CONTROLLING
    return arm, goal


@pytest.mark.parametrize(('duration', 'at'), [(0.2, 0.5), (0.9, 0.0)])
def test_frozen_states_in_a_motion_hold_gravity_and_the_control_returns(
    duration: float, at: float
) -> None:
    arm, goal = arm_in_motion()
    arm.advance(at)
    arm.advance(duration, frozen=True)
    assert arm.state() is State.HOLDING
    assert arm.controller.reason is Reason.JOINT_STATES_FROZEN
    assert goal.result.text.startswith('joint_states_frozen')
    arm.advance(2.0)
    assert arm.state() is State.ACTIVE
    assert max(arm.speeds) < 0.6  # the motion has 0.3 rad/s
    assert arm.speeds[-1] < 0.01
    assert str(arm.controller.snapshot.stall).startswith('joint states repeated')


@pytest.mark.parametrize('live_efforts', [False, True])
@pytest.mark.parametrize('holds', [False, True])
def test_a_fast_joint_cannot_repeat_its_values(holds: bool, live_efforts: bool) -> None:
    arm, _ = arm_in_motion()
    if holds:
        arm.controller.cancel()
        arm.advance(0.01)
    assert np.abs(arm.qd).max() > 0.2
    q, qd = arm.q.copy(), arm.qd.copy()
    for tick in range(150):
        if not holds and tick % 10 == 0:  # each begins where the arm is said to be
            arm.controller.follow(swing(NAMES, arm.states.position, q + 0.04, 0.4), None)
        arm.wait()
        arm.feed(q=q, qd=qd, effort=(0.01 * (tick % 7), 0.0) if live_efforts else None)
        arm.move(arm.step())
    assert arm.state() is State.HOLDING
    assert arm.controller.reason is Reason.JOINT_STATES_FROZEN
    assert max(arm.speeds) < 1.5
    arm.advance(2.0)
    assert arm.state() is State.ACTIVE


def test_at_rest_and_in_mode_gravity_repeated_values_are_no_fault() -> None:
    for kp in (0.0, 100.0):
        rig = Rig(panda_arm(), q=PANDA_POSE, mode=Feedforward, kp=(kp,), kd=(1.0,))
        rig.activate()
        if kp:
            rig.controller.follow(setpoint(rig.model.joint_names, rig.q), None)
        rig.run(2.0)
        assert rig.state() is State.ACTIVE
        assert not rig.controller.flags


@settings(max_examples=12, deadline=None)
@given(
    log_resolution=st.floats(-6.0, math.log10(0.006)), log_speed=st.floats(-3.0, 0.3),
    lag=st.floats(0.0, 0.03), state_period=st.sampled_from([0.002, 0.01, 0.02]),
    derived=st.booleans(),
)
def test_coarse_encoders_and_slow_motions_raise_no_false_alarm(
    log_resolution: float, log_speed: float, lag: float, state_period: float, derived: bool
) -> None:
    resolution, speed = 10.0**log_resolution, 10.0**log_speed
    rig = Rig(
        two_joint_arm(), rate=500.0, mode=Feedforward, kp=(10.0,), kd=(1.0,), ramp_duration=0.1,
        differentiate_velocity=derived,
    )
    rig.activate()
    way = max(min(2.0 * speed, 1.5), 0.04)
    duration = 1.5 * way / speed
    rig.controller.follow(swing(NAMES, np.zeros(2), np.array([0.0, way]), duration), None)
    began, rig.q[:] = rig.now, 0.0
    for tick in range(round(min(duration + 0.5, 4.0) / rig.period)):
        rig.wait()
        if tick % round(state_period / rig.period) == 0:
            t = rig.now - began - lag
            q = cubic(0.0, way, t / duration)
            rig.q[1] = round(q / resolution) * resolution
            rig.feed(qd=None if derived else np.zeros(2))
        rig.step()
        assert rig.state() in CONTROLLING


def test_an_arm_that_sticks_may_lag_further_while_its_efforts_change() -> None:
    rig = Rig(two_joint_arm(), rate=500.0, mode=Feedforward, kp=(10.0,), kd=(1.0,))
    rig.effort = np.zeros(2)
    rig.activate()
    rig.controller.follow(swing(NAMES, (0.0, 0.0), (0.028, 0.028), 1.0), None)
    for tick in range(1000):
        rig.effort[:] = 0.01 * (tick % 7)
        rig.tick()
        assert rig.state() in CONTROLLING


def test_an_arm_that_is_guided_does_not_run_away_on_old_velocities() -> None:
    arm = Arm(mode=Gravity, damping=(1.0, 0.3), kp=(0.0,), kd=(0.0,))
    arm.run(0.3)
    arm.qd[:] = (0.5, -0.5)
    arm.advance(0.02)
    arm.advance(0.3, frozen=True)
    assert arm.state() is State.HOLDING
    arm.advance(1.0)
    assert arm.state() is State.ACTIVE
    assert max(arm.speeds) < 1.0


def checking_rig(**settings: Any) -> Rig:
    """Return a rig that checks the speeds of its joints."""
    given = {'velocity_limit_factor': 2.0, 'ramp_duration': 0.3} | settings
    return Rig(panda_arm(), q=PANDA_POSE, **given)


def contradict(rig: Rig, periods: Sequence[int], seconds: float) -> None:
    """Let two sources send, each every so many ticks: the arm, and a pose 0.5 rad off."""
    for tick in range(round(seconds / rig.period)):
        rig.wait()
        for offset, period in zip((0.0, 0.5), periods, strict=True):
            if tick % period == 0:
                rig.feed(q=rig.q + offset, stamp=0.0)
        rig.step()


@pytest.mark.parametrize('periods', [(20, 10), (10, 25), (2, 3)])
@pytest.mark.parametrize('first', ['true', 'false'])
def test_two_sources_that_contradict_each_other_are_no_robot(
    first: str, periods: tuple[int, int]
) -> None:
    rig = checking_rig()
    rig.q += 0.0 if first == 'true' else 0.5
    rig.run(1.0)
    rig.q[:] = PANDA_POSE
    contradict(rig, periods, 1.0)
    assert rig.controller.reason is Reason.JOINT_STATES_CONTRADICT
    assert rig.state() not in CONTROLLING
    rig = checking_rig()
    contradict(rig, periods, 1.0)
    assert rig.state() not in CONTROLLING


def test_rare_samples_of_a_known_second_publisher_count_until_it_ends() -> None:
    for several, state in ((False, State.ACTIVE), (True, State.HOLDING)):
        rig = checking_rig(hold_duration=10.0)
        rig.activate()
        rig.states.several_publishers = several
        contradict(rig, (10, 100), 2.0)
        assert (rig.state(), rig.states.contested) == (state, several)
        rig.run(2.0)
        assert not rig.states.contested


def test_velocity_spikes_of_one_source_are_no_contradiction() -> None:
    rig = checking_rig()
    rig.activate()
    rig.states.several_publishers = True
    for tick in range(2000):
        rig.wait()
        rig.feed(qd=np.full(7, 99.0 if tick % 3 == 0 else 0.0))
        rig.step()
        assert rig.state() in CONTROLLING
