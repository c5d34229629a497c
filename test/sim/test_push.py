# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import math

import pytest

from rnea_ros import InputError, UnknownNameError, Wrench
from support.models.robots import joint, link, robot

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from rnea_ros.sim.physics import ScheduledPush, SimulatedRobot

CART = robot(
    link('base'),
    link('cart', 2.0),
    joint('slide', 'prismatic', 'base', 'cart', axis=(1, 0, 0)),
)
PUSH = Wrench(force=(4.0, 0.0, 0.0))


def test_a_push_starts_after_the_brakes_open_and_lasts_its_duration() -> None:
    cart = SimulatedRobot(CART)
    push = ScheduledPush(cart, 'cart', PUSH, start=0.1, duration=0.2)
    speeds = []
    for index in range(1000):
        push.update()
        cart.step([0.0] if index >= 500 else None)
        speeds.append(cart.state().velocities[0])
    # The brakes open in step 500; 4 N move 2 kg for 0.2 s.
    assert speeds[600] == pytest.approx(0.0, abs=1e-12)
    assert speeds[603] > 0.0
    assert speeds[700] == pytest.approx(0.1 * 2.0, abs=0.005)
    assert speeds[999] == pytest.approx(0.2 * 2.0, abs=0.005)
    assert speeds[999] == pytest.approx(speeds[810], abs=1e-12)


def test_a_push_without_a_duration_lasts_for_ever() -> None:
    cart = SimulatedRobot(CART)
    push = ScheduledPush(cart, 'cart', PUSH, start=0.0, duration=math.inf)
    for _ in range(500):
        push.update()
        cart.step([0.0])
    assert cart.state().velocities[0] == pytest.approx(0.5 * 2.0, abs=0.01)


def test_a_push_that_cannot_be_is_rejected_before_its_time() -> None:
    cart = SimulatedRobot(CART)
    with pytest.raises(UnknownNameError, match='nowhere'):
        ScheduledPush(cart, 'nowhere', PUSH, 1.0, 1.0)
    with pytest.raises(InputError, match='push start: -1'):
        ScheduledPush(cart, 'cart', PUSH, -1.0, 1.0)
    with pytest.raises(InputError, match='push duration: nan'):
        ScheduledPush(cart, 'cart', PUSH, 1.0, math.nan)
