# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A motion at 500 Hz with delayed commands, with and without a predicted state."""

import numpy as np
import pytest

from rnea_ros.feedforward.law import ComputedTorque
from rnea_ros.feedforward.trajectory import compile_trajectory

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from rnea_ros.sim.demo.motion import KD, KP, sine_motion
from support.control.closed_loop import PANDA, POSES, ClosedLoop
from support.control.control_rig import free_rules

DURATION = 3.0


def settled_error(predict: bool) -> float:
    """Return the RMS error of the motion, from 0.3 s on, under commands 2 ms late, rad."""
    pose = POSES[PANDA]
    loop = ClosedLoop(
        PANDA, pose, rate=500.0, mode=ComputedTorque, kp=(KP,), kd=(KD,), ramp_duration=0.1,
        predict_state=predict, velocity_limit_factor=0.0, simulation={'command_delay': 2},
    )
    joints = loop.settings.joints
    motion = sine_motion(loop.model, joints, pose, DURATION)
    loop.hold(pose, 0.3)
    loop.control.follow(compile_trajectory(
        motion.request(joints), free_rules(joints), now=loop.now, position=pose,
        velocity=np.zeros(7),
    ), loop.now)
    began = len(loop.positions)
    loop.run(DURATION)
    moved = np.array(loop.positions[began:])
    errors = moved - motion.at(np.linspace(0.002, DURATION, len(moved)))[0]
    return float(np.sqrt(np.mean(errors[150:] ** 2)))


def test_the_error_of_the_motion_is_at_least_2_5_times_smaller() -> None:
    assert settled_error(predict=False) > 2.5 * settled_error(predict=True)
