# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Prediction of the state, with plain numbers: what it changes, and what it must not.

On a trajectory of constant acceleration the prediction is exact, so the effort is known.
"""

from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward.laws import LAWS, ComputedTorque, ControlLaw
from rnea_ros.feedforward.motion import QUINTIC, Knots, Trajectory
from support.control.control_rig import PANDA_POSE, Rig, panda_arm, setpoint, swing

KP, KD = 100.0, 20.0
JOINTS = panda_arm().joint_names
VELOCITY = np.array([0.5, -0.4, 0.3, -0.6, 0.2, 0.1, -0.3])
ACCELERATION = np.array([2.0, -1.0, 3.0, 1.5, -2.5, 1.0, 4.0])
PERIOD = 0.002


def rig(**settings: Any) -> Rig:
    defaults: dict[str, Any] = {
        'mode': ComputedTorque, 'rate': 1.0 / PERIOD, 'kp': (KP,), 'kd': (KD,),
        'ramp_duration': 0.0, 'effort_rate_limit': (1e6,), 'predict_state': True,
    }
    made = Rig(panda_arm(), q=PANDA_POSE, **(defaults | settings))
    made.activate()
    return made


def at(t: float) -> tuple[Any, Any, Any]:
    """Return the motion of constant acceleration at a time since its start."""
    return (
        np.array(PANDA_POSE) + VELOCITY * t + 0.5 * ACCELERATION * t * t,
        VELOCITY + ACCELERATION * t, ACCELERATION,
    )


def constant_acceleration(duration: float) -> Trajectory:
    """Return that motion as a trajectory."""
    states = [at(t) for t in (0.0, duration)]
    q, qd, qdd = (np.array(part) for part in zip(*states, strict=True))
    knots = Knots(np.array([0.0, duration]), q, qd, qdd, np.array([QUINTIC, QUINTIC]))
    return Trajectory(JOINTS, None, knots)


@pytest.mark.parametrize('age', [0.0, 0.0007, 0.003])
def test_state_and_reference_are_those_of_a_period_from_now(age: float) -> None:
    robot = rig()
    model, error, error_rate = panda_arm(), 0.01, -0.2
    robot.wait(2.0)
    began = robot.now
    robot.controller.follow(constant_acceleration(1.0), began)
    for _ in range(40):
        robot.wait()
        q, qd, _ = at(robot.now - began - age)
        robot.q[:], robot.qd[:] = q - error, qd - error_rate
        now, robot.now = robot.now, robot.now - age
        assert robot.feed() is None
        robot.now = now
        command = robot.controller.step(robot.now)
        assert command is not None
        # The error is that at the time of measurement, the effort is for a period from now.
        q, qd, qdd = at(robot.now - began + PERIOD)
        expected = model.inverse_dynamics(
            q - error, qd - error_rate, qdd + KP * error + KD * error_rate
        )
        np.testing.assert_allclose(command, expected, rtol=1e-9, atol=1e-8)
        total = robot.controller.terms().total()
        np.testing.assert_allclose(total, expected, rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize('mode', LAWS.values())
def test_at_rest_and_on_set_points_nothing_is_predicted(mode: type[ControlLaw]) -> None:
    """So gains and delay at which the loop becomes unstable stay as they are."""
    rng = np.random.default_rng(3)
    with_prediction, without = (rig(mode=mode, predict_state=on) for on in (True, False))
    start = np.array(PANDA_POSE)
    for kind in ('held', 'streamed'):
        for k in range(100):
            offset, rate = 0.05 * rng.normal(size=(2, 7))
            commands = []
            for robot in (with_prediction, without):
                if kind == 'streamed':
                    robot.controller.follow(setpoint(JOINTS, start + 0.001 * k, 0.5), None)
                elif k == 0:
                    robot.controller.follow(swing(JOINTS, start, start, 0.01), None)
                    robot.run(0.05)
                robot.q[:], robot.qd[:] = start + offset, rate
                commands.append(robot.tick())
            np.testing.assert_array_equal(commands[0], commands[1])
