# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A palletising arm: its parallelograms as loops, and as the mimic joints that describe them."""

from __future__ import annotations

import math

import numpy as np

from rnea_ros import RobotModel, Wrench
from rnea_ros.closed_loops import ClosedLoopModel
from support.models.linkages import (
    MOTORS,
    PALLETISER_LOOPS,
    REACH,
    RISE,
    palletiser,
    palletiser_with_loops,
)
from support.models.oracles import Array

STATES = np.random.default_rng(8).uniform(-1.0, 1.0, (20, 3, 4)) * [[0.6], [2.0], [5.0]]
"""Positions within half a quarter turn, where no parallelogram is flat; velocities, ..."""


def both() -> tuple[ClosedLoopModel, RobotModel]:
    """Return the arm with loops and with mimic joints, with the same order of motors."""
    mimic = RobotModel.from_urdf(palletiser(loops=False))
    assert set(mimic.joint_names) == set(MOTORS)
    tree = RobotModel.from_urdf(palletiser(loops=True))
    return ClosedLoopModel(tree, PALLETISER_LOOPS, mimic.joint_names), mimic


def test_loops_and_mimic_joints_move_alike() -> None:
    loops, mimic = both()
    for y, yd, ydd in STATES:
        q = loops.positions(y)
        qd, qdd = loops.velocities(q, yd), loops.accelerations(q, yd, ydd)
        for name in mimic.link_names:
            if name == 'pin':  # fixed to the crank in the one, level in the other
                continue
            np.testing.assert_allclose(
                loops.model.forward_kinematics(q, name), mimic.forward_kinematics(y, name),
                atol=1e-9,
            )
            np.testing.assert_allclose(
                loops.model.link_velocity(q, qd, name), mimic.link_velocity(y, yd, name),
                atol=1e-9,
            )
            np.testing.assert_allclose(
                loops.model.link_acceleration(q, qd, qdd, name),
                mimic.link_acceleration(y, yd, ydd, name), atol=1e-8,
            )


def test_loops_and_mimic_joints_give_the_same_efforts() -> None:
    loops, mimic = both()
    for y, yd, ydd in STATES:
        q = loops.positions(y)
        push = {'tool': Wrench((30.0, -20.0, 50.0), (4.0, 5.0, 6.0))}
        tau = mimic.inverse_dynamics(y, yd, ydd, push)
        for found, expected in (
            (loops.inverse_dynamics(q, yd, ydd, push), tau),
            (loops.forward_dynamics(q, yd, tau, push), ydd),
            (loops.gravity_torques(q), mimic.gravity_torques(y)),
            (loops.mass_matrix(q), mimic.mass_matrix(y)),
        ):
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-7)  # up to 2 kN m


def test_the_tool_stays_level_and_its_place_is_that_of_two_vectors() -> None:
    """Wrist = shoulder + lower arm at axis 2 + upper arm at axis 3, both angles to the world."""
    loops = palletiser_with_loops()
    for y in STATES[:, 0]:
        q = loops.positions([0.0, *y[1:3], 0.0])
        flange = loops.model.forward_kinematics(q, 'flange')
        np.testing.assert_allclose(flange[:3, :3], np.eye(3), atol=1e-9)
        shoulder, elbow = y[1:3]
        expected = [
            0.2 + RISE * math.sin(shoulder) + REACH * math.cos(elbow), 0.0,
            0.7 + RISE * math.cos(shoulder) - REACH * math.sin(elbow),
        ]
        np.testing.assert_allclose(flange[:3, 3], expected, atol=1e-9)


def test_a_load_on_the_flange_by_hand() -> None:
    """
    A load F down at the flange, by virtual work.

    Lower arm at y2 from upright: the wrist's height is RISE cos y2 - REACH sin y3, so
    tau = F dz/dy = (-F RISE sin y2, -F REACH cos y3), wherever on the level flange F acts.
    """
    loops, load = palletiser_with_loops(), 500.0
    for y in STATES[:, 0]:
        q = loops.positions(y)

        def moments(wrench: dict[str, Wrench], q: Array = q) -> Array:
            still = np.zeros(4)
            return loops.inverse_dynamics(q, still, still, wrench)

        for point in ((0.0, 0.0, 0.0), (0.4, 0.1, -0.2)):
            pushed = moments({'flange': Wrench((0.0, 0.0, -load), frame='flange', point=point)})
            expected = [0.0, -load * RISE * math.sin(y[1]), -load * REACH * math.cos(y[2]), 0.0]
            np.testing.assert_allclose(pushed - moments({}), expected, atol=1e-7)
