# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What no method takes: values, shapes and names that are none, wherever in a robot they stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rnea_ros import InputError, RobotModel, UnknownNameError, Wrench
from rnea_ros.robot import ContactSolution
from support.cases import each
from support.models.joint_trees import model_of, random_motion, random_parts
from support.models.oracles import Array
from support.models.robots import SHIPPED, description, load

MOTION = (np.ones(6), np.ones(6), np.ones(6))
"""Of an arm of six joints."""

SAMPLES = (np.ones((2, 6)), np.ones((2, 6)), np.ones((2, 6)))

POSITION_CALLS: dict[str, Callable[[RobotModel, Array, Array], object]] = {
    'inverse_dynamics': lambda model, q, rest: model.inverse_dynamics(q, rest, rest),
    'gravity_torques': lambda model, q, _: model.gravity_torques(q),
    'bias_torques': lambda model, q, rest: model.bias_torques(q, rest),
    'coriolis_torques': lambda model, q, rest: model.coriolis_torques(q, rest),
    'mass_matrix': lambda model, q, _: model.mass_matrix(q),
    'forward_dynamics': lambda model, q, rest: model.forward_dynamics(q, rest, rest),
    'inverse_dynamics_derivatives': lambda model, q, rest: model.inverse_dynamics_derivatives(
        q, rest, rest
    ),
    'forward_dynamics_derivatives': lambda model, q, rest: model.forward_dynamics_derivatives(
        q, rest, rest
    ),
    'kinetic_energy': lambda model, q, rest: model.kinetic_energy(q, rest),
    'potential_energy': lambda model, q, _: model.potential_energy(q),
    'regressor': lambda model, q, rest: model.regressor(q, rest, rest),
    'internal_wrench': lambda model, q, rest: model.internal_wrench(
        q, rest, rest, model.link_names[-1]
    ),
    'forward_kinematics': lambda model, q, _: model.forward_kinematics(q, model.link_names[-1]),
    'jacobian': lambda model, q, _: model.jacobian(q, model.link_names[-1]),
    'link_velocity': lambda model, q, rest: model.link_velocity(q, rest, model.link_names[-1]),
    'bias_acceleration': lambda model, q, rest: model.bias_acceleration(
        q, rest, model.link_names[-1]
    ),
    'centre_of_mass': lambda model, q, _: model.centre_of_mass(q),
    'integrate': lambda model, q, rest: model.integrate(q, rest, 1.0),
    'operational_space_dynamics': lambda model, q, rest: model.operational_space_dynamics(
        q, rest, model.link_names[-1], coordinates=(0,)
    ),
    'constrained_inverse_dynamics': lambda model, q, rest: model.constrained_inverse_dynamics(
        q, rest, rest, np.zeros((0, model.nv))
    ),
}


@pytest.fixture
def arm() -> RobotModel:
    return load(SHIPPED[2])


# Positions


@each('method', POSITION_CALLS)
@each('kind', ['spherical', 'floating'])
@each('length', [0.0, 1.0 - 2e-6, 1.0 + 2e-6, 100.0])
def test_a_quaternion_that_has_not_unit_length_is_rejected(
    method: str, kind: str, length: float
) -> None:
    parts = random_parts(0, ['revolute', kind])
    model, rest = model_of(parts), np.zeros(model_of(parts).nv)
    q, _, _ = random_motion(0, parts)
    q[-4:] *= length
    with pytest.raises(InputError, match=rf"^q: the quaternion of joint '{kind}_1' has length"):
        POSITION_CALLS[method](model, q, rest)


@each('method', POSITION_CALLS)
@each('size', [0, 5, 7, 12])
def test_positions_of_another_number_are_rejected(arm: RobotModel, method: str, size: int) -> None:
    with pytest.raises(InputError, match=rf'^q: has shape \({size},\), not \(6,\)$'):
        POSITION_CALLS[method](arm, np.zeros(size), np.zeros(6))


def test_a_floating_robots_positions_are_not_as_many_as_its_velocities() -> None:
    model = RobotModel.from_description(description(load(SHIPPED[2])), floating_base=True)
    q, rest = model.neutral_position, np.zeros(model.nv)
    with pytest.raises(InputError, match=r'^q: has shape \(12,\), not \(13,\)$'):
        model.inverse_dynamics(rest, rest, rest)
    with pytest.raises(InputError, match=r'^qd: has shape \(13,\), not \(12,\)$'):
        model.inverse_dynamics(q, q, rest)
    with pytest.raises(InputError, match=r'^v: has shape \(13,\), not \(12,\)$'):
        model.integrate(q, q, 1.0)


# Points

# Tasks and contacts


def test_a_task_of_an_unknown_link_is_rejected(arm: RobotModel) -> None:
    with pytest.raises(UnknownNameError, match="unknown link 'no'"):
        arm.operational_space_dynamics(np.ones(6), np.ones(6), 'no')


@each('unactuated', [['no'], ['elbow_joint', ''], ['tool0'], [None], [['elbow_joint']]])
def test_an_unknown_joint_without_actuator_is_rejected(arm: RobotModel, unactuated: Any) -> None:
    with pytest.raises(UnknownNameError, match='unknown joint'):
        arm.constrained_inverse_dynamics(*MOTION, np.zeros((0, 6)), unactuated)


# The base


# Wrenches

WRENCH_CALLS: dict[str, Callable[[RobotModel, Any], object]] = {
    'inverse_dynamics': lambda model, wrenches: model.inverse_dynamics(
        *MOTION, external_wrenches=wrenches
    ),
    'forward_dynamics': lambda model, wrenches: model.forward_dynamics(
        *MOTION, external_wrenches=wrenches
    ),
    'internal_wrench': lambda model, wrenches: model.internal_wrench(
        *MOTION, 'tool0', external_wrenches=wrenches
    ),
    'constrained_inverse_dynamics': lambda model, wrenches: model.constrained_inverse_dynamics(
        *MOTION, np.zeros((0, 6)), external_wrenches=wrenches
    ),
    'inverse_dynamics_derivatives': lambda model, wrenches: model.inverse_dynamics_derivatives(
        *MOTION, external_wrenches=wrenches
    ),
    'forward_dynamics_derivatives': lambda model, wrenches: model.forward_dynamics_derivatives(
        *MOTION, external_wrenches=wrenches
    ),
    'inverse_dynamics_batch': lambda model, wrenches: model.inverse_dynamics_batch(
        *SAMPLES, external_wrenches=wrenches
    ),
    'forward_dynamics_batch': lambda model, wrenches: model.forward_dynamics_batch(
        *SAMPLES, external_wrenches=wrenches
    ),
    'inverse_dynamics_derivatives_batch': (
        lambda model, wrenches: model.inverse_dynamics_derivatives_batch(
            *SAMPLES, external_wrenches=wrenches
        )
    ),
    'forward_dynamics_derivatives_batch': (
        lambda model, wrenches: model.forward_dynamics_derivatives_batch(
            *SAMPLES, external_wrenches=wrenches
        )
    ),
}


@each('method', WRENCH_CALLS)
@each(('wrenches', 'error', 'said'), [
    ({'no': Wrench()}, UnknownNameError, "unknown link 'no'"),
    ({'': Wrench()}, UnknownNameError, "unknown link ''"),
    ({'tool0': Wrench(frame='no')}, UnknownNameError, "unknown link 'no'"),
    ({'tool0': Wrench(frame='')}, UnknownNameError, "unknown link ''"),
    ({'tool0': Wrench(frame=['base'])}, UnknownNameError, r"unknown link \['base'\]"),  # type: ignore[arg-type]
    ({3: Wrench()}, UnknownNameError, 'unknown link 3'),
    ({'tool0': Wrench(force=(10**400, 0, 0))}, InputError, "force on link 'tool0'"),
    ({'tool0': Wrench(force=np.ones((3, 3)))}, InputError, "force on link 'tool0'"),
    ({'tool0': Wrench(force=(1.0, 2.0))}, InputError, "force on link 'tool0'"),
    ({'tool0': Wrench(torque=(np.nan,) * 3)}, InputError, "torque on link 'tool0'"),
    ({'tool0': Wrench(point='tip')}, InputError, "point on link 'tool0'"),
    ({'tool0': (1.0, 2.0, 3.0)}, InputError, "wrench on link 'tool0'"),
    ([Wrench()], InputError, 'external_wrenches'),
    (Wrench(), InputError, 'external_wrenches'),
    ('tool0', InputError, 'external_wrenches'),
])
def test_a_rejected_wrench_is_named_and_leaves_nothing_behind(
    arm: RobotModel, method: str, wrenches: Any, error: type[Exception], said: str
) -> None:
    call = WRENCH_CALLS[method]
    before = call(arm, None)
    if isinstance(wrenches, dict):
        wrenches = {'forearm_link': Wrench(force=(1.0, 2.0, 3.0)), **wrenches}
    with pytest.raises(error, match=said):
        call(arm, wrenches)
    np.testing.assert_equal(vars_of(call(arm, None)), vars_of(before))


def vars_of(result: object) -> object:
    if isinstance(result, Wrench):
        return result.force, result.torque
    return result.efforts if isinstance(result, ContactSolution) else result


@each('method', WRENCH_CALLS)
def test_a_wrench_so_large_that_its_moment_overflows_is_rejected(
    arm: RobotModel, method: str
) -> None:
    huge = (1e200, -1e200, 1e200)
    before = WRENCH_CALLS[method](arm, None)
    with pytest.raises(InputError, match='not finite'):
        WRENCH_CALLS[method](arm, {'tool0': Wrench(force=huge, point=huge)})
    np.testing.assert_equal(vars_of(WRENCH_CALLS[method](arm, None)), vars_of(before))


@each('name', ['base_link', 'no', '', 'elbow_joint', None])
def test_only_a_link_that_a_joint_carries_can_be_cut_off(arm: RobotModel, name: Any) -> None:
    with pytest.raises(UnknownNameError) as caught:
        arm.internal_wrench(*MOTION, name)
    assert caught.value.known == arm.link_names[1:]


@each('names', ['elbow_joint', None, 3, np.array('elbow_joint')])
def test_names_must_be_a_sequence(arm: RobotModel, names: Any) -> None:
    with pytest.raises(InputError, match=r'^unactuated: expected a sequence of names, got '):
        arm.constrained_inverse_dynamics(*MOTION, np.zeros((0, 6)), names)
    with pytest.raises(InputError, match=r'^links: expected a sequence of names, got '):
        arm.link_positions_batch(np.zeros((2, 6)), names)
