# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Compiled code that does not see NaN or infinity is rejected before its first use."""

from dataclasses import replace
import math
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.compilation import COMPILED
from rnea_ros.dynamics import batch as batches
from rnea_ros.dynamics import self_test
from rnea_ros.dynamics.kernels import checked_kernels
from rnea_ros.errors import CompiledCodeError
from rnea_ros.feedforward import JointStateMonitor, joint_samples, wrench
from rnea_ros.feedforward.settings import WrenchInputSettings
from support.cases import each
from support.models.robots import SHIPPED, load

if not COMPILED:
    pytest.skip('numba is missing or switched off', allow_module_level=True)

import numba


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
    assert error.value.kernel == 'liberal'
    with pytest.raises(CompiledCodeError, match='rejects finite numbers'):
        self_test.check_compiled_code('none', lambda: False, values)


@each('bad', [math.nan, math.inf, -math.inf])
@each('place', [0, 3])
def test_one_bad_number_that_is_not_detected_is_enough(bad: float, place: int) -> None:
    values = np.ones(4)

    def accepts() -> bool:
        others = np.isfinite(np.delete(values, place)).all()
        return bool(others) and (math.isfinite(values[place]) or str(values[place]) == str(bad))

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


def use(model: RobotModel, name: str, *, batch: bool) -> None:
    """Use a kernel of many samples, or take one of one sample from a workspace."""
    if batch:
        getattr(model, f'{name}_batch')(*[ROWS] * OF_MANY_SAMPLES[name])
    elif name in OF_ONE_SAMPLE[:2]:
        model.workspace()
    else:
        getattr(model.workspace(), f'{name}_into')


@each(('name', 'batch'), [
    *((name, False) for name in OF_ONE_SAMPLE), *((name, True) for name in OF_MANY_SAMPLES),
])
def test_a_kernel_is_checked_once_before_its_use(name: str, batch: bool) -> None:
    def blind(*arguments: Any) -> Any:
        return batches.NO_BAD_SAMPLE if batch else True

    blind.__name__ = name
    model, label = load(SHIPPED[2]), f'{name}_batch' if batch else name
    use(model, name, batch=batch)
    assert label in self_test._checked
    with pytest.MonkeyPatch.context() as patch:
        for module in (self_test, batches):
            patch.setattr(module, 'check_compiled_code', None)  # once is enough
        use(model, name, batch=batch)
        patch.undo()
        patch.setattr(self_test, '_checked', set())
        if not batch:
            patch.setattr(checked_kernels, name, blind)
        elif name in batches.QUANTITIES:
            quantity = replace(batches.QUANTITIES[name], kernel=blind)
            patch.setitem(batches.QUANTITIES, name, quantity)
        else:
            patch.setattr(batches, 'to_forward_derivatives', blind)
        with pytest.raises(CompiledCodeError, match=f'{label} accepts nan'):
            use(model, name, batch=batch)


@pytest.mark.parametrize(('monitor', 'module', 'kernel', 'accepted', 'label'), [
    (lambda: JointStateMonitor(('a', 'b')), joint_samples, 'judge_and_store',
     (joint_samples.VALID, -1), 'joint_states'),
    (lambda: wrench.WrenchMonitor(WrenchInputSettings(name='sensor', topic='wrench'), ()), wrench,
     '_check_reading', wrench.FINE, 'wrenches'),
])
def test_kernels_that_judge_messages_are_checked(
    monitor: Any, module: Any, kernel: str, accepted: Any, label: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monitor()
    monkeypatch.setattr(self_test, '_checked', set())
    monkeypatch.setattr(module, kernel, lambda *arguments: accepted)
    with pytest.raises(CompiledCodeError, match=f'{label} accepts nan'):
        monitor()
