# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The functions of an exported robot, traced from the kernels, and results to test them with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
import re
from typing import Any, TypeAlias

import numpy as np

from ..arrays import Array
from ..dynamics.kernels import BASE, Records, spatial, vectors
from ..dynamics.tracing import ARGUMENTS, Trace, TracedTree, Values, placement
from ..feedforward.laws import JointFriction
from ..feedforward.loaded_model import JointSpring
from ..robot import RobotModel

Environment: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Further arguments, by field and part of the struct: numbers, expressions, or lists of them."""

DESCRIPTIONS = {
    'inverse_dynamics': 'tau = M(q) qdd + C(q, qd) qd + g(q) - J^T f_ext',
    'gravity_torques': 'g(q) - J^T f_ext, on a base at rest',
    'bias_torques': 'C(q, qd) qd + g(q) - J^T f_ext',
    'mass_matrix': 'M(q), row-major',
}
STATES = 5
"""Number of random states of the test program."""


@dataclass(frozen=True)
class CExport:
    """
    What is exported.

    :param model: the robot
    :param frames: links whose pose and Jacobian are exported
    :param payloads: links with a payload that is an argument
    :param wrenches: links with an external wrench that is an argument
    :param moving_base: whether gravity and the base's motion are arguments
    :param friction: friction of the joints, None for no function of it
    :param armature: rotor inertia for the function of friction, shape (nv,), kg m^2 or kg
    :param spring: springs of joints of one axis, part of gravity; None for none
    """

    model: RobotModel
    frames: tuple[str, ...] = ()
    payloads: tuple[str, ...] = ()
    wrenches: tuple[str, ...] = ()
    moving_base: bool = False
    friction: JointFriction | None = None
    armature: Array | None = None
    spring: JointSpring | None = None

    @property
    def environment(self) -> dict[str, Mapping[str, tuple[int, ...]]]:
        """Fields of the struct of further arguments, each with the shapes of its parts."""
        payload = {'mass': (), 'com': (3,), 'inertia': (6,)}
        wrench = {'force': (3,), 'torque': (3,)}
        base = {'gravity': (3,), 'velocity': (6,), 'acceleration': (6,)}
        return {
            **{f'payload_{identifier(link)}': payload for link in self.payloads},
            **{f'wrench_{identifier(link)}': wrench for link in self.wrenches},
            **({'base': base} if self.moving_base else {}),
        }

    def arguments(self, create: Callable[[str, tuple[int, ...]], Values]) -> Environment:
        """Return the further arguments; a function creates each part from its name and shape."""
        return {
            field: {
                part: create(f'environment->{field}.{part}', shape).tolist()
                for part, shape in parts.items()
            }
            for field, parts in self.environment.items()
        }


@dataclass(frozen=True)
class CFunction:
    """One function."""

    name: str  # without the prefix
    description: str  # of the result
    inputs: Mapping[str, int]  # sizes of the arrays that it reads
    results: Values  # expressions and constants
    expected: Sequence[Array]  # its results at the states of the test program
    in_environment: bool = False  # whether it takes the struct of further arguments


def identifier(name: str) -> str:
    """Return a name as a part of a C identifier."""
    return re.sub(r'\W', '_', name, flags=re.ASCII)


def functions(
    export: CExport, environment: Environment, states: Sequence[Mapping[str, Array]]
) -> Iterator[CFunction]:
    """Yield all functions, with the results that the test program expects of ``states``."""
    model = export.model
    sizes = {'q': model.nq, 'qd': model.nv, 'qdd': model.nv}
    for method, arguments in ARGUMENTS.items():
        at_rest = method == 'gravity_torques'
        workspace = model.workspace()
        tree = TracedTree(workspace.bodies)
        _apply(export, export.arguments(tree.trace.inputs), tree.bodies, at_rest=at_rest)
        _apply(export, environment, workspace.bodies, at_rest=at_rest)
        compute, results = getattr(workspace, method), getattr(tree, method)()
        expected = [compute(*(state[name] for name in arguments)).copy() for state in states]
        description = DESCRIPTIONS[method]
        if export.spring is not None and method != 'mass_matrix':
            description += ', g(q) with springs'
            results = results + export.spring.effort(tree.trace.inputs('q', model.nq))
            expected = [
                efforts + export.spring.effort(state['q'])
                for efforts, state in zip(expected, states, strict=True)
            ]
        yield CFunction(
            method, description, {name: sizes[name] for name in arguments}, results, expected,
            bool(export.environment),
        )
    for link in export.frames:
        name, q, place = identifier(link), {'q': model.nq}, model.tree.link_frames[link]
        tree = TracedTree(model.workspace().bodies)
        yield CFunction(
            f'pose_{name}', f'pose of {link} in the base frame, 4x4, row-major', q,
            tree.pose(*place), [model.forward_kinematics(state['q'], link) for state in states],
        )
        yield CFunction(
            f'jacobian_{name}', f'J of {link} in its axes, rows [angular; linear], row-major', q,
            tree.jacobian(*place), [model.jacobian(state['q'], link) for state in states],
        )
    if export.friction is not None:
        yield _drives(export, export.friction, states)


def _drives(
    export: CExport, friction: JointFriction, states: Sequence[Mapping[str, Array]]
) -> CFunction:
    """Return friction, offsets and rotor inertia of the joints, to be added to the efforts."""
    nv = export.model.nv
    armature = np.zeros(nv) if export.armature is None else export.armature
    trace = Trace()
    qd, qdd, load = (trace.inputs(name, nv) for name in ('qd', 'qdd', 'load'))
    efforts: Values = np.empty(nv, dtype=object)
    own = {name: each for name, each in vars(friction).items() if name != 'shared'}
    for j in range(nv):
        joint = JointFriction(**{name: each.astype(object).T[j] for name, each in own.items()})
        efforts[j] = joint.friction(qd[j], load[j]) + float(armature[j]) * qdd[j]
    if friction.shared is not None:
        friction.shared.add(efforts, qd)
    return CFunction(
        'drive_torques', 'friction, offset and rotor inertia, to be added to the inverse '
        'dynamics, which are the load', {'qd': nv, 'qdd': nv, 'load': nv}, efforts,
        [friction.friction(state['qd'], state['load']) + armature * state['qdd']
         for state in states],
    )


def _apply(export: CExport, environment: Environment, bodies: Records, *, at_rest: bool) -> None:
    """Load payloads, apply wrenches and move the base in bodies of numbers or of expressions."""
    frames = export.model.tree.link_frames
    for link in export.payloads:
        payload = environment[f'payload_{identifier(link)}']
        mass, (xx, xy, xz, yy, yz, zz) = payload['mass'], payload['inertia']
        J = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        h, J = spatial.transform_inertia_back(vectors.UNIT, payload['com'], mass, 3 * (0.0,), J)
        number, frame = frames[link]
        h, J = spatial.transform_inertia_back(*placement(frame), mass, h, J)
        body = bodies[number]
        body['mass'] += mass
        body['h'] += h
        body['J'] += J
    for link in export.wrenches:
        given = environment[f'wrench_{identifier(link)}']
        force = given['torque'], given['force']
        number, frame = frames[link]
        bodies[number]['f_ext'] += np.ravel(spatial.transform_force_back(*placement(frame), force))
    gravity, base = export.model.gravity, bodies[BASE]
    if export.moving_base:
        moving = environment['base']
        gravity = moving['gravity']
        base['v'], base['a'] = moving['velocity'], moving['acceleration']
        base['a'][3:] -= gravity
    if at_rest:
        base['a'][3:] = np.negative(gravity)
