# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Known arms whose recordings are hard: joints creep or rest, runs are short, masses are none."""

from dataclasses import replace
import re

import numpy as np
import pytest

from rnea_ros import RneaError, RobotModel, identification
from rnea_ros.arrays import Array
from rnea_ros.identification.figures import figures
from rnea_ros.identification.pseudo_inertia import about_centre
from rnea_ros.identification.report import text
from rnea_ros.recordings import Recording
from support.models.robots import SHIPPED, description, load
from support.recorded.simulated_arms import RATE, THREE_JOINTS, Arm, arm_unlike, motion, record

MODEL = THREE_JOINTS


def report(arm: Arm, q: Array, qd: Array, qdd: Array, seed: int) -> Recording:
    """Return what the arm reports; a resting joint holds a share of its Coulomb friction."""
    random = np.random.default_rng(seed)
    share = np.where(qd.any(axis=0), 0.0, random.uniform(-1.0, 1.0, qd.shape[1]))
    effort = arm.efforts(q, qd, qdd) + share * arm.coulomb
    effort += arm.noise * random.normal(size=q.shape)
    noisy = q + 2e-5 * random.normal(size=q.shape)
    return Recording(arm.model.joint_names, np.arange(len(q)) / RATE, noisy, qd, effort)


def creeping(arm: Arm, seed: int, greatest: float, steps: int = 12) -> Recording:
    """Return quintic steps of 2.5 s from 0.005 rad/s to the greatest speed, with rests."""
    random = np.random.default_rng(seed)
    parts, at = [], np.zeros(3)
    u = np.arange(int(2.5 * RATE)) / (2.5 * RATE)
    rise = np.array([
        10 * u**3 - 15 * u**4 + 6 * u**5, (30 * u**2 - 60 * u**3 + 30 * u**4) / 2.5,
        (60 * u - 180 * u**2 + 120 * u**3) / 2.5**2,
    ])
    for _ in range(steps):
        step = np.exp(random.uniform(np.log(0.005), np.log(greatest), 3)) * 2.5 / 1.875
        step *= np.where(np.abs(at) > 1.0, -np.sign(at), random.choice([-1.0, 1.0], 3))
        part = rise[:, :, np.newaxis] * step
        part[0] += at
        at = at + step
        rest = np.zeros((3, int(RATE * random.uniform(0.0, 0.8)), 3))
        rest[0] = at
        parts += [part, rest]
    q, qd, qdd = np.concatenate(parts, axis=1)
    return report(arm, q, qd, qdd, seed)


def resting(arm: Arm, *joints: int, seed: int = 0) -> Recording:
    _, q, qd, qdd = motion(arm.model, seed, 20.0)
    q[:, joints], qd[:, joints], qdd[:, joints] = q[0, joints], 0.0, 0.0
    return report(arm, q, qd, qdd, seed)


def run(recording: Recording, model: RobotModel = MODEL) -> identification.Run:
    return identification.run_from(recording, model)


@pytest.mark.parametrize(('greatest', 'error'), [(0.6, 6.0), (0.1, 25.0)])
def test_joints_that_creep_and_stop_are_fitted(greatest: float, error: float) -> None:
    for seed in range(2):
        arm = arm_unlike(MODEL, seed)
        fitted, other = (run(creeping(arm, 10 * seed + k, greatest)) for k in (1, 2))
        fit = identification.identify(MODEL, fitted, validate=other)
        of = fit.comparison
        assert (of.moving_percent(of.identified) < error).all()
        assert of.mean_moving_percent(of.identified) < of.mean_moving_percent(of.urdf)


@pytest.mark.parametrize('smoothing', [0.04, 0.2])
def test_the_smoothing_velocity_is_found_and_does_not_flip(smoothing: float) -> None:
    arm = replace(arm_unlike(MODEL, seed=3), smoothing=np.full(3, smoothing))
    recorded = record(arm, 3, 15.0)
    found, again = (
        identification.identify(model, run(recorded, model)).friction.smoothing_velocity
        for model in (MODEL, turned(4e-6))
    )
    np.testing.assert_allclose(found, smoothing, rtol=0.3)
    np.testing.assert_allclose(again, found, rtol=0.01)


@pytest.mark.parametrize('seed', [0, 3])
def test_errors_of_masses_and_centres_match_their_deviations(seed: int) -> None:
    urdf = load(SHIPPED[2])
    arm = arm_unlike(urdf, seed)
    z: list[float] = []
    for number in (1, 2):
        recorded = record(arm, 10 * seed + number, 15.0)
        cogging = 0.5 * arm.coulomb * np.sin(9.0 * recorded.position)
        rough = replace(recorded, effort=recorded.effort + cogging)
        fit = identification.identify(urdf, run(rough, urdf))
        bodies = arm.model.inertial_parameters.reshape(-1, 10)
        for shown, body in zip(figures(fit).bodies, bodies, strict=True):
            for printed, part in ((shown.mass, slice(0, 1)), (shown.centre, slice(1, 4))):
                error = np.array(printed.identified) - about_centre(body)[part]
                z += [*(error / np.array(printed.deviation))]
    determined = np.isfinite(z)
    assert determined.sum() > 10
    assert np.sqrt(np.mean(np.array(z)[determined] ** 2)) < 1.7


def test_deviations_include_cogging_that_returns_with_the_position() -> None:
    z: list[float] = []
    for seed in range(4):
        arm = arm_unlike(MODEL, seed)
        _, q, qd, qdd = motion(arm.model, seed, 20.0)
        middle = q.mean(axis=0)
        q, qd, qdd = middle + 0.25 * (q - middle), 0.25 * qd, 0.25 * qdd
        recorded = report(arm, q, qd, qdd, seed)
        cogging = 0.5 * arm.coulomb * np.sin(9.0 * recorded.position)
        slow = replace(recorded, effort=recorded.effort + cogging)
        base = identification.identify(MODEL, run(slow), accept_faults=True).base
        truth = base.matrix @ np.concatenate([arm.model.inertial_parameters, arm.armature])
        z += [*((base.values - truth) / base.deviations)]
    assert np.sqrt(np.mean(np.square(z))) < 1.5


def turned(angle: float) -> RobotModel:
    """Return the model with all frames turned about x."""
    pattern, of = '(<origin xyz="[^"]*" rpy=")0[.]0', description(MODEL).text
    text, count = re.subn(pattern, rf'\g<1>{angle}', of)
    assert count
    return load(text)


def test_the_smoothing_velocity_is_at_most_the_speed_of_the_motion() -> None:
    arm = arm_unlike(MODEL, seed=1)
    _, q, qd, qdd = motion(arm.model, 1, 20.0)
    slow = report(arm, 0.1 * q, 0.1 * qd, 0.1 * qdd, 1)
    found, again = (
        identification.identify(model, run(slow, model)).friction.smoothing_velocity
        for model in (MODEL, turned(4e-6))
    )
    assert (found <= 0.1 * np.abs(qd).max(axis=0)).all()
    np.testing.assert_allclose(again, found, rtol=0.01)


@pytest.mark.parametrize('seed', range(2))
def test_a_short_run_is_judged_block_by_block(seed: int) -> None:
    arm = arm_unlike(MODEL, seed)
    fit = identification.identify(MODEL, run(record(arm, seed, 5.0)))
    assert len(fit.comparison.held_out) == 4
    shown = text(figures(fit))
    assert 'recording, part 2' in shown
    assert '; each by a fit of the others' in shown
    stated = np.nanmean(fit.comparison.percent(fit.comparison.identified))
    other = run(record(arm, 90 + seed, 15.0))
    error = fit.efforts(other.q, other.qd, other.qdd) - other.effort
    true = 100.0 * np.mean(np.sqrt((error**2).mean(axis=0) / (other.effort**2).mean(axis=0)))
    assert 0.4 < stated / true < 2.5


def test_too_short_a_run_is_fitted_if_it_is_accepted() -> None:
    short = run(record(arm_unlike(MODEL, 2), 2, 2.6))
    with pytest.raises(RneaError, match=r'recording: 1\.6 s of motion'):
        identification.identify(MODEL, short)
    fit = identification.identify(MODEL, short, accept_faults=True)
    assert 'recording, part 1' in fit.notes[0]


def test_the_error_of_a_resting_joint_does_not_grow() -> None:
    panda = load(SHIPPED[1])
    arm = arm_unlike(panda, seed=0)
    of = identification.identify(panda, run(resting(arm, 3), panda)).comparison
    assert of.identified.rms[3] < of.urdf.rms[3]
    assert of.is_better


@pytest.mark.parametrize('joint', [1, 2])
def test_friction_and_gravity_of_a_single_moving_joint_are_found(joint: int) -> None:
    arm = arm_unlike(MODEL, seed=0)
    recorded = resting(arm, *{0, 1, 2} - {joint})
    fit = identification.identify(MODEL, run(recorded))
    of = fit.comparison
    assert of.moving_percent(of.identified)[joint] < 2.0
    assert fit.friction.coulomb[:, joint].mean() == pytest.approx(arm.coulomb[joint], rel=0.15)
    assert not np.delete(fit.friction.coulomb, joint, axis=1).any()
    assert fit.notes[0].startswith('at rest in all fitted samples, so without friction: pan, ')


def test_masses_that_are_placeholders_are_scaled_to_the_efforts() -> None:
    tiny = re.sub('<mass value="[^"]+"', '<mass value="1e-5"', description(MODEL).text)
    tiny = re.sub('(i[xyz][xyz])="0[.]0[23]"', r'\1="1e-8"', tiny)
    urdf = load(tiny)
    arm = arm_unlike(MODEL, seed=0)
    mass = float(arm.model.inertial_parameters[::10].sum())
    fitted = run(record(arm, 0, 20.0), urdf)
    for total, note in ((None, 'better state the mass'), (mass, 'that is the stated mass')):
        fit = identification.identify(urdf, fitted, total_mass=total)
        of = fit.comparison
        assert (of.moving_percent(of.identified) < 3.0).all()
        assert fit.parameters[::10].sum() == pytest.approx(mass, rel=0.3)
        assert note in fit.notes[0]
