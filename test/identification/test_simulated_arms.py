# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Identification of arms that are known exactly: parameters, payloads, gravity."""

from dataclasses import replace
from functools import cache
import re

import numpy as np
import pytest

from rnea_ros import RneaError, RobotModel, identification
from rnea_ros.arrays import Array
from rnea_ros.feedforward.laws import JointFriction
from rnea_ros.feedforward.loaded_model import JointSpring
from rnea_ros.identification.figures import figures
from rnea_ros.identification.report import text
from rnea_ros.recordings import Recording
from rnea_ros.robot import Payload
from support.models.robots import ROOT, description, load
from support.recorded.simulated_arms import THREE_JOINTS, Arm, arm_unlike, record


@cache
def model(name: str) -> RobotModel:
    return load(ROOT / 'urdf' / f'{name}.urdf')


def friction(arm: Arm) -> JointFriction:
    return JointFriction(
        np.tile(arm.viscous, (2, 1)), np.tile(arm.coulomb, (2, 1)), arm.load, arm.smoothing,
        arm.offset,
    )


def rms(values: Array) -> Array:
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)))


def held(
    arm: Arm, poses: Array, coulomb: Array, random: np.random.Generator, count: int
) -> Recording:
    """Return poses at rest, each held with a share of the dry friction, every 5 s."""
    rest = np.zeros_like(poses)
    efforts = arm.efforts(poses, rest, rest) + coulomb * arm.coulomb
    q, efforts = (np.repeat(each, count, axis=0) for each in (poses, efforts))
    efforts += arm.noise * random.normal(size=efforts.shape)
    time = np.concatenate([5.0 * k + 0.01 * np.arange(count) for k in range(len(poses))])
    return Recording(arm.model.joint_names, time, q, 0.0 * q, efforts)


@pytest.mark.parametrize(('urdf', 'offset'), [('panda_arm', 0.0), ('ur5e', 2.0)])
def test_parameters_and_efforts_unlike_the_urdfs_are_found(urdf: str, offset: float) -> None:
    arm = arm_unlike(model(urdf), seed=1)
    if offset:
        arm = replace(arm, offset=offset * arm.coulomb)
    run = identification.run_from(record(arm, 1, 30.0), model(urdf))
    fit = identification.identify(model(urdf), run)
    truth = fit.base.matrix @ np.concatenate([arm.model.inertial_parameters, arm.armature])
    assert np.mean(np.abs(fit.base.values - truth) / fit.base.deviations < 3.0) >= 0.95
    assert {*fit.origin} == {*identification.ParameterOrigin}
    (held_out,) = fit.comparison.held_out
    noise = held_out.effort - arm.efforts(held_out.q, held_out.qd, held_out.qdd)
    assert (fit.comparison.identified.rms <= 1.2 * rms(noise)).all()
    assert fit.comparison.is_better
    assert not re.search('spring|shared', ' '.join(fit.notes))


@pytest.mark.parametrize('digits', [2, 4])
@pytest.mark.parametrize('urdf', ['panda_arm', 'ur5e'])
def test_rounded_angles_add_no_combination(urdf: str, digits: int) -> None:
    def rounded(angles: re.Match[str]) -> str:
        return ' '.join(f'{float(each):.{digits}f}' for each in angles[0].split())

    exact = model(urdf)
    rough = load(re.sub(r'(?<=rpy=")[^"]+', rounded, description(exact).text))
    recorded = record(arm_unlike(exact, seed=1), 1, 15.0)
    base, other = (
        identification.identify(each, identification.run_from(recorded, each)).base
        for each in (exact, rough)
    )
    assert other.rank == base.rank
    assert other.condition == pytest.approx(base.condition, rel=0.05)
    assert digits == 2 or other.combinations == base.combinations


def test_currents_with_factors_are_efforts() -> None:
    factors = np.array([12.6, 9.3, -9.3])  # N m/A
    efforts = record(arm_unlike(THREE_JOINTS, seed=1), 1, 10.0)
    expected = identification.run_from(efforts, THREE_JOINTS)
    currents = efforts.with_scaled_effort(1.0 / factors)
    run = identification.run_from(currents, THREE_JOINTS, effort_scale=factors)
    np.testing.assert_allclose(run.effort, expected.effort, rtol=1e-9, atol=1e-9)
    for unusable in (factors[:2], [12.6, 9.3, 0.0]):
        with pytest.raises(RneaError, match='one factor, or one for each'):
            identification.run_from(currents, THREE_JOINTS, effort_scale=unusable)


SPRING = replace(
    arm_unlike(THREE_JOINTS, seed=1), stiffness=np.array([0.0, 30.0, 0.0]), rest_position=0.3
)
SPRUNG = identification.run_from(record(SPRING, 1, 20.0), THREE_JOINTS)


def test_a_spring_is_suggested_then_found_with_the_bodies() -> None:
    plain = identification.identify(THREE_JOINTS, SPRUNG, accept_faults=True)
    (note,) = (note for note in plain.notes if re.search('spring|shared', note))
    assert re.match(r'lift: spring of (29|30)\S* \+- .* rad or m, takes \d\d % off', note)
    assert note.endswith('if the arm has it: --spring lift')
    assert not plain.spring.stiffness.any()
    fit = identification.identify(THREE_JOINTS, SPRUNG, springs=['lift'])
    truth = fit.base.matrix @ np.concatenate([SPRING.model.inertial_parameters, SPRING.armature])
    assert (np.abs(fit.base.values - truth) < 3.0 * fit.base.deviations).all()
    assert fit.spring.stiffness[[0, 2]].tolist() == [0.0, 0.0]
    assert abs(fit.spring.stiffness[1] - 30.0) < 3.0 * fit.joint_deviations.stiffness[1] < 1.0
    # The offset of the sensor is a part of the rest position.
    rest = 0.3 - SPRING.offset[1] / 30.0
    (found,) = re.findall(r'lift: spring .* at rest at (\S+) \+- (\S+) rad', text(figures(fit)))
    assert abs(float(found[0]) - rest) < 3.0 * float(found[1]) < 0.05
    (held_out,) = fit.comparison.held_out
    noise = held_out.effort - SPRING.efforts(held_out.q, held_out.qd, held_out.qdd)
    assert (fit.comparison.identified.rms <= 1.2 * rms(noise)).all()
    assert fit.node_parameters()['spring.stiffness'] == fit.spring.stiffness.tolist()


@pytest.mark.parametrize('ratio', [1.0, -1.0])
def test_shared_friction_is_suggested_then_found_with_the_bodies(ratio: float) -> None:
    arm = replace(arm_unlike(THREE_JOINTS, seed=1), shared=0.5, ratio=ratio)
    run = identification.run_from(record(arm, 1, 20.0), THREE_JOINTS)
    plain = identification.identify(THREE_JOINTS, run)
    (note,) = (note for note in plain.notes if re.search('spring|shared', note))
    option = '--shared-friction lift elbow' + (' -1' if ratio < 0.0 else '')
    assert re.search(rf'takes \d\d % off .* has it: {option}$', note)
    assert plain.friction.shared is None
    shared_friction = ['lift', 'elbow', *[ratio] * (ratio != 1.0)]
    fit = identification.identify(THREE_JOINTS, run, shared_friction=shared_friction)
    (found,) = re.findall(
        r'lift, elbow: shared .* viscous (\S+) \+- (\S+), Coulomb (\S+) \+- (\S+);',
        text(figures(fit)),
    )
    viscous, one, coulomb, two = map(float, found)
    assert abs(viscous - 0.5) < 3.0 * one < 0.1
    assert abs(coulomb - 0.5) < 3.0 * two < 0.1
    truth = fit.base.matrix @ np.concatenate([arm.model.inertial_parameters, arm.armature])
    assert (np.abs(fit.base.values - truth) < 3.0 * fit.base.deviations).all()
    (held_out,) = fit.comparison.held_out
    noise = held_out.effort - arm.efforts(held_out.q, held_out.qd, held_out.qdd)
    assert (fit.comparison.identified.rms <= 1.2 * rms(noise)).all()


@pytest.mark.parametrize(('springs', 'error'), [
    (['lift', 'elbow'], r'not visible: elbow: spring of \S+ \+- \S+ N m/rad .* no --spring elbow'),
    (['hand'], "unknown joint 'hand'; known are pan"),
])
def test_springs_that_are_not_there_are_rejected(springs: list[str], error: str) -> None:
    with pytest.raises(RneaError, match=error):
        identification.identify(THREE_JOINTS, SPRUNG, springs=springs)


def carried(arm: Arm, urdf: RobotModel, payload: Payload, seed: int) -> identification.PayloadFit:
    """Return the payload that is found on an arm whose friction is known."""
    loaded = arm.with_payload(payload.link, payload.mass, payload.com, payload.inertia)
    run = identification.run_from(record(loaded, seed, 15.0), urdf)
    return identification.identify_payload(
        urdf, run, payload.link, friction=friction(arm), armature=arm.armature,
        spring=JointSpring(arm.stiffness + np.zeros(urdf.nv), np.full(urdf.nv, arm.rest_position))
    )


def test_a_payload_is_found_with_the_arm_held() -> None:
    arm = arm_unlike(model('panda_arm'), seed=3)
    arm = replace(arm, stiffness=20.0 * (np.arange(7) == 3), rest_position=-1.0)
    payload = Payload('fer_link8', 5.0, (0.0, -0.05, 0.1), (0.005, 0.0, 0.0, 0.005, 0.0, 0.005))
    fit = carried(arm, arm.model, payload, 4)
    assert fit.payload.mass == pytest.approx(5.0, rel=0.03)
    np.testing.assert_allclose(np.array(fit.payload.com), (0.0, -0.05, 0.1), atol=0.005)
    assert (fit.rms_with < fit.rms_without + 1e-3).all()


@pytest.mark.parametrize('seed', range(2))
def test_a_payload_is_right_within_its_deviation_on_a_wrong_arm(seed: int) -> None:
    arm, random = arm_unlike(model('panda_arm'), seed), np.random.default_rng(seed)
    mass = random.uniform(0.5, 5.0)
    wrong = np.repeat(1.0 + 0.05 * random.normal(size=len(arm.model.body_names)), 10)
    urdf = arm.model.with_inertial_parameters(wrong * arm.model.inertial_parameters)
    fit = carried(arm, urdf, Payload('fer_link8', mass, (0.0, 0.05, 0.1)), seed)
    assert abs(fit.payload.mass - mass) < 2.0 * fit.mass_deviation
    assert fit.mass_deviation < 0.25 * mass + 0.1


@pytest.mark.parametrize('mass', [2.8, 0.0])
def test_a_payload_is_weighed_in_poses_at_rest(mass: float) -> None:
    random = np.random.default_rng(5)
    bare = arm_unlike(model('panda_arm'), seed=3)
    arm = bare.with_payload('fer_link8', mass, (0.01, 0.0, 0.1), np.zeros(6)) if mass else bare
    poses = random.uniform(-1.2, 1.2, (12, 7))
    # Static friction holds each joint anywhere within its Coulomb friction.
    recorded = held(arm, poses, 0.5 * random.uniform(-1.0, 1.0, poses.shape), random, 250)
    run = identification.run_from(recorded, model('panda_arm'))
    if not mass:
        with pytest.raises(identification.IdentificationError, match='no payload is visible'):
            identification.identify_payload(bare.model, run, 'fer_link8')
        return
    fit = identification.identify_payload(bare.model, run, 'fer_link8')
    assert fit.at_rest
    assert fit.payload.mass == pytest.approx(mass, rel=0.05)
    np.testing.assert_allclose(np.array(fit.payload.com), (0.01, 0.0, 0.1), atol=0.01)
    assert not np.array(fit.payload.inertia).any()


def test_each_of_three_recordings_is_judged_by_a_fit_of_the_others() -> None:
    arm = arm_unlike(THREE_JOINTS, seed=4)
    runs = [
        identification.run_from(record(arm, seed, 8.0), THREE_JOINTS, name=f'bag {seed}')
        for seed in range(3)
    ]
    fit = identification.identify(THREE_JOINTS, runs)
    alone = identification.identify(THREE_JOINTS, runs[:2], validate=runs[2])
    assert [run.name for run in fit.comparison.held_out] == ['bag 0', 'bag 1', 'bag 2']
    np.testing.assert_allclose(
        fit.comparison.identified.predicted[2], alone.comparison.identified.predicted[0]
    )
    assert '; each by a fit of the others' in text(figures(fit))


def test_gravity_is_identified_in_poses_approached_from_both_sides() -> None:
    panda, random = model('panda_arm'), np.random.default_rng(5)
    arm = arm_unlike(panda, seed=1)
    poses = np.tile(random.uniform(-1.2, 1.2, (12, 7)), (2, 1))
    side = np.repeat([0.8, -0.8], 12)[:, np.newaxis]
    recorded = held(arm, poses, side, random, 100)
    run = identification.run_from(recorded, panda, poses=True)
    assert len(run.time) == 12
    fit = identification.identify(panda, run)
    assert fit.comparison.is_better
    elsewhere = random.uniform(-1.2, 1.2, (50, 7))
    truth = arm.model.gravity_torques_batch(elsewhere)
    errors, before = (
        rms(of.gravity_torques_batch(elsewhere) - truth) for of in (fit.model, panda)
    )
    assert (errors[1:] < 0.3 * before[1:]).all()
    assert not fit.friction.coulomb.any()
    with pytest.raises(identification.IdentificationError, match='only 7 different poses'):
        identification.run_from(recorded.part(slice(0, 700)), panda, poses=True)


def test_only_chosen_links_are_identified() -> None:
    arm = arm_unlike(THREE_JOINTS, seed=5)
    run = identification.run_from(record(arm, 5, duration=15.0), THREE_JOINTS)
    fit = identification.identify(THREE_JOINTS, run, links=['fore'])
    changed = (fit.parameters != THREE_JOINTS.inertial_parameters).reshape(-1, 10).any(axis=1)
    assert changed.tolist() == [name == 'fore' for name in THREE_JOINTS.body_names]
