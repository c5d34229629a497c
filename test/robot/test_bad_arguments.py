# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Every bad value of every argument raises an RneaError that names it, and leaves nothing."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
import inspect
import re
from typing import Any

import numpy as np
import pytest

from rnea_ros import BaseMotion, InputError, RneaError, RobotModel, Wrench, simulate
from rnea_ros.dynamics import tree
from rnea_ros.dynamics.tree import shapes
from rnea_ros.dynamics.tree.joint_types import helical
from rnea_ros.errors import UnknownNameError
from rnea_ros.robot import ContactSolution
from support.cases import each
from support.models.robots import SHIPPED, description, load


class Contrary:
    """An object whose every conversion fails in its own way."""

    def __float__(self) -> float:
        raise RuntimeError('no float')

    def __index__(self) -> int:
        raise KeyError('no index')

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError('no array')

    def __repr__(self) -> str:
        raise RuntimeError('no text')


MASKED = np.ma.array(np.ones(6), mask=[False] * 5 + [True])

NUMBERS: dict[str, Any] = {
    'none': None, 'text': '3', 'list of text': ['3'] * 6, 'bytes': b'3', 'huge': 10**400,
    'of thousands of digits': -(10**5000), 'huge in a list': [10**400] * 6, 'complex': 1j,
    'complex in a list': [1j] * 6, 'ragged': [[1.0, 2.0], [3.0]], 'dictionary': {'a': 1.0},
    'function': len, 'object': object(), 'contrary': Contrary(),
    'contrary in a list': [Contrary()] * 6, 'masked': MASKED, 'masked rows': [MASKED] * 3,
    'objects of text': np.array(['1'] * 6, dtype=object),
    'not a number': np.nan, 'not numbers': [np.nan] * 6,
    'of another shape': np.zeros((2, 2, 2, 2)),
}
"""No array of numbers, whatever the shape."""

NAMES: dict[str, Any] = {
    'none': None, 'number': 3, 'list': ['tool0'], 'dictionary': {}, 'set': {'tool0'},
    'array': np.array(['tool0']), 'unknown': 'no', 'empty': '', 'bytes': b'tool0',
    'contrary': Contrary(),
}
"""No name of a link or joint."""

WHOLE: dict[str, Any] = {
    key: NUMBERS[key]
    for key in ('text', 'bytes', 'complex', 'dictionary', 'function', 'contrary', 'not a number')
} | {'half': 2.5, 'float': 2.0, 'negative': -1, 'array': np.ones(2), 'list': [2]}

OTHERS: dict[str, Any] = {'none': None, 'text': '<robot/>', 'type': RobotModel}
HUGE = (1e200, -1e200, 1e200)

BAD_WRENCHES: dict[str, dict[Any, Any]] = {
    'inner none': {'tool0': None}, 'inner text': {'tool0': 'push'},
    'inner numbers': {'tool0': (1.0, 2.0, 3.0)}, 'unknown': {'no': Wrench()},
    'empty': {'': Wrench()}, 'number': {3: Wrench()},
    'unknown frame': {'tool0': Wrench(frame='no')},
    'list as frame': {'tool0': Wrench(frame=['base'])},  # type: ignore[arg-type]
    'huge force': {'tool0': Wrench(force=(10**400, 0, 0))},
    'many forces': {'tool0': Wrench(force=np.ones((2, 2)))},
    'short force': {'tool0': Wrench(force=(1.0, 2.0))},
    'torque not a number': {'tool0': Wrench(torque=(np.nan,) * 3)},
    'point as text': {'tool0': Wrench(point='tip')},
    'overflow': {'tool0': Wrench(force=HUGE, point=HUGE)},
}
WRENCHES: dict[str, Any] = {
    **{key: NUMBERS[key] for key in ('text', 'huge', 'complex', 'function', 'contrary', 'masked')},
    'list': [], 'list of wrenches': [Wrench()], 'wrench': Wrench(),
    # Beside one that is valid
    **{key: {'forearm_link': Wrench((1.0, 2.0, 3.0)), **bad} for key, bad in BAD_WRENCHES.items()},
}

BASE = ('linear_velocity', 'angular_velocity', 'linear_acceleration', 'angular_acceleration')

KINDS: dict[str, dict[str, Any]] = {
    'contact_bias': {key: value for key, value in NUMBERS.items() if value is not None},
    'link': NAMES,
    'frame': {key: value for key, value in NAMES.items() if value is not None},
    'joint': NAMES,
    'threads': {**WHOLE, 'zero': 0},
    'steps': {**WHOLE, 'none': None, 'huge': 10**400, 'of thousands of digits': 10**5000},
    'coordinates': {
        **WHOLE, 'list': [2.0], 'none': None, 'outside': (6,), 'below': (-1,), 'twice': (1, 1),
        'empty': (),
    },
    'links': {'text': 'tool0', 'none': None, 'number': 3, 'unknown': ['no'], 'lists': [['tool0']]},
    'payloads': {'none': None, 'text': 'tool0', 'unknown': ['no'], 'lists': [['tool0']]},
    'unactuated': {
        'text': 'elbow_joint', 'none': None, 'number': 3, 'array': np.array('elbow_joint'),
        'unknown': ['no'], 'empty': ['elbow_joint', ''], 'link': ['tool0'], 'inner none': [None],
        'lists': [['elbow_joint']],
    },
    'external_wrenches': WRENCHES,
    'base_motion': {'none': None, 'text': 'fast', 'numbers': (0.0, 0.0, 1.0), 'type': BaseMotion},
    'method': {'none': None, 'list': ['rk4'], 'unknown': 'rk5', 'contrary': Contrary()},
    'wrenches': {'dictionary': {}, 'list': [], 'text': 'push', 'number': 1.0},
    **dict.fromkeys(('model', 'description', 'tree'), OTHERS),
    'source': {'none': None, 'number': 3, 'list': ['ur5e.urdf'], 'bytes': b'ur5e.urdf'},
}
"""Bad values by the name of the argument; of all others, :data:`NUMBERS`."""

LEFT_OUT = {'strict_inertia', 'floating_base', 'name', 'specialised', 'moving_base'}
"""Flags, whose truth counts, and a label."""


def usual(model: RobotModel) -> dict[str, Any]:
    """Return valid arguments by name."""
    q, rest = model.neutral_position, np.zeros(model.nv)
    return {
        **dict.fromkeys(('q', 'q0', 'q1'), q),
        **dict.fromkeys(('qd', 'qdd', 'tau', 'v', 'qd0'), rest),
        **dict.fromkeys(('point', 'com', 'gravity', *BASE), (0.0, 0.0, 1.0)),
        'link': 'tool0', 'frame': None, 'joint': 'elbow_joint', 'links': ['tool0'], 'dt': 0.1,
        'mass': 1.0,
        'inertia': (1.0, 0.0, 0.0, 1.0, 0.0, 1.0), 'parameters': model.inertial_parameters,
        'contact_jacobian': np.zeros((1, model.nv)), 'contact_bias': None, 'unactuated': (),
        'coordinates': (1,), 'external_wrenches': None, 'threads': None,
        'base_motion': BaseMotion(), 'model': model, 'wrenches': None, 'steps': 2,
        'method': 'rk4', 'source': str(SHIPPED[2]), 'description': description(load(SHIPPED[2])),
        'tree': model.tree,
    }


def calls(model: RobotModel) -> dict[str, tuple[Callable[..., object], dict[str, Any]]]:
    """Return every public method and function, with valid arguments."""
    found: dict[str, tuple[Callable[..., object], dict[str, Any]]] = {}
    for name, function in inspect.getmembers(model, callable):
        if not name.startswith('_'):
            found[name] = (function, {})
    found['simulate'] = (simulate, {})
    found['base'] = (
        lambda linear_velocity, angular_velocity, linear_acceleration, angular_acceleration:
        model.with_base_motion(BaseMotion(
            linear_velocity, angular_velocity, linear_acceleration, angular_acceleration
        )),
        {},
    )
    for name, (function, arguments) in found.items():
        for argument in inspect.signature(function).parameters:
            if argument in LEFT_OUT or (name, argument) == ('simulate', 'tau'):
                continue
            value = usual(model)[{'qd0': 'qd', 'payloads': 'links'}.get(argument, argument)]
            if (name, argument) == ('specialise', 'wrenches'):
                value = ['tool0']
            if name.endswith('_batch') and argument in ('q', 'qd', 'qdd', 'tau'):
                value = np.array([value] * 3)
            arguments[argument] = value
    return found


@pytest.fixture(params=['fixed', 'floating'])
def model(request: pytest.FixtureRequest) -> RobotModel:
    return RobotModel.from_urdf(SHIPPED[2], floating_base=request.param == 'floating')


MOTION = ('q', 'q0', 'q1', 'qd', 'qdd', 'tau', 'v')


def bad_values(model: RobotModel, method: str, argument: str, valid: Any) -> dict[str, Any]:
    """Return bad values of an argument, also of nearly the right shape and length."""
    bad = dict(KINDS.get('payloads' if method == 'specialise' else argument, NUMBERS))
    if argument in MOTION:
        rows = np.asarray(valid)
        bad |= {
            'one less': rows[..., :-1], 'one more': np.concatenate([rows, rows[..., :1]], axis=-1),
            'empty': rows[..., :0], 'axis more': rows[np.newaxis], 'axis less': rows[0],
        }
    if argument in MOTION[:3] and model.nq > model.nv and method != 'normalised':
        for length in (0.0, 1.0 - 2e-6, 1.0 + 2e-6, 1e200):
            bad[f'quaternion of length {length}'] = np.asarray(valid) * length
    return bad


def test_every_bad_value_of_every_argument_is_rejected_by_name(model: RobotModel) -> None:
    count, wrong = 0, []
    for name, (function, arguments) in calls(model).items():
        before = text_of(function(**arguments))
        # Of a floating base only positions and velocities differ.
        for argument in arguments if model.nq == model.nv else {*arguments} & {*MOTION}:
            for kind, bad in bad_values(model, name, argument, arguments[argument]).items():
                count += 1
                try:
                    function(**{**arguments, argument: bad})
                    wrong.append(f'{name}, {argument} {kind}: accepted')
                except RneaError as error:
                    if not names(error, argument):
                        wrong.append(f'{name}, {argument} {kind}: {error}')
                except Exception as error:
                    wrong.append(f'{name}, {argument} {kind}: {type(error).__name__}')
        if text_of(function(**arguments)) != before:
            wrong.append(f'{name}: changed by bad arguments')
    assert not wrong, '\n'.join(wrong)
    assert count > 500


def text_of(result: object) -> str:
    """Return numbers of a result to the last digit, and of anything else its type."""
    numeric = isinstance(result, np.ndarray | float | tuple | Wrench | ContactSolution)
    with np.printoptions(precision=17, threshold=1000):
        return repr(result) if numeric else type(result).__name__


def names(error: RneaError, argument: str) -> bool:
    """Return whether an error names an argument, and can be printed in a line or a few."""
    assert len(str(error)) < 2000
    if isinstance(error, UnknownNameError):
        return error.kind == ('joint' if argument in ('joint', 'unactuated') else 'link')
    if argument == 'external_wrenches':
        on_link = r"(force|torque|point|wrench) on link 'tool0'"
        said = f'({on_link}|external_wrenches|motion: .*not finite|.*wrench)'
        return re.match(said, str(error)) is not None
    owner = 'payload ' if argument in ('mass', 'com', 'inertia') else ''
    return isinstance(error, InputError) and error.argument.startswith(f'{owner}{argument}')


@each('numbers', [
    [Decimal('0.5')] * 6, [Fraction(1, 2)] * 6, [np.float32(0.5)] * 6,
    np.array([np.longdouble(0.5)] * 6, dtype=object), np.ma.array(np.full(6, 0.5)),
])
def test_numbers_of_other_types_are_accepted(numbers: Any) -> None:
    arm = load(SHIPPED[2])
    expected = arm.gravity_torques(np.full(6, 0.5))
    np.testing.assert_array_equal(arm.gravity_torques(numbers), expected)


PARTS: dict[str, Callable[[Any], object]] = {
    'xyz': lambda bad: tree.Placement.from_xyz_rpy(bad, (0.0, 0.0, 0.0)),
    'rpy': lambda bad: tree.Placement.from_xyz_rpy((0.0, 0.0, 0.0), bad),
    'mass': lambda bad: tree.RigidBodyInertia.from_centre_of_mass(bad, np.zeros(3), np.eye(3)),
    'com': lambda bad: tree.RigidBodyInertia.from_centre_of_mass(1.0, bad, np.eye(3)),
    'J_com': lambda bad: tree.RigidBodyInertia.from_centre_of_mass(1.0, np.zeros(3), bad),
    'pitch': lambda bad: helical('screw', bad), 'axis': lambda bad: tree.revolute('hinge', bad),
    'size': lambda bad: shapes.box(1.0, bad),
    'radii': lambda bad: shapes.ellipsoid(1.0, bad),
    'radius': lambda bad: shapes.sphere(1.0, bad),
    'inner_radius': lambda bad: shapes.cylinder(1.0, 1.0, 1.0, bad),
    'length': lambda bad: shapes.cylinder(1.0, 1.0, bad),
    'height': lambda bad: shapes.cone(1.0, 1.0, bad),
}


@each('argument', PARTS)
@each('kind', set(NUMBERS) - {'not a number', 'not numbers'})
def test_parts_of_a_tree_are_rejected_by_name(argument: str, kind: str) -> None:
    with pytest.raises(InputError) as caught:
        PARTS[argument](NUMBERS[kind])
    assert caught.value.argument == argument
