# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The simulated hand: pushes at their time, and guides an arm with limited strength."""

from collections.abc import Sequence

import numpy as np
import pytest

from rnea_ros import InputError, Wrench
from rnea_ros.feedforward.law import Gravity
from rnea_ros.feedforward.trajectory import TrajectoryPoint, TrajectoryRequest
from support.models.robots import joint, link, robot

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from rnea_ros.sim.hand import ScheduledPush, ScriptedHand
from rnea_ros.sim.physics import SimulatedRobot
from support.control.closed_loop import PANDA, POSES, Array, ClosedLoop

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


def arm_and_hand() -> tuple[SimulatedRobot, ScriptedHand, Array]:
    """Return an arm, its hand, and the limits of the arm's efforts."""
    arm = SimulatedRobot(PANDA.read_text(encoding='utf-8'), initial_positions=POSE)
    return arm, ScriptedHand(arm), np.array([limit.effort for limit in arm.limits])


def path(joints: Sequence[str], ends: Sequence[Array], duration: float) -> TrajectoryRequest:
    """Return a path at rest at each of its points."""
    rest = np.zeros(len(joints))
    points = [TrajectoryPoint(duration * k, end, rest, rest) for k, end in enumerate(ends)]
    return TrajectoryRequest.of_points(tuple(joints), points)


def test_a_hand_guides_a_weightless_arm_and_releases_it() -> None:
    arm, hand, limits = arm_and_hand()
    loop = ClosedLoop(
        PANDA, POSE, simulated=arm, sense=lambda _: hand.update(), mode=Gravity, ramp_duration=0.01
    )
    hand.guide(path(arm.joint_names, [POSE, POSE + 0.4], 2.0))
    loop.run(1.0)
    assert np.abs(loop.q - POSE - 0.2).max() < 0.1
    assert (np.abs(hand.efforts) <= 0.5 * limits).all()
    assert hand.efforts.any()
    loop.run(3.0)
    assert loop.q == pytest.approx(POSE + 0.4, abs=0.01)
    hand.guide(path(arm.joint_names, [], 1.0))
    loop.run(0.1)
    assert not hand.efforts.any()


def test_a_hand_is_springs_and_dampers_of_limited_strength() -> None:
    arm, hand, limits = arm_and_hand()
    limits, target = limits[:3], POSE[:3] + np.array([0.01, -0.03, 0.8])
    hand.guide(path(arm.joint_names[:3], [target], 0.0))
    hand.update()
    assert not hand.efforts.any()  # the brakes are closed
    arm.step(np.zeros(7))
    q, qd = arm.motion
    hand.update()
    stiffness = np.minimum(limits, 50.0**2 * arm.inertia[:3])
    expected = stiffness * (target - q[:3] - 0.2 * qd[:3])
    clipped = np.clip(expected, -0.5 * limits, 0.5 * limits)
    assert hand.efforts[:3] == pytest.approx(clipped, abs=1e-12)
    assert expected[2] > clipped[2]
    assert not hand.efforts[3:].any()
