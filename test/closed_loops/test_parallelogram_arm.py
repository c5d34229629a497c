# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A palletising arm: its parallelograms as loops, and as the mimic joints that describe them."""

import numpy as np

from rnea_ros import RobotModel, Wrench
from rnea_ros.closed_loops import ClosedLoopModel
from support.models.linkages import MOTORS, PALLETISER_LOOPS, palletiser

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
                loops.model.link_velocity(q, qd, name), mimic.link_velocity(y, yd, name), atol=1e-9
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
