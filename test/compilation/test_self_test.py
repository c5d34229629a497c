# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Compiled code that does not see NaN or infinity is rejected before its first use."""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import Any

import numpy as np
import pytest

from rnea_ros import RneaError, RobotModel
from rnea_ros.compilation import COMPILED
from rnea_ros.dynamics import batch_kernels, batch_workspace, self_test
from rnea_ros.dynamics.kernels import checked_kernels
from rnea_ros.errors import CompiledCodeError
from rnea_ros.feedforward.inputs import JointStateMonitor, joint_states, joint_table
from rnea_ros.feedforward.inputs.wrench import wrench_sensor
from rnea_ros.feedforward.inputs.wrench.wrench_sensor import WrenchMonitor
from rnea_ros.feedforward.settings import WrenchInputSettings
from support.models.robots import SHIPPED, load

if not COMPILED:
    pytest.skip('numba is missing or switched off', allow_module_level=True)

import numba

UR5E = SHIPPED[2]


@pytest.fixture(autouse=True)
def nothing_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_test, '_checked', set())


def sum_is_finite(values: Any) -> bool:
    total = 0.0
    for x in values:
        total += 0.0 * x
    return total == 0.0


def test_compiled_code_that_accepts_nan_or_infinity_is_an_error() -> None:
    liberal, strict = numba.njit(fastmath=True)(sum_is_finite), numba.njit(sum_is_finite)
    values = np.ones(4)
    self_test.check_compiled_code('strict', lambda: strict(values), values)
    with pytest.raises(CompiledCodeError, match='RNEA_ROS_PURE_PYTHON=1') as error:
        self_test.check_compiled_code('liberal', lambda: liberal(values), values)
    assert isinstance(error.value, RneaError)
    assert error.value.kernel == 'liberal'


@pytest.mark.parametrize('bad', [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize('place', [0, 3])
def test_one_bad_number_that_is_not_detected_is_enough(bad: float, place: int) -> None:
    values = np.ones(4)

    def accepts() -> bool:
        others = np.delete(values, place)
        seen = np.isfinite(others).all() and (
            math.isfinite(values[place]) or repr(float(values[place])) == repr(bad)
        )
        return bool(seen)

    with pytest.raises(CompiledCodeError, match=f'accepts {bad}'):
        self_test.check_compiled_code('one', accepts, values)


def test_code_that_rejects_finite_numbers_is_an_error() -> None:
    with pytest.raises(CompiledCodeError, match='rejects finite numbers'):
        self_test.check_compiled_code('none', lambda: False, np.ones(2))


Use = Callable[[RobotModel], object]
ROWS = np.zeros((3, 6))

OF_ONE_SAMPLE: dict[str, Use] = {
    'inverse_dynamics': lambda model: model.workspace(),
    'gravity_torques': lambda model: model.workspace(),
    'mass_matrix': lambda model: model.workspace().mass_matrix_into,
    'coriolis_matrix': lambda model: model.workspace().coriolis_matrix_into,
    'forward_dynamics': lambda model: model.workspace().forward_dynamics_into,
    'inverse_dynamics_derivatives': (
        lambda model: model.workspace().inverse_dynamics_derivatives_into
    ),
    'forward_dynamics_derivatives': (
        lambda model: model.workspace().forward_dynamics_derivatives_into
    ),
    'link_pose': lambda model: model.workspace().link_pose_into,
    'jacobian': lambda model: model.workspace().jacobian_into,
    'jacobian_rate': lambda model: model.workspace().jacobian_rate_into,
    'link_motion': lambda model: model.workspace().link_motion_into,
    'centre_of_mass': lambda model: model.workspace().centre_of_mass_into,
    'kinetic_energy': lambda model: model.workspace().kinetic_energy_into,
    'potential_energy': lambda model: model.workspace().potential_energy_into,
    'regressor': lambda model: model.workspace().regressor_into,
}
OF_MANY_SAMPLES: dict[str, Use] = {
    'inverse_dynamics': lambda model: model.inverse_dynamics_batch(ROWS, ROWS, ROWS),
    'gravity_torques': lambda model: model.gravity_torques_batch(ROWS),
    'mass_matrix': lambda model: model.mass_matrix_batch(ROWS),
    'forward_dynamics': lambda model: model.forward_dynamics_batch(ROWS, ROWS, ROWS),
    'regressor': lambda model: model.regressor_batch(ROWS, ROWS, ROWS),
    'inverse_dynamics_derivatives': (
        lambda model: model.inverse_dynamics_derivatives_batch(ROWS, ROWS, ROWS)
    ),
    'forward_dynamics_derivatives': (
        lambda model: model.forward_dynamics_derivatives_batch(ROWS, ROWS, ROWS)
    ),
}


@pytest.mark.parametrize('name', OF_ONE_SAMPLE)
def test_a_kernel_of_one_sample_is_checked_before_its_use(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    model = load(UR5E)
    OF_ONE_SAMPLE[name](model)
    assert name in self_test._checked
    monkeypatch.setattr(self_test, '_checked', set())

    def blind(*arguments: Any) -> bool:
        return True

    blind.__name__ = name
    monkeypatch.setattr(checked_kernels, name, blind)
    with pytest.raises(CompiledCodeError, match=f'{name} accepts nan'):
        OF_ONE_SAMPLE[name](model)


@pytest.mark.parametrize('name', OF_MANY_SAMPLES)
def test_a_kernel_of_many_samples_is_checked_before_its_use(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    model = load(UR5E)
    OF_MANY_SAMPLES[name](model)
    assert f'{name}_batch' in self_test._checked
    monkeypatch.setattr(self_test, '_checked', set())
    monkeypatch.setattr(batch_kernels, name, lambda *arguments: batch_kernels.NO_BAD_SAMPLE)
    with pytest.raises(CompiledCodeError, match=f'{name}_batch accepts nan'):
        OF_MANY_SAMPLES[name](model)


def take_joint_state(
    table: Any, there: Any, here: Any, q: Any, qd: Any, limits: Any, speeds: Any, reach: Any,
    now: Any,
) -> int:
    return joint_table.FINE


def take_wrench(
    force: Any, torque: Any, sign: Any, max_force: Any, max_torque: Any, wrench: Any
) -> int:
    return wrench_sensor.FINE


def test_the_kernel_that_judges_joint_states_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    JointStateMonitor(('a', 'b', 'c'))
    monkeypatch.setattr(self_test, '_checked', set())
    monkeypatch.setattr(joint_states, 'judge_sample', numba.njit(take_joint_state))
    with pytest.raises(CompiledCodeError, match='joint_states accepts nan'):
        JointStateMonitor(('a', 'b', 'c'))


def test_the_kernel_that_judges_wrenches_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = WrenchInputSettings(name='sensor', topic='wrench')
    WrenchMonitor(settings, ())
    monkeypatch.setattr(self_test, '_checked', set())
    monkeypatch.setattr(wrench_sensor, '_judge_reading', numba.njit(take_wrench))
    with pytest.raises(CompiledCodeError, match='wrenches accepts nan'):
        WrenchMonitor(settings, ())


def test_each_kernel_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load(UR5E)
    uses = (*OF_ONE_SAMPLE.values(), *OF_MANY_SAMPLES.values())
    for use in uses:
        use(model)

    def again(*arguments: Any) -> None:
        raise AssertionError('checked again')

    monkeypatch.setattr(self_test, 'check_compiled_code', again)
    monkeypatch.setattr(batch_workspace, 'check_compiled_code', again)
    for use in uses:
        use(model)
