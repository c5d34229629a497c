# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What no method takes: values, shapes and names that are none, wherever in a robot they stand."""

from typing import Any

import numpy as np
import pytest

from rnea_ros import InputError, RobotModel, UnknownNameError, Wrench
from rnea_ros.robot import ContactSolution
from support.cases import each
from support.models.joint_trees import model_of, random_motion, random_parts
from support.models.robots import SHIPPED, description, load

MOTION = (np.ones(6), np.ones(6), np.ones(6))
"""Of an arm of six joints."""

SAMPLES = (np.ones((2, 6)), np.ones((2, 6)), np.ones((2, 6)))

AT_REST = {
    'inverse_dynamics': 2, 'gravity_torques': 0, 'bias_torques': 1, 'coriolis_torques': 1,
    'mass_matrix': 0, 'forward_dynamics': 2, 'inverse_dynamics_derivatives': 2,
    'forward_dynamics_derivatives': 2, 'kinetic_energy': 1, 'potential_energy': 0, 'regressor': 2,
    'internal_wrench': 2, 'forward_kinematics': 0, 'jacobian': 0, 'link_velocity': 1,
    'bias_acceleration': 1, 'centre_of_mass': 0, 'integrate': 1, 'operational_space_dynamics': 1,
    'constrained_inverse_dynamics': 2,
}
"""Methods of positions; how many other arrays of a motion each takes."""

OF_A_LINK = (
    'internal_wrench', 'forward_kinematics', 'jacobian', 'link_velocity', 'bias_acceleration',
    'operational_space_dynamics',
)


@pytest.fixture
def arm() -> RobotModel:
    return load(SHIPPED[2])


@each('method', AT_REST)
@each('kind', ['spherical', 'floating'])
@each('length', [0.0, 1.0 - 2e-6, 1.0 + 2e-6, 100.0])
def test_a_quaternion_of_another_length_is_rejected(method: str, kind: str, length: float) -> None:
    parts = random_parts(0, ['revolute', kind])
    model, rest = model_of(parts), np.zeros(model_of(parts).nv)
    q, _, _ = random_motion(0, parts)
    q[-4:] *= length
    last: dict[str, Any] = {
        'integrate': 1.0, 'constrained_inverse_dynamics': np.zeros((0, model.nv)),
        **dict.fromkeys(OF_A_LINK, model.link_names[-1]),
    }
    arguments = [q, *[rest] * AT_REST[method], *(last[name] for name in last if name == method)]
    with pytest.raises(InputError, match=rf"^q: the quaternion of joint '{kind}_1' has length"):
        getattr(model, method)(*arguments)


def test_a_floating_robots_positions_are_not_as_many_as_its_velocities() -> None:
    model = RobotModel.from_description(description(load(SHIPPED[2])), floating_base=True)
    q, rest = model.neutral_position, np.zeros(model.nv)
    with pytest.raises(InputError, match=r'^q: has shape \(12,\), not \(13,\)$'):
        model.inverse_dynamics(rest, rest, rest)
    with pytest.raises(InputError, match=r'^qd: has shape \(13,\), not \(12,\)$'):
        model.inverse_dynamics(q, q, rest)
    with pytest.raises(InputError, match=r'^v: has shape \(13,\), not \(12,\)$'):
        model.integrate(q, q, 1.0)


ONE_SAMPLE = (
    'inverse_dynamics', 'forward_dynamics', 'internal_wrench', 'constrained_inverse_dynamics',
    'inverse_dynamics_derivatives', 'forward_dynamics_derivatives',
)
WITH_WRENCHES = (
    *ONE_SAMPLE, 'inverse_dynamics_batch', 'forward_dynamics_batch',
    'inverse_dynamics_derivatives_batch', 'forward_dynamics_derivatives_batch',
)


def push(model: RobotModel, method: str, wrenches: Any) -> object:
    motion = MOTION if method in ONE_SAMPLE else SAMPLES
    last: dict[str, Any] = {'internal_wrench': 'tool0'}
    last['constrained_inverse_dynamics'] = np.zeros((0, 6))
    arguments = [*motion, *(last[name] for name in last if name == method)]
    return getattr(model, method)(*arguments, external_wrenches=wrenches)


@each('method', WITH_WRENCHES)
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
    before = push(arm, method, None)
    if isinstance(wrenches, dict):
        wrenches = {'forearm_link': Wrench(force=(1.0, 2.0, 3.0)), **wrenches}
    with pytest.raises(error, match=said):
        push(arm, method, wrenches)
    np.testing.assert_equal(vars_of(push(arm, method, None)), vars_of(before))


def vars_of(result: object) -> object:
    if isinstance(result, Wrench):
        return result.force, result.torque
    return result.efforts if isinstance(result, ContactSolution) else result


@each('method', WITH_WRENCHES)
def test_a_wrench_whose_moment_overflows_is_rejected(arm: RobotModel, method: str) -> None:
    huge = (1e200, -1e200, 1e200)
    before = push(arm, method, None)
    with pytest.raises(InputError, match='not finite'):
        push(arm, method, {'tool0': Wrench(force=huge, point=huge)})
    np.testing.assert_equal(vars_of(push(arm, method, None)), vars_of(before))


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
