# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Identification of arms that are known exactly."""

from __future__ import annotations

import numpy as np
import pytest

from rnea_ros import identification
from rnea_ros.feedforward.law import JointFriction
from support.models.robots import ROOT, load
from support.recorded.simulated_arms import arm_unlike, record

URDFS = ('panda_arm.urdf', 'ur5e.urdf')


@pytest.mark.parametrize('urdf', URDFS)
def test_base_parameters_and_efforts_of_an_arm_unlike_its_urdf_are_found(urdf: str) -> None:
    # 20 seeds by hand: 99 % within three deviations, median of the ratio 1.02.
    model = load(ROOT / 'urdf' / urdf)
    arm = arm_unlike(model, seed=1)
    fit = identification.identify(model, identification.run_from(record(arm, 1), model))
    truth = fit.base.matrix @ np.concatenate([arm.model.inertial_parameters, arm.armature])
    errors = np.abs(fit.base.values - truth) / fit.base.deviations
    print(errors.round(1))
    assert np.mean(errors < 3.0) >= 0.95
    held_out = fit.comparison.held_out[0]
    noise = held_out.effort - arm.efforts(held_out.q, held_out.qd, held_out.qdd)
    floor = np.sqrt(np.mean(noise**2, axis=0))
    assert (fit.comparison.identified.rms <= 1.2 * floor).all()
    assert fit.comparison.is_better


@pytest.mark.parametrize(('mass', 'com'), [(0.5, (0.03, 0.0, 0.08)), (5.0, (0.0, -0.05, 0.1))])
def test_a_payload_is_found_with_the_arm_held(mass: float, com: tuple[float, ...]) -> None:
    model = load(ROOT / 'urdf/panda_arm.urdf')
    arm = arm_unlike(model, seed=3)
    inertia = mass * 0.03**2 * np.array([1.0, 0.0, 0.0, 1.0, 0.0, 1.0])
    loaded = record(arm.with_payload('fer_link8', mass, com, inertia), 4)
    friction = JointFriction(
        np.array([arm.viscous, arm.viscous]),
        np.array([arm.coulomb + arm.offset, arm.coulomb - arm.offset]),
        arm.load,
        arm.smoothing,
    )
    fit = identification.identify_payload(
        arm.model,
        identification.run_from(loaded, model),
        'fer_link8',
        friction=friction,
        armature=arm.armature,
    )
    assert fit.payload.mass == pytest.approx(mass, rel=0.03)
    np.testing.assert_allclose(np.array(fit.payload.com), np.array(com), atol=0.005)
    assert (fit.rms_with < fit.rms_without + 1e-3).all()


def test_only_chosen_links_are_identified() -> None:
    model = load(ROOT / 'urdf/ur5e.urdf')
    run = identification.run_from(record(arm_unlike(model, seed=5), 5, duration=20.0), model)
    fit = identification.identify(model, run, links=['wrist_3_link'])
    changed = (fit.parameters != model.inertial_parameters).reshape(-1, 10).any(axis=1)
    names = [name for name, new in zip(model.body_names, changed, strict=True) if new]
    assert names == ['wrist_3_link']
