# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Compiled code that does not see NaN or infinity is rejected before its first use."""

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
from rnea_ros.feedforward.inputs import JointStateMonitor, joint_samples
from rnea_ros.feedforward.inputs.wrench import wrench_sensor
from rnea_ros.feedforward.inputs.wrench.wrench_sensor import WrenchMonitor
from rnea_ros.feedforward.settings import WrenchInputSettings
from support.cases import each
from support.models.robots import SHIPPED, load

if not COMPILED:
    pytest.skip('numba is missing or switched off', allow_module_level=True)

import numba

UR5E = SHIPPED[2]


@pytest.fixture(autouse=True)
def nothing_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_test, '_checked', set())


def test_compiled_code_that_accepts_nan_or_infinity_is_an_error() -> None:
    def sum_is_finite(values: Any) -> bool:
        total = 0.0
        for x in values:
            total += 0.0 * x
        return total == 0.0

    liberal, strict = numba.njit(fastmath=True)(sum_is_finite), numba.njit(sum_is_finite)
    values = np.ones(4)
    self_test.check_compiled_code('strict', lambda: strict(values), values)
    with pytest.raises(CompiledCodeError, match='RNEA_ROS_PURE_PYTHON=1') as error:
        self_test.check_compiled_code('liberal', lambda: liberal(values), values)
    assert isinstance(error.value, RneaError)
    assert error.value.kernel == 'liberal'
    with pytest.raises(CompiledCodeError, match='rejects finite numbers'):
        self_test.check_compiled_code('none', lambda: False, values)


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


ROWS = np.zeros((3, 6))
OF_ONE_SAMPLE = (
    'inverse_dynamics', 'gravity_torques', 'mass_matrix', 'coriolis_matrix', 'forward_dynamics',
    'inverse_dynamics_derivatives', 'forward_dynamics_derivatives', 'link_pose', 'jacobian',
    'jacobian_rate', 'link_motion', 'centre_of_mass', 'kinetic_energy', 'potential_energy',
    'regressor',
)
OF_MANY_SAMPLES = {
    'inverse_dynamics': 3, 'gravity_torques': 1, 'mass_matrix': 1, 'forward_dynamics': 3,
    'regressor': 3, 'inverse_dynamics_derivatives': 3, 'forward_dynamics_derivatives': 3,
}
"""Number of arrays that each takes."""


def use_one(model: RobotModel, name: str) -> None:
    """Make a workspace, which checks two kernels, or take another one from it."""
    workspace = model.workspace()
    if name not in OF_ONE_SAMPLE[:2]:
        getattr(workspace, f'{name}_into')


def use_many(model: RobotModel, name: str) -> None:
    getattr(model, f'{name}_batch')(*[ROWS] * OF_MANY_SAMPLES[name])


USES: list[tuple[Callable[[RobotModel, str], None], str, Any, str, object]] = [
    *((use_one, name, checked_kernels, name, True) for name in OF_ONE_SAMPLE),
    *(
        (use_many, name, batch_kernels, f'{name}_batch', batch_kernels.NO_BAD_SAMPLE)
        for name in OF_MANY_SAMPLES
    ),
]
"""Use of a kernel, its name, module and label, and what it returns if it accepts all."""


@each(('use', 'name', 'module', 'label', 'accepted'), USES)
def test_a_kernel_is_checked_before_its_use(
    use: Any, name: str, module: Any, label: str, accepted: object
) -> None:
    def blind(*arguments: Any) -> object:
        return accepted

    blind.__name__ = name
    model = load(UR5E)
    use(model, name)
    assert label in self_test._checked
    with pytest.MonkeyPatch.context() as patch:
        for each_module in (self_test, batch_workspace):
            patch.setattr(each_module, 'check_compiled_code', None)  # once is enough
        use(model, name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(self_test, '_checked', set())
        patch.setattr(module, name, blind)
        with pytest.raises(CompiledCodeError, match=f'{label} accepts nan'):
            use(model, name)


def take_joint_state(
    table: Any, bounds: Any, there: Any, here: Any, q: Any, qd: Any, effort: Any, stamp: Any,
    now: Any, machine: Any, time_constant: Any, frozen: Any,
) -> int:
    return joint_samples.STORED


def take_wrench(
    force: Any, torque: Any, sign: Any, max_force: Any, max_torque: Any, wrench: Any
) -> int:
    return wrench_sensor.FINE


def wrench_monitor() -> object:
    return WrenchMonitor(WrenchInputSettings(name='sensor', topic='wrench'), ())


@pytest.mark.parametrize(('monitor', 'module', 'kernel', 'blind', 'label'), [
    (lambda: JointStateMonitor(('a', 'b')), joint_samples, 'judge_and_store', take_joint_state,
     'joint_states'),
    (wrench_monitor, wrench_sensor, '_judge_reading', take_wrench, 'wrenches'),
])
def test_kernels_that_judge_messages_are_checked(
    monitor: Any, module: Any, kernel: str, blind: Any, label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monitor()
    monkeypatch.setattr(self_test, '_checked', set())
    monkeypatch.setattr(module, kernel, numba.njit(blind))
    with pytest.raises(CompiledCodeError, match=f'{label} accepts nan'):
        monitor()
