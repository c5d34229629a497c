# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The demo's motion at 500 Hz with delayed commands, with and without a predicted state."""

from functools import cache

import numpy as np
import pytest

from rnea_ros.feedforward.law import ComputedTorque
from rnea_ros.feedforward.trajectory import compile_trajectory

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from rnea_ros.sim.demo.motion import KD, KP, sine_motion
from support.control.closed_loop import PANDA, Array, ClosedLoop
from support.control.control_rig import free_rules

POSE, DURATION = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785]), 3.0


@cache
def run(predict: bool, delay: int) -> tuple[float, Array]:
    """
    Return the RMS error of the settled motion, rad, and the commands at rest after it, N m.

    :param delay: of commands, ms
    """
    loop = ClosedLoop(
        PANDA, POSE, rate=500.0, mode=ComputedTorque, kp=(KP,), kd=(KD,), ramp_duration=0.1,
        predict_state=predict, velocity_limit_factor=0.0, simulation={'command_delay': delay},
    )
    joints = loop.settings.joints
    motion = sine_motion(loop.model, joints, POSE, DURATION)
    loop.hold(POSE, 0.3)
    compiled = compile_trajectory(
        motion.request(joints), free_rules(joints), now=loop.now, position=POSE,
        velocity=np.zeros(7),
    )
    began = len(loop.positions)
    loop.control.follow(compiled, loop.now)
    loop.run(motion.duration + 0.6)
    moved = np.array(loop.positions[began:])
    expected = motion.at(np.clip(0.002 * np.arange(1, len(moved) + 1), 0.0, DURATION))[0]
    errors = (moved - expected)[150:-300]
    return float(np.sqrt(np.mean(errors**2))), np.array(loop.commands[-100:])


def test_the_error_of_the_motion_is_at_least_2_5_times_smaller() -> None:
    (without, _), (predicted, _) = run(False, 2), run(True, 2)
    print(f'{1e3 * without:.3f} mrad without, {1e3 * predicted:.3f} mrad with prediction')
    assert without > 2.5 * predicted


@pytest.mark.parametrize('predict', [False, True])
def test_the_loop_becomes_unstable_at_the_same_delay(predict: bool) -> None:
    stable, unstable = (np.ptp(run(predict, delay)[1], axis=0).max() for delay in (60, 80))
    print(f'commands at rest vary by {stable:.2f} and {unstable:.2f} N m')
    assert stable < 10.0 < unstable
