# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The simulated hand: pushes at their time, springs of limited strength to guide an arm."""

import numpy as np
import pytest

from rnea_ros import InputError, Wrench
from rnea_ros.feedforward.trajectory import TrajectoryPoint, TrajectoryRequest
from support.models.robots import joint, link, robot

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from rnea_ros.sim.hand import ScheduledPush, ScriptedHand
from rnea_ros.sim.physics import SimulatedRobot
from support.control.closed_loop import PANDA, POSES

CART = robot(
    link('base'), link('cart', 2.0), joint('slide', 'prismatic', 'base', 'cart', axis=(1, 0, 0)),
)
PUSH = Wrench(force=(4.0, 0.0, 0.0))
POSE = POSES[PANDA]


def test_a_push_starts_after_the_brakes_open_and_lasts_its_duration() -> None:
    cart = SimulatedRobot(CART)
    with pytest.raises(InputError, match='push start: -1'):
        ScheduledPush(cart, 'cart', PUSH, -1.0, 1.0)
    push = ScheduledPush(cart, 'cart', PUSH, start=0.1, duration=0.2)
    speeds = []
    for index in range(1000):
        push.update()
        cart.step([0.0] if index >= 500 else None)
        speeds.append(cart.state().velocities[0])
    # The brakes open in step 500; 4 N move 2 kg for 0.2 s.
    assert abs(speeds[600]) < 1e-12 < speeds[603]
    assert speeds[700] == pytest.approx(0.1 * 2.0, abs=0.005)
    assert speeds[999] == pytest.approx(0.2 * 2.0, abs=0.005)
    assert speeds[999] == pytest.approx(speeds[810], abs=1e-12)


def test_a_hand_is_springs_and_dampers_of_limited_strength() -> None:
    arm = SimulatedRobot(PANDA.read_text(encoding='utf-8'), initial_positions=POSE)
    hand, joints = ScriptedHand(arm), arm.joint_names[:3]
    limits = np.array([limit.effort for limit in arm.limits[:3]])
    way, rest = np.array([0.01, -0.03, 0.8]), np.zeros(3)
    hand.guide(TrajectoryRequest.of_points(joints, [
        TrajectoryPoint(0.2 * k, POSE[:3] + 2 * k * way, rest, rest) for k in range(2)
    ]))
    hand.update()
    assert not hand.efforts.any()  # the brakes are closed
    for _ in range(101):
        arm.step(np.zeros(7))
        hand.update()
    q, qd = arm.motion  # in the middle of the way, where a quintic is fastest
    stiffness = np.minimum(limits, 50.0**2 * arm.inertia[:3])
    expected = stiffness * (POSE[:3] + way - q[:3] + 0.2 * (1.875 * 2.0 * way / 0.2 - qd[:3]))
    clipped = np.clip(expected, -0.5 * limits, 0.5 * limits)
    assert hand.efforts[:3] == pytest.approx(clipped, abs=1e-12)
    assert expected[2] > clipped[2]
    assert not hand.efforts[3:].any()
    hand.guide(TrajectoryRequest.of_points(joints, []))
    hand.update()
    assert not hand.efforts.any()
