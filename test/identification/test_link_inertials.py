# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters of bodies become mass properties of links, each counted once."""

from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.arrays import Array
from rnea_ros.identification.link_inertials import link_inertials
from rnea_ros.urdf import with_inertials
from support.models.robots import SHIPPED, description, joint, link, load, robot, vendor_robots

ROBOTS = [*SHIPPED, *vendor_robots('baxter', 'kinova', 'so100', 'talos_left_arm', 'ur5_gripper')]


def another_body(phi: Array, rng: np.random.Generator) -> Array:
    """Return a body heavier than another and around it: the other, and points of mass."""
    phi = phi.copy()
    for _ in range(4):
        mass, (x, y, z) = rng.uniform(0.1, 1.0), rng.uniform(-0.2, 0.2, 3)
        moments = (y * y + z * z, -x * y, x * x + z * z, -x * z, -y * z, x * x + y * y)
        phi += mass * np.array([1.0, x, y, z, *moments])
    return phi


@pytest.mark.oracle
@pytest.mark.parametrize('path', ROBOTS)
def test_the_written_urdf_has_the_identified_parameters_and_torques(path: Any) -> None:
    pinocchio = pytest.importorskip('pinocchio', reason='Pinocchio (pin) is not installed')
    model = load(path)
    rng = np.random.default_rng(7)
    bodies = model.inertial_parameters.reshape(-1, 10)
    phi = np.concatenate([another_body(body, rng) for body in bodies])
    changed = model.with_inertial_parameters(phi)
    np.testing.assert_allclose(changed.inertial_parameters, phi, rtol=1e-9, atol=1e-10)
    text = with_inertials(description(model).text, link_inertials(model, phi)[0])
    np.testing.assert_allclose(load(text).inertial_parameters, phi, rtol=1e-7, atol=1e-8)
    if not model.has_one_axis_joints_only:
        return
    oracle = pinocchio.buildModelFromXML(text)
    names = [*oracle.names][1:]
    if oracle.nq != oracle.nv or oracle.nv != model.nv or set(names) != {*model.joint_names}:
        return  # mimic and continuous joints, which Pinocchio reads in other coordinates
    order = [model.joint_names.index(name) for name in names]
    q, qd, qdd = rng.uniform(-1.0, 1.0, (3, model.nv))
    tau = pinocchio.rnea(oracle, oracle.createData(), q[order], qd[order], qdd[order])
    for ours in (model.regressor(q, qd, qdd) @ phi, changed.inverse_dynamics(q, qd, qdd)):
        np.testing.assert_allclose(tau, ours[order], rtol=1e-6, atol=1e-6)


def arm(*more: str, moving: str = '') -> RobotModel:
    return load(robot(
        link('base', 3.0), moving or link('arm', 1.0, (0.1, 0.0, 0.0), rpy=(0.3, 0.0, 1.0)),
        joint('shoulder', 'revolute', 'base', 'arm', axis=(0, 1, 0)), *more,
    ))


def tool(mass: float) -> tuple[str, str]:
    return (
        link('tool', mass, (0.0, 0.0, 0.1), inertia=(1e-3, 0.0, 0.0, 1e-3, 0.0, 1e-3)),
        joint('mount', 'fixed', 'arm', 'tool', xyz=(0.2, 0.0, 0.0), rpy=(0.0, 1.0, 0.0)),
    )


@pytest.mark.parametrize(('mass', 'fits'), [(0.1, True), (2.5, False)])
def test_a_tool_keeps_its_mass_only_if_it_fits_into_the_body(mass: float, fits: bool) -> None:
    model = arm(*tool(mass))
    phi = model.inertial_parameters
    phi = another_body(phi, np.random.default_rng(1)) if fits else 0.3 * phi
    inertials, (note,) = link_inertials(model, phi)
    read = load(with_inertials(description(model).text, inertials))
    before, after = (description(each).links['tool'].inertial for each in (model, read))
    assert after == (before if fits else None)
    assert f'tool, fixed to it, {"stays as before" if fits else "is removed"}' in note
    np.testing.assert_allclose(read.inertial_parameters, phi, rtol=1e-8, atol=1e-9)


def test_the_mass_stays_on_a_body_that_is_fixed_to_a_frame_without_mass() -> None:
    model = arm(*tool(2.5), moving=link('arm'))
    inertials, notes = link_inertials(model, 0.3 * model.inertial_parameters)
    assert (inertials.keys(), notes) == ({'tool'}, ())


def test_bodies_with_unchanged_parameters_and_the_base_stay_as_written() -> None:
    hand = (link('hand', 0.5), joint('wrist', 'revolute', 'arm', 'hand'))
    stand = (link('stand', 9.0), joint('bolts', 'fixed', 'base', 'stand'))
    model = arm(*hand, *stand)
    phi = model.inertial_parameters.copy()
    assert link_inertials(model, phi * (1.0 + 1e-12)) == ({}, ())
    phi[10:] *= 1.5
    assert link_inertials(model, phi)[0].keys() == {'hand'}


def test_the_inertial_frame_keeps_its_axes() -> None:
    model = arm()
    inertials, _ = link_inertials(model, 2.0 * model.inertial_parameters)
    before, after = description(model).links['arm'].inertial, inertials['arm']
    assert before is not None
    assert after.origin.rpy == before.origin.rpy
    np.testing.assert_allclose(after.origin.xyz, before.origin.xyz, atol=1e-9)
    np.testing.assert_allclose(after.inertia, 2.0 * np.array(before.inertia), atol=1e-9)
