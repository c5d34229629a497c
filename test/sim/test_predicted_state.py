# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The demo's motion in lockstep with MuJoCo at 500 Hz, with and without a predicted state.

The robot equals its model, so what is left of the error is time: commands act 2 ms late, as in the
demo, and the control ticks some time after its joint states have come.
"""

from functools import cache
import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from rnea_ros.feedforward import CONTROLLING, FeedforwardController
from rnea_ros.feedforward.inputs import JointStateMonitor
from rnea_ros.feedforward.law import ComputedTorque
from rnea_ros.feedforward.settings import Settings, resolve
from rnea_ros.feedforward.trajectory import JointRules, compile_trajectory
from support.control.control_rig import Array, panda_arm
from support.models.robots import ROOT

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from rnea_ros.sim.demo.motion import KD, KP, sine_motion
from rnea_ros.sim.demo.robot import DELAY, POSITION_NOISE, VELOCITY_NOISE
from rnea_ros.sim.physics import NO_NOISE, Noise, SimulatedRobot

MODEL = panda_arm()
URDF = (ROOT / 'urdf/panda_arm.urdf').read_text(encoding='utf-8')
POSE = np.array([0.0, -math.pi / 4, 0.0, -3 * math.pi / 4, 0.0, math.pi / 2, math.pi / 4])
PERIOD = 2
"""Of control and joint states, ms."""

LEAD_IN, SETTLED, REST = 500, 800, 500
"""Start of the motion, time from which errors count, and rest after the motion, ms."""

NOISE = Noise(POSITION_NOISE, VELOCITY_NOISE, seed=1)


class Run(NamedTuple):
    """Errors of the motion, rad, and commands, N m; rows are milliseconds and ticks."""

    errors: Array
    commands: Array

    @property
    def rms(self) -> float:
        return float(np.sqrt(np.mean(self.errors**2)))


@cache
def run(
    predict: bool, *, age: int = 0, delay: int = DELAY, noise: Noise = NO_NOISE,
    duration: float = 8.0,
) -> Run | None:
    """
    Follow the motion of the demo; return None if the arm does not stay within 0.5 rad of it.

    :param predict: parameter ``predict_state``
    :param age: of the joint states at a tick, ms
    :param delay: of commands, ms
    :param noise: of the joint states
    :param duration: of the motion, s
    """
    joints = MODEL.joint_names
    robot = SimulatedRobot(URDF, initial_positions=POSE, command_delay=delay, noise=noise)
    # Measurements may have noise; a twin that moves by the same commands then has none.
    twin = SimulatedRobot(URDF, initial_positions=POSE, command_delay=delay)
    truth = robot if noise is NO_NOISE else twin
    settings = Settings(
        joints=joints, rate=1e3 / PERIOD, mode=ComputedTorque, kp=(KP,), kd=(KD,),
        ramp_duration=0.2, predict_state=predict, velocity_limit_factor=0.0,
    )
    states = JointStateMonitor(joints)
    control = FeedforwardController(MODEL, resolve(settings, MODEL), states)
    motion = sine_motion(MODEL, joints, POSE, duration)
    rules = JointRules(
        joints, MODEL.position_lower, MODEL.position_upper, MODEL.continuous,
        MODEL.velocity_limits, start_tolerance=0.1,
    )
    start = 100.0
    request = motion.request(joints)
    compiled = compile_trajectory(
        request, rules, now=start, position=POSE, velocity=np.zeros(len(POSE))
    )
    control.follow(compiled, start + 1e-3 * LEAD_IN)
    steps = LEAD_IN + round(1e3 * duration) + REST
    expected, _, _ = motion.at(np.clip(1e-3 * (np.arange(steps) - LEAD_IN), 0.0, duration))
    command: Any = None
    errors, commands = [], []
    for k in range(steps):
        now = start + 1e-3 * k
        measured = robot.state()
        if k % PERIOD == 0:
            reason = states.take_sample(joints, *measured, stamp=now, clock=now, received=now)
            assert reason is None
        if k % PERIOD == age:
            step = control.step(now)
            if step is not None:
                command = step.copy()
                commands.append(command)
        errors.append(truth.state().positions - expected[k])
        if np.abs(errors[-1]).max() > 0.5:
            return None
        robot.step(command)
        if truth is not robot:
            truth.step(command)
    assert control.state in CONTROLLING
    return Run(np.array(errors[SETTLED:]), np.array(commands))


def followed(predict: bool, **options: Any) -> Run:
    """Return a run that stayed on the motion."""
    made = run(predict, **options)
    assert made is not None
    return made


@pytest.mark.parametrize('age', [0, 1])
def test_the_error_of_the_motion_is_at_least_three_times_smaller(age: int) -> None:
    without, predicted = (followed(predict, age=age) for predict in (False, True))
    print(f'joint states {age} ms old: {1e3 * without.rms:.3f} mrad without, '
          f'{1e3 * predicted.rms:.3f} mrad with prediction')
    assert without.rms > 3.0 * predicted.rms


def test_commands_are_not_noisier() -> None:
    deviations = []
    for predict in (False, True):
        clean, noisy = (
            followed(predict, age=1, noise=noise, duration=4.0) for noise in (NO_NOISE, NOISE)
        )
        noise = (noisy.commands - clean.commands)[SETTLED // PERIOD :]
        deviations.append(noise.std(axis=0))
    print('standard deviations, N m:', *np.round(deviations, 4))
    np.testing.assert_allclose(deviations[1], deviations[0], rtol=0.01)


@pytest.mark.parametrize(('delay', 'stable'), [(60, True), (80, False)])
def test_the_loop_becomes_unstable_at_the_same_delay(delay: int, stable: bool) -> None:
    for predict in (False, True):
        made = run(predict, age=1, delay=delay, duration=4.0)
        rings = made is None or np.ptp(made.commands[-REST // (2 * PERIOD) :], axis=0).max() > 10.0
        assert rings is not stable, 'after the motion, at rest'
