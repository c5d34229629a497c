# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Figures that others have published come out.

The PUMA 560 of P. Corke's Robotics Toolbox. Parameters: P. Corke and B. Armstrong-Helouvry, *A
search for consensus among model parameters reported for the PUMA 560 robot*, Proc. IEEE Int. Conf.
Robotics and Automation, San Diego 1994, as in the toolbox for Python, ``models/DH/Puma560.py``.
Figures: that toolbox' ``tests/test_DHRobot.py`` (:data:`NOMINAL`), and the toolbox for MATLAB's
``unit_test/SerialLinkTest.m`` (:data:`TURNED`, :data:`RAISED`), all with four decimals.

The example of K. M. Lynch and F. C. Park, *Modern Robotics*, 2017, in the documentation of
``modern_robotics.InverseDynamics``, by the references that take the book's own matrices.
"""

import numpy as np
from numpy.typing import ArrayLike

from rnea_ros import RobotModel, Wrench
from rnea_ros.textbook import closed_form, screw
from support.cases import each
from support.models.oracles import Array, Formulation
from support.models.robots import joint, link, load, robot

# Standard Denavit-Hartenberg: d, a, alpha; the joint angle is q.
FRAMES = [
    (26.45 * 0.0254, 0.0, np.pi / 2), (0.0, 0.4318, 0.0), (0.15005, 0.0203, -np.pi / 2),
    (0.4318, 0.0, np.pi / 2), (0.0, 0.0, -np.pi / 2), (0.0, 0.0, 0.0),
]
# Mass, centre of mass, Ixx, Iyy, Izz about it, in the frame at the link's end.
BODIES = [
    (0.0, (0.0, 0.0, 0.0), (0.0, 0.35, 0.0)),
    (17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
    (4.8, (-0.0203, -0.0141, 0.070), (0.066, 0.086, 0.0125)),
    (0.82, (0.0, 0.019, 0.0), (1.8e-3, 1.3e-3, 1.8e-3)),
    (0.34, (0.0, 0.0, 0.0), (0.3e-3, 0.4e-3, 0.3e-3)),
    (0.09, (0.0, 0.0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3)),
]
# Gear ratio; the motor's inertia, viscous friction, and Coulomb friction in positive direction.
GEARS = np.array([-62.6111, 107.815, -53.7063, 76.0364, 71.923, 76.686])
MOTOR_INERTIA = np.array([200e-6, 200e-6, 200e-6, 33e-6, 33e-6, 33e-6])
MOTOR_DAMPING = np.array([1.48e-3, 0.817e-3, 1.38e-3, 71.2e-6, 82.6e-6, 36.7e-6])
MOTOR_FRICTION = np.array([0.395, 0.126, 0.132, 11.2e-3, 9.26e-3, 3.96e-3])

ARMATURE = GEARS**2 * MOTOR_INERTIA
DAMPING = GEARS**2 * MOTOR_DAMPING
FRICTION = np.abs(GEARS) * MOTOR_FRICTION

NOMINAL = np.array([0.0, np.pi / 4, np.pi, 0.0, np.pi / 4, 0.0])
TURNED = np.array([0.0, np.pi / 4, -np.pi, 1.0, np.pi / 4, 0.0])
RAISED = np.array([0.0, np.pi / 2, -np.pi, 1.0, np.pi / 2, 0.0])
STILL, ONE = np.zeros(6), np.ones(6)

ROUNDING = 0.5e-4
"""Half of the last published decimal."""


def puma(gravity: float = 9.81) -> RobotModel:
    """Return the arm without motors; link i turns, tool i is the frame at its end."""
    elements = [link('tool_0')]
    for i, ((d, a, alpha), (mass, com, (Ixx, Iyy, Izz))) in enumerate(
        zip(FRAMES, BODIES, strict=True), start=1
    ):
        c, s = np.cos(alpha), np.sin(alpha)
        x, y, z = com
        com_in_link = (a + x, c * y - s * z, d + s * y + c * z)
        inertia = (Ixx, 0.0, 0.0, Iyy, 0.0, Izz)
        elements += [
            link(f'link_{i}', mass, com_in_link, inertia, rpy=(alpha, 0.0, 0.0)),
            joint(f'joint_{i}', 'continuous', f'tool_{i - 1}', f'link_{i}'),
            link(f'tool_{i}'),
            joint(
                f'end_{i}', 'fixed', f'link_{i}', f'tool_{i}', xyz=(a, 0.0, d), rpy=(alpha, 0, 0)
            ),
        ]
    return load(robot(*elements), (0.0, 0.0, -gravity))


def assert_published(actual: Array, expected: ArrayLike) -> None:
    np.testing.assert_allclose(actual, np.array(expected), rtol=0.0, atol=ROUNDING)


@each(('q', 'published'), [
    (NOMINAL, [0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0]),
    (TURNED, [0.0, 31.6334, 6.0286, -0.0119, 0.0218, 0.0]),
    (RAISED, [0.0, 7.7198, 8.7439, -0.0238, 0.0, 0.0]),
])
def test_a_puma_bears_its_published_weight(q: Array, published: list[float]) -> None:
    assert_published(puma().gravity_torques(q), published)


def test_a_puma_has_its_published_mass_matrix() -> None:
    # The toolbox counts the motors' inertia in.
    assert_published(puma().mass_matrix(NOMINAL) + np.diag(ARMATURE), [
        [3.6594, -0.4044, 0.1006, -0.0025, 0.0, 0.0], [-0.4044, 4.4137, 0.3509, 0.0, 0.0024, 0.0],
        [0.1006, 0.3509, 0.9378, 0.0, 0.0015, 0.0], [-0.0025, 0.0, 0.0, 0.1925, 0.0, 0.0],
        [0.0, 0.0024, 0.0015, 0.0, 0.1713, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.1941],
    ])


@each(('qd', 'qdd', 'gravity', 'published'), [
    (STILL, ONE, 9.81, [3.35311, 36.0025, 7.42596, 0.190043, 0.203441, 0.194133]),
    (ONE, ONE, 9.81, [32.4952, 60.867, 17.7436, 1.45452, 1.29911, 0.713781]),
    (ONE, STILL, 9.81, [29.1421, 56.5044, 16.3528, 1.26448, 1.12392, 0.519648]),
    (ONE, ONE, 0.0, [32.4952, 29.2271, 11.7085, 1.45452, 1.27086, 0.713781]),
])
def test_a_puma_needs_its_published_efforts(
    qd: Array, qdd: Array, gravity: float, published: list[float]
) -> None:
    motors = ARMATURE * qdd + DAMPING * qd + FRICTION * np.sign(qd)
    assert_published(puma(gravity).inverse_dynamics(NOMINAL, qd, qdd) + motors, published)


def test_a_puma_bears_its_published_load_at_the_tool() -> None:
    # The toolbox' fext is what the robot exerts on the environment, in the tool's frame.
    on_robot = Wrench(force=(-1.0, -2.0, -3.0), torque=(-1.0, -2.0, -3.0))
    efforts = puma().inverse_dynamics(NOMINAL, STILL, STILL, {'tool_6': on_robot})
    assert_published(efforts, [0.642756, 29.0866, 4.70321, 2.82843, -1.97175, 3.0])


@each('formulation', [screw.inverse_dynamics, closed_form.inverse_dynamics])
def test_the_textbooks_formulations_give_its_example(formulation: Formulation) -> None:
    quarter_turn = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    steps = np.tile(np.eye(4), (4, 1, 1))  # frame {i} in frame {i - 1}
    steps[1, :3, :3] = quarter_turn
    steps[:, :3, 3] = [
        (0.0, 0.0, 0.089159), (0.28, 0.13585, 0.0), (0.0, -0.1197, 0.395), (0.0, 0.0, 0.14225)
    ]
    G = np.array([np.diag(moments_and_mass) for moments_and_mass in (
        (0.010267, 0.010267, 0.00666, 3.7, 3.7, 3.7),
        (0.22689, 0.22689, 0.0151074, 8.393, 8.393, 8.393),
        (0.0494433, 0.0494433, 0.004095, 2.275, 2.275, 2.275),
    )])
    S = np.array([[1, 0, 1, 0, 1, 0], [0, 1, 0, -0.089, 0, 0], [0, 1, 0, -0.089, 0, 0.425]])
    # The first screw axis is not a unit vector: its angle counts in units of 1 / sqrt(2) rad.
    efforts = formulation(
        screw.chain_of_lists(steps, S.T, G), np.array([0.1, 0.1, 0.1]), np.array([0.1, 0.2, 0.3]),
        np.array([2.0, 1.5, 1.0]), np.array([0.0, 0.0, -9.8]), np.ones(6),
    )
    # Published with eight decimals.
    np.testing.assert_allclose(efforts, [74.69616155, -33.06766016, -3.23057314], atol=1e-8)
