# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Joint friction: in both directions, through zero velocity, under load."""

import math
from typing import Any

import numpy as np
import pytest

from rnea_ros.errors import InputError
from rnea_ros.feedforward.law import FrictionModel, HardwareCompensation, JointFriction
from rnea_ros.feedforward.settings import FrictionSettings, Settings, resolve
from support.cases import each
from support.models.robots import joint, link, load, robot

TWO_JOINTS = load(robot(
    link('base'), link('one', 1.0), link('two', 1.0),
    joint('first', 'revolute', 'base', 'one', more='<dynamics damping="0.7" friction="1.5"/>'),
    joint('second', 'revolute', 'one', 'two'),
))


def resolved(
    joints: tuple[str, ...] = ('first', 'second'), hardware: Any = (), **settings: Any
) -> JointFriction:
    friction = FrictionSettings(**({'model': FrictionModel.PARAMETERS} | settings))
    given = Settings(joints=joints, friction=friction, hardware_compensates=hardware)
    return resolve(given, TWO_JOINTS).friction


VISCOUS_BACK = {'viscous': (2.0,), 'viscous_negative': (1.0,)}
COULOMB_BACK = {'coulomb': (5.0,), 'coulomb_negative': (0.0,)}
SMOOTH = {'coulomb': (5.0,), 'smoothing_velocity': (0.1,)}
LOADED = {'coulomb': (5.0,), 'load': (0.1, 0.0)}
URDF = {'model': FrictionModel.URDF, 'viscous': (9.0,), 'coulomb': (9.0,), 'load': (0.5,),
        'offset': (3.0,)}


@each('parameters, qd, carried, expected', [
    ({'viscous': (2.0, 3.0), 'coulomb': (5.0, 7.0)}, 4.0, 0.0, (13.0, 19.0)),
    ({'viscous': (2.0, 3.0), 'coulomb': (5.0, 7.0)}, -4.0, 0.0, (-13.0, -19.0)),
    (VISCOUS_BACK | COULOMB_BACK, 4.0, 0.0, (13.0, 13.0)),
    (VISCOUS_BACK | COULOMB_BACK, -4.0, 0.0, (-4.0, -4.0)),
    (SMOOTH, 0.0, 0.0, (0.0, 0.0)),
    (SMOOTH, 0.1, 0.0, (5.0 * math.tanh(1.0),) * 2), (SMOOTH, -1e-6, 0.0, (-5e-5, -5e-5)),
    ({'coulomb': (5.0,)}, 0.05, 0.0, (5.0 * math.tanh(1.0),) * 2),
    ({'offset': (3.0, -4.0)}, 0.0, 0.0, (3.0, -4.0)),
    ({'offset': (3.0, -4.0)}, -2.0, 9.0, (3.0, -4.0)),
    (LOADED, 4.0, 30.0, (8.0, 5.0)), (LOADED, 4.0, -30.0, (8.0, 5.0)),
    (LOADED, -4.0, 30.0, (-8.0, -5.0)), (LOADED, -4.0, -30.0, (-8.0, -5.0)),
    (URDF, 2.0, 10.0, (0.7 * 2.0 + 1.5, 0.0)),
    ({'joints': ('second',), 'viscous': (3.0,)}, 1.0, 0.0, (0.0, 3.0)),
    ({'joints': ('second', 'first'), 'viscous': (3.0, 4.0)}, 1.0, 0.0, (4.0, 3.0)),
    ({'model': FrictionModel.NONE, 'viscous': (1.0,), 'offset': (1.0,)}, 1.0, 1.0, (0.0, 0.0)),
])
def test_friction_is_its_formula(
    parameters: dict[str, Any], qd: float, carried: float, expected: tuple[float, float]
) -> None:
    tau = resolved(**parameters).friction(np.full(2, qd), np.full(2, carried))
    np.testing.assert_allclose(tau, expected, rtol=1e-6)


@each('model', FrictionModel)
def test_what_the_hardware_compensates_is_not_compensated_twice(model: FrictionModel) -> None:
    for name in ('viscous', 'coulomb', 'load', 'offset'):
        given: dict[str, Any] = {name: (1.0,)}
        compensated = resolved(hardware=(HardwareCompensation.FRICTION,), model=model, **given)
        assert not compensated.has_friction
        assert resolved(**given).has_friction


@each('name, values', [
    ('viscous', (-1.0,)), ('viscous', ()), ('coulomb', (math.nan,)), ('viscous_negative', (-2.0,)),
    ('load', (math.inf,)), ('smoothing_velocity', (0.0,)),
])
def test_impossible_friction_is_rejected_by_name(name: str, values: tuple[float, ...]) -> None:
    given: dict[str, Any] = {name: values}
    with pytest.raises(InputError, match=rf'^friction\.{name}: '):
        resolved(**given)
