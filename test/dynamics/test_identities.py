# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Mechanics itself as the oracle: energy, symmetry, and the equation of motion's own structure."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from oracles import Array, random_state
import pytest
from robots import SHIPPED, joint, link, load

from rnea_ros import RobotModel

pytest_plugins = ('model_fixtures',)

SEEDS = range(3)
STEP = 1e-6
"""Of central differences: truncation and rounding both stay near 1e-9."""


def mass_matrix(model: RobotModel, q: Array) -> Array:
    """Return M(q), one column a call: efforts of unit accelerations at rest, without gravity."""
    weightless, rest = model.with_gravity(np.zeros(3)), np.zeros(model.nv)
    columns = [weightless.inverse_dynamics(q, rest, unit) for unit in np.eye(model.nv)]
    return np.array(columns).T


def along(function: Callable[[Array], Array], q: Array, direction: Array) -> Array:
    """Return the derivative of a function of q in a direction, by central differences."""
    ahead, behind = function(q + STEP * direction), function(q - STEP * direction)
    slope: Array = (ahead - behind) / (2.0 * STEP)
    return slope


def potential_energy(model: RobotModel, q: Array) -> Array:
    """Return -sum m g.c over the description's links."""
    energy = np.zeros(())
    for name, read in model.description.links.items():
        if read.inertial is not None:
            com = model.forward_kinematics(q, name) @ (*read.inertial.origin.xyz, 1.0)
            energy = energy - read.inertial.mass * (model.gravity @ com[:3])
    return energy


def kinetic_energy_matrix(model: RobotModel, q: Array) -> Array:
    """Return sum m Jv^T Jv + Jw^T R J R^T Jw over the description's links."""
    M = np.zeros((model.nv, model.nv))
    for name, read in model.description.links.items():
        if read.inertial is None:
            continue
        R = turned(*read.inertial.origin.rpy)
        ixx, ixy, ixz, iyy, iyz, izz = read.inertial.inertia
        J_com = R @ np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]]) @ R.T
        com = np.array((*read.inertial.origin.xyz, 1.0))
        pose_of_link = partial(model.forward_kinematics, link=name)
        pose = pose_of_link(q)
        Jv, Jw = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        for j, unit in enumerate(np.eye(model.nv)):
            slope = along(pose_of_link, q, unit)
            Jv[:, j] = (slope @ com)[:3]
            spin = pose[:3, :3].T @ slope[:3, :3]  # the angular velocity in the link, as a matrix
            Jw[:, j] = spin[2, 1], spin[0, 2], spin[1, 0]
        M += read.inertial.mass * Jv.T @ Jv + Jw.T @ J_com @ Jw
    return M


def turned(roll: float, pitch: float, yaw: float) -> Array:
    """Return Rz(yaw) Ry(pitch) Rx(roll)."""
    (cr, cp, cy), (sr, sp, sy) = np.cos((roll, pitch, yaw)), np.sin((roll, pitch, yaw))
    Rx = np.array([[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]])
    Ry = np.array([[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]])
    Rz = np.array([[cy, -sy, 0.0], [sy, cy, 0.0], [0.0, 0.0, 1.0]])
    rotation: Array = Rz @ Ry @ Rx
    return rotation


def assert_equal(actual: Array, expected: Array) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-10)


def assert_near(actual: Array, expected: Array) -> None:
    """Compare with finite differences."""
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize('seed', SEEDS)
def test_efforts_are_linear_in_the_acceleration(model: RobotModel, seed: int) -> None:
    q, qd, qdd = random_state(seed, model.nv)
    expected = mass_matrix(model, q) @ qdd + model.bias_torques(q, qd)
    assert_equal(model.inverse_dynamics(q, qd, qdd), expected)


@pytest.mark.parametrize('seed', SEEDS)
def test_the_mass_matrix_is_symmetric_and_positive(model: RobotModel, seed: int) -> None:
    M = mass_matrix(model, random_state(seed, model.nv)[0])
    assert_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 0.0


@pytest.mark.parametrize('seed', SEEDS)
def test_the_mass_matrix_is_that_of_the_links_kinetic_energy(
    model: RobotModel, seed: int
) -> None:
    q, _, _ = random_state(seed, model.nv)
    assert_near(mass_matrix(model, q), kinetic_energy_matrix(model, q))


@pytest.mark.parametrize('seed', SEEDS)
def test_gravity_is_the_slope_of_the_potential_energy(model: RobotModel, seed: int) -> None:
    q, _, _ = random_state(seed, model.nv)
    model = model.with_gravity(np.random.default_rng(seed).normal(scale=10.0, size=3))
    slope = [along(lambda at: potential_energy(model, at), q, unit) for unit in np.eye(model.nv)]
    assert_near(model.gravity_torques(q), np.array(slope))


@pytest.mark.parametrize('seed', SEEDS)
def test_coriolis_follows_from_the_mass_matrix(model: RobotModel, seed: int) -> None:
    # Lagrange: C qd = Mdot qd - 1/2 d(qd^T M qd)/dq
    q, qd, _ = random_state(seed, model.nv)
    M_rate = along(lambda at: mass_matrix(model, at), q, qd)
    slope = [
        along(lambda at: np.array(qd @ mass_matrix(model, at) @ qd), q, unit)
        for unit in np.eye(model.nv)
    ]
    assert_near(model.coriolis_torques(q, qd), M_rate @ qd - 0.5 * np.array(slope))


@pytest.mark.parametrize('seed', SEEDS)
def test_the_joints_power_is_the_rate_of_the_energy(model: RobotModel, seed: int) -> None:
    q, qd, qdd = random_state(seed, model.nv)

    def energy(t: Array) -> Array:
        velocity = qd + t * qdd
        position = q + t * qd + 0.5 * t**2 * qdd
        kinetic = 0.5 * velocity @ mass_matrix(model, position) @ velocity
        return np.array(kinetic + potential_energy(model, position))

    power = qd @ model.inverse_dynamics(q, qd, qdd)
    assert_near(np.array(power), along(energy, np.array(0.0), np.array(1.0)))


@pytest.mark.parametrize('seed', SEEDS)
def test_bias_is_coriolis_and_gravity(model: RobotModel, seed: int) -> None:
    q, qd, _ = random_state(seed, model.nv)
    assert_equal(
        model.bias_torques(q, qd), model.coriolis_torques(q, qd) + model.gravity_torques(q)
    )
    assert_equal(model.bias_torques(q, qd), model.inverse_dynamics(q, qd, np.zeros(model.nv)))


@pytest.mark.parametrize('seed', SEEDS)
def test_at_rest_only_gravity_is_left(model: RobotModel, seed: int) -> None:
    q, _, _ = random_state(seed, model.nv)
    rest = np.zeros(model.nv)
    assert_equal(model.inverse_dynamics(q, rest, rest), model.gravity_torques(q))
    assert not model.coriolis_torques(q, rest).any()


@pytest.mark.parametrize('seed', SEEDS)
def test_coriolis_grows_with_the_square_of_the_velocity(model: RobotModel, seed: int) -> None:
    q, qd, _ = random_state(seed, model.nv)
    once = model.coriolis_torques(q, qd)
    assert_equal(model.coriolis_torques(q, 3.0 * qd), 9.0 * once)
    assert_equal(model.coriolis_torques(q, -qd), once)


def test_gravity_does_not_enter_coriolis(model: RobotModel) -> None:
    q, qd, _ = random_state(0, model.nv)
    other = model.with_gravity([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(other.coriolis_torques(q, qd), model.coriolis_torques(q, qd))


@pytest.mark.parametrize('seed', SEEDS)
def test_gravity_torques_are_linear_in_gravity(model: RobotModel, seed: int) -> None:
    q, _, _ = random_state(seed, model.nv)
    g = np.random.default_rng(seed).normal(size=3)
    by_axis = [model.with_gravity(axis).gravity_torques(q) for axis in np.eye(3)]
    assert_equal(model.with_gravity(g).gravity_torques(q), g @ np.array(by_axis))


@pytest.mark.parametrize('seed', SEEDS)
def test_efforts_do_not_change_when_base_and_gravity_turn_together(
    urdf: str, model: RobotModel, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    rpy, xyz = rng.uniform(-3.0, 3.0, size=3), rng.normal(size=3)
    mount = link('mount') + joint(
        'mount_joint', 'fixed', 'mount', model.description.root, xyz=xyz, rpy=rpy
    )
    mounted = load(urdf.replace('</robot>', f'{mount}</robot>'))
    in_mount = mounted.forward_kinematics(np.zeros(model.nv), model.description.root)[:3, :3]
    assert mounted.description.root == 'mount'
    state = random_state(seed, model.nv)
    assert_equal(
        mounted.with_gravity(in_mount @ model.gravity).inverse_dynamics(*state),
        model.inverse_dynamics(*state),
    )


@pytest.mark.parametrize('seed', SEEDS)
def test_gravity_is_the_upward_acceleration_of_the_base(seed: int) -> None:
    # On three slides at its base, an arm that is pushed up with g needs what its weight needs.
    slides = ''.join(
        link(f'slide_{axis}')
        + joint(f'slide_{axis}', 'prismatic', parent, f'slide_{axis}', axis=direction)
        for axis, parent, direction in (
            ('x', 'ground', (1.0, 0.0, 0.0)),
            ('y', 'slide_x', (0.0, 1.0, 0.0)),
            ('z', 'slide_y', (0.0, 0.0, 1.0)),
        )
    )
    arm = SHIPPED[2].read_text(encoding='utf-8')
    fixed = load(SHIPPED[2])
    mount = joint('mount', 'fixed', 'slide_z', fixed.description.root)
    text = arm.replace('</robot>', f'{link("ground")}{slides}{mount}</robot>')
    moving = load(text, (0.0, 0.0, 0.0))
    assert moving.joint_names[:3] == ('slide_x', 'slide_y', 'slide_z')
    q, qd, qdd = random_state(seed, fixed.nv)
    none, up = np.zeros(3), -fixed.gravity
    efforts = moving.inverse_dynamics(
        np.concatenate([none, q]), np.concatenate([none, qd]), np.concatenate([up, qdd])
    )
    assert_equal(efforts[3:], fixed.inverse_dynamics(q, qd, qdd))


@pytest.mark.parametrize('seed', SEEDS)
def test_a_whole_turn_changes_nothing(panda: RobotModel, seed: int) -> None:
    q, qd, qdd = random_state(seed, panda.nv)
    turned = q.copy()
    turned[:7] += 2.0 * np.pi * np.arange(-3, 4)
    np.testing.assert_allclose(
        panda.inverse_dynamics(turned, qd, qdd), panda.inverse_dynamics(q, qd, qdd),
        rtol=1e-9, atol=1e-10,
    )


@pytest.mark.parametrize('seed', SEEDS)
def test_every_pose_is_a_rotation_and_a_translation(model: RobotModel, seed: int) -> None:
    q, _, _ = random_state(seed, model.nv)
    for name in model.link_names:
        pose = model.forward_kinematics(q, name)
        assert_equal(pose[:3, :3] @ pose[:3, :3].T, np.eye(3))
        assert np.linalg.det(pose[:3, :3]) > 0.0
        assert pose[3].tolist() == [0.0, 0.0, 0.0, 1.0]


def test_the_root_stands_at_its_own_origin(model: RobotModel) -> None:
    pose = model.forward_kinematics(random_state(0, model.nv)[0], model.description.root)
    np.testing.assert_array_equal(pose, np.eye(4))
