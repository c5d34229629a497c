# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A model with other inertial parameters, against Pinocchio with the same ones."""

import numpy as np
import pytest

from rnea_ros.errors import InputError
from support.models.comparison import assert_equal
from support.models.robots import ROOT, load

pinocchio = pytest.importorskip('pinocchio', reason='pinocchio is not installed')


@pytest.mark.oracle
def test_other_parameters_give_the_efforts_that_pinocchio_has_with_them() -> None:
    path = ROOT / 'urdf/panda_arm.urdf'
    model = load(path)
    random = np.random.default_rng(0)
    phi = model.inertial_parameters * random.uniform(0.8, 1.2, model.inertial_parameters.size)
    changed = model.with_inertial_parameters(phi)
    assert_equal(changed.inertial_parameters, phi)
    theirs = pinocchio.buildModelFromUrdf(str(path))
    for joint, body in zip(model.joint_names, phi.reshape(-1, 10), strict=True):
        # Jxx, Jxy, Jyy, Jxz, Jyz, Jzz are the order of Pinocchio's dynamic parameters as well.
        theirs.inertias[theirs.getJointId(joint)] = pinocchio.Inertia.FromDynamicParameters(body)
    data = theirs.createData()
    for _ in range(5):
        q, qd, qdd = random.uniform(-1.0, 1.0, (3, model.nv))
        expected = pinocchio.rnea(theirs, data, q, qd, qdd)
        assert_equal(changed.inverse_dynamics(q, qd, qdd), expected)


def test_strict_inertia_accepts_points_and_rods_anywhere() -> None:
    model = load(ROOT / 'urdf/panda_arm.urdf')
    phi = model.inertial_parameters
    for place in np.random.default_rng(0).normal(size=(20, 3)):
        for lever in (np.zeros(3), np.array([0.1, 0.2, -0.1])):
            # Two points of 0.7 kg each, beside each other or both at one place
            points = (place - lever, place + lever)
            J = 0.7 * sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)
            xx, xy, xz, yy, yz, zz = J[np.triu_indices(3)]
            phi[:10] = [1.4, *(1.4 * place), xx, xy, yy, xz, yz, zz]
            accepted = model.with_inertial_parameters(phi, strict_inertia=True)
            np.testing.assert_allclose(accepted.inertial_parameters, phi, atol=1e-12)


def test_with_strict_inertia_only_physical_bodies_are_accepted() -> None:
    model = load(ROOT / 'urdf/panda_arm.urdf')
    phi = 1.1 * model.inertial_parameters
    heavier = model.with_inertial_parameters(phi, strict_inertia=True)
    np.testing.assert_allclose(heavier.inertial_parameters, phi)
    phi[10] = 0.0
    name = model.body_names[1]
    assert model.with_inertial_parameters(phi).inertial_parameters[10] == 0.0
    with pytest.raises(InputError, match=f"link '{name}' has a mass of 0 kg"):
        model.with_inertial_parameters(phi, strict_inertia=True)
