# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The simulated robot without ROS: brakes, commands, pushes, friction, joints, noise."""

from collections.abc import Callable
from dataclasses import replace
import math
from typing import Any

import numpy as np
import pytest

from rnea_ros import InputError, UnknownNameError, Wrench
from rnea_ros.urdf import parse_urdf
from support.cases import each
from support.models.robots import PENDULUM, ROTOR, SHIPPED, joint, link, load, robot

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from rnea_ros.sim.joint_roles import start_position
from rnea_ros.sim.physics import Noise, SimulatedRobot

PANDA = SHIPPED[1].read_text()
PANDA_HAND = SHIPPED[0].read_text()
ARM_JOINTS = tuple(f'fer_joint{number}' for number in range(1, 8))
POSTURE = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.6, 0.7])

GRIPPER = robot(
    link('base'),
    link('left', 0.2, inertia=(1e-4, 0.0, 0.0, 1e-4, 0.0, 1e-4)),
    link('right', 0.2, inertia=(1e-4, 0.0, 0.0, 1e-4, 0.0, 1e-4)),
    joint('grip', 'prismatic', 'base', 'left', axis=(1, 0, 0)),
    joint(
        'follow', 'prismatic', 'base', 'right', axis=(1, 0, 0),
        more='<mimic joint="grip" multiplier="-1" offset="0.1"/>',
    ),
)


def panda(**options: Any) -> SimulatedRobot:
    return SimulatedRobot(PANDA, initial_positions=POSTURE, **options)


def test_brakes_hold_the_robot_exactly_still_until_the_first_command() -> None:
    simulated = panda()
    for _ in range(100):
        simulated.step()
    states = simulated.state()
    assert simulated.braked
    assert simulated.time == pytest.approx(0.1)
    assert states.positions.tolist() == POSTURE.tolist()
    assert states.velocities.tolist() == [0.0] * 7
    simulated.step(states.efforts)  # what the brakes carried takes over without a jump
    assert np.abs(simulated.state().velocities).max() < 1e-12
    assert not simulated.braked


def test_the_robot_accelerates_as_the_model_says_by_the_last_command() -> None:
    random = np.random.default_rng(0)
    efforts = load(PANDA).gravity_torques(POSTURE) + random.uniform(-2.0, 2.0, 7)
    simulated = panda(timestep=1e-4)
    for step in range(200):
        simulated.step(None if step else efforts)
    before = simulated.state()
    simulated.step()
    acceleration = (simulated.state().velocities - before.velocities) / 1e-4
    needed = load(PANDA).inverse_dynamics(before.positions, before.velocities, acceleration)
    np.testing.assert_allclose(needed, efforts, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize('delay', [0, 5])
def test_a_command_acts_later_by_the_delay(delay: int) -> None:
    simulated = panda(command_delay=delay)
    for _ in range(delay):
        simulated.step(np.ones(7))
        assert simulated.braked
    simulated.step(np.zeros(7))
    assert simulated.state().efforts.tolist() == [1.0 if delay else 0.0] * 7


@pytest.mark.parametrize('frame', [None, 'fer_link3'])
def test_a_push_acts_in_its_frame_until_it_is_taken_away(frame: str | None) -> None:
    simulated, model = panda(), load(PANDA)
    push = Wrench((3.0, -4.0, 5.0), (0.1, 0.2, -0.3), frame, (0.1, 0.2, 0.3))
    simulated.apply_push('fer_link6', push)
    simulated.step()
    expected = model.inverse_dynamics(POSTURE, np.zeros(7), np.zeros(7), {'fer_link6': push})
    np.testing.assert_allclose(simulated.state().efforts, expected, rtol=1e-9, atol=1e-9)
    simulated.apply_push('fer_link6', None)
    simulated.step()
    expected = model.gravity_torques(POSTURE)
    np.testing.assert_allclose(simulated.state().efforts, expected, rtol=1e-9, atol=1e-9)


def test_damping_friction_and_limits_are_those_of_the_urdf_and_beside_it() -> None:
    lossy = ROTOR.replace('</joint>', '<dynamics damping="1.5" friction="1.0"/></joint>', 1)
    limit = '<limit lower="-1" upper="0.5" velocity="9" effort="9"/></joint>'
    swinging = PENDULUM.replace('continuous', 'revolute').replace('</joint>', limit)
    stuck, limited = SimulatedRobot(lossy), SimulatedRobot(swinging)
    free = SimulatedRobot(lossy, extra_damping=[0.5], extra_friction=[0.5])
    for _ in range(8000):
        stuck.step([0.5])
        free.step([5.5])
        limited.step([0.0])
    assert abs(stuck.state().velocities[0]) < 0.02  # MuJoCo's friction creeps
    assert free.state().velocities[0] == pytest.approx((5.5 - 1.5) / 2.0, rel=1e-3)
    assert limited.state().positions[0] == pytest.approx(0.5, abs=0.01)


def test_a_mimic_joint_follows_its_leader_while_that_is_driven() -> None:
    simulated = SimulatedRobot(GRIPPER, gravity=(0.0, 0.0, 0.0), initial_positions=[0.0])
    for _ in range(300):
        simulated.step([0.5])
    left, right = simulated.state().positions
    assert simulated.reported_joints == ('grip', 'follow')
    # 0.5 N on twice 0.2 kg for 0.3 s.
    assert left == pytest.approx(0.5 * 0.5 / 0.4 * 0.3**2, rel=1e-2)
    assert right == pytest.approx(0.1 - left, abs=1e-4)


@pytest.mark.parametrize(('multiplier', 'end'), [(-1, 0.8), (2, 0.4), (0.999, 0.8)])
def test_a_gripper_reaches_the_end_of_its_range_whatever_its_mimic_joint_says(
    multiplier: float, end: float
) -> None:
    mimic = f'<mimic joint="grip" multiplier="{multiplier}"/>'
    text = robot(
        link('base'), link('left', 0.2), link('right', 0.2),
        joint('grip', 'revolute', 'base', 'left'),
        joint('follow', 'revolute', 'left', 'right', more=mimic),
    ).replace('lower="-3" upper="3"', 'lower="0" upper="0.8"')
    for torque, reached in ((2.0, end), (-2.0, 0.0)):
        simulated = SimulatedRobot(text, gravity=(0.0, 0.0, 0.0), initial_positions=[0.2])
        for _ in range(2000):
            simulated.step([torque])
        left, right = simulated.state().positions
        assert left == pytest.approx(reached, abs=0.02)
        assert right == pytest.approx(multiplier * left, abs=1e-3)


def test_brakes_carry_the_weight_of_mimic_joints_too() -> None:
    gravity = (3.0, 2.0, -9.0)
    simulated, model = SimulatedRobot(PANDA_HAND, gravity=gravity), load(PANDA_HAND, gravity)
    states, n = simulated.state(), model.nv
    assert simulated.joint_names == model.joint_names
    expected = model.gravity_torques(states.positions[:n])
    np.testing.assert_allclose(states.efforts[:n], expected, rtol=1e-9, atol=1e-9)


def test_states_have_the_order_of_the_caller_then_those_of_held_joints() -> None:
    forward = panda()
    backward = SimulatedRobot(PANDA, joints=ARM_JOINTS[::-1], initial_positions=POSTURE[::-1])
    hand = SimulatedRobot(PANDA_HAND, joints=ARM_JOINTS, initial_positions=POSTURE)
    command = np.arange(7.0)
    for _ in range(50):
        forward.step(command)
        backward.step(command[::-1])
        hand.step(command)
    for ahead, back in zip(forward.state(), backward.state(), strict=True):
        np.testing.assert_allclose(back, ahead[::-1], rtol=1e-9, atol=1e-12)
    states = hand.state()
    assert hand.reported_joints == (*ARM_JOINTS, 'fer_finger_joint1', 'fer_finger_joint2')
    assert [*states.positions[7:], *states.velocities[7:]] == [0.0] * 4
    assert np.isnan(states.efforts).tolist() == [False] * 7 + [True] * 2


@each(('name', 'limits', 'expected'), [
    ('elbow', (-3.0, 1.0), -1.0), ('elbow', (-math.inf, math.inf), 0.0),
    ('elbow', (0.5, math.inf), 0.5), ('elbow_joint', (-3.0, 3.0), math.pi / 2),
    ('elbow_joint', (-3.0, 1.0), -1.0),
])
def test_joints_start_at_usual_positions_or_in_the_middle_of_their_limits(
    name: str, limits: tuple[float, float], expected: float
) -> None:
    joint = parse_urdf(PANDA).joints['fer_joint1']
    narrowed = replace(joint.limits, lower=limits[0], upper=limits[1])
    assert start_position(replace(joint, name=name, limits=narrowed)) == expected
    arm = [0.0, -math.pi / 4, 0.0, -3 * math.pi / 4, 0.0, math.pi / 2, math.pi / 4]
    assert SimulatedRobot(PANDA).state().positions.tolist() == arm


def test_noise_has_its_standard_deviation_and_repeats_with_its_seed() -> None:
    noise = Noise(position=0.01, velocity=0.1, effort=1.0, seed=7)
    quiet, noisy, again = panda(), panda(noise=noise), panda(noise=noise)
    still = quiet.state()
    samples = [noisy.state() for _ in range(2000)]
    for index, deviation in enumerate((0.01, 0.1, 1.0)):
        errors = np.array([sample[index] for sample in samples]) - still[index]
        assert np.std(errors) == pytest.approx(deviation, rel=0.05)
        assert abs(np.mean(errors)) < 0.05 * deviation
    assert again.state().positions.tolist() == samples[0].positions.tolist()


@each(('make', 'reason'), [
    (lambda: SimulatedRobot(PANDA_HAND, joints=['fer_finger_joint2']), 'fer_finger_joint2'),
    (lambda: SimulatedRobot(PANDA, joints=2 * ['fer_joint1']), 'names a joint twice'),
    (lambda: panda(extra_friction=[1.0] * 3), r'extra_friction: has shape \(3,\), not \(7,\)'),
    (lambda: panda(command_delay=-1), 'command_delay: -1'),
    (lambda: Noise(velocity=-1.0), 'velocity noise: -1'),
    (lambda: panda().wrench('nowhere'), 'nowhere'),
])
def test_wrong_arguments_are_rejected_by_name(make: Callable[[], object], reason: str) -> None:
    with pytest.raises((InputError, UnknownNameError), match=reason):
        make()
