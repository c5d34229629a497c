# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The functions of an exported robot, traced from the kernels, and results to test them with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
import re

import numpy as np

from ..arrays import Array
from ..dynamics import Workspace
from ..dynamics.kernels import BASE, spatial, vectors
from ..dynamics.tracing import ARGUMENTS, Trace, TracedTree, Values, placement
from ..feedforward.law import JointFriction
from ..robot import RobotModel

DESCRIPTIONS = {
    'inverse_dynamics': 'tau = M(q) qdd + C(q, qd) qd + g(q) - J^T f_ext',
    'gravity_torques': 'g(q) - J^T f_ext, on a base at rest',
    'bias_torques': 'C(q, qd) qd + g(q) - J^T f_ext',
    'mass_matrix': 'M(q), row-major',
}
STATES = 5
"""Random states of the test program."""


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
    :param armature: rotor inertia, shape (nv,), kg m^2 or kg
    """

    model: RobotModel
    frames: tuple[str, ...] = ()
    payloads: tuple[str, ...] = ()
    wrenches: tuple[str, ...] = ()
    moving_base: bool = False
    friction: JointFriction | None = None
    armature: Array | None = None

    @property
    def environment(self) -> dict[str, Mapping[str, int]]:
        """Fields of the struct of further arguments, each with the sizes of its parts."""
        base = {'gravity': 3, 'velocity': 6, 'acceleration': 6}
        return {
            **{f'payload_{identifier(link)}': {'mass': 1, 'com': 3, 'inertia': 6}
               for link in self.payloads},
            **{f'wrench_{identifier(link)}': {'force': 3, 'torque': 3} for link in self.wrenches},
            **({'base': base} if self.moving_base else {}),
        }


@dataclass(frozen=True)
class CFunction:
    """
    One function.

    :param name: without the prefix
    :param description: the result
    :param inputs: sizes of the arrays that it reads
    :param results: expressions and constants
    :param in_environment: whether it takes the struct of further arguments
    :param expected: its results at the states of the test program
    """

    name: str
    description: str
    inputs: Mapping[str, int]
    results: Values
    in_environment: bool
    expected: Sequence[Array]


def identifier(name: str) -> str:
    """Return a name as a part of a C identifier."""
    return re.sub(r'\W', '_', name, flags=re.ASCII)


def functions(
    export: CExport, environment: Mapping[str, Mapping[str, Array]],
    states: Sequence[Mapping[str, Array]],
) -> Iterator[CFunction]:
    """
    Yield all functions.

    :param environment: numbers of the further arguments, for the expected results
    :param states: positions and so on, for the expected results
    """
    model = export.model
    sizes = {'q': model.nq, 'qd': model.nv, 'qdd': model.nv}
    for method, arguments in ARGUMENTS.items():
        at_rest = method == 'gravity_torques'
        traced = getattr(_traced(export, at_rest=at_rest), method)()
        compute = getattr(_workspace(export, environment, at_rest=at_rest), method)
        yield CFunction(
            method, DESCRIPTIONS[method], {name: sizes[name] for name in arguments}, traced,
            bool(export.environment),
            [compute(*(state[name] for name in arguments)).copy() for state in states],
        )
    for link in export.frames:
        name, q, place = identifier(link), {'q': model.nq}, model.tree.link_frames[link]
        tree = TracedTree(model.workspace().bodies)
        yield CFunction(
            f'pose_{name}', f'pose of {link} in the base frame, 4x4, row-major', q,
            tree.pose(*place), False,
            [model.forward_kinematics(state['q'], link) for state in states],
        )
        yield CFunction(
            f'jacobian_{name}',
            f'J of {link} in its axes, rows [angular; linear], row-major', q,
            tree.jacobian(*place), False, [model.jacobian(state['q'], link) for state in states],
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
    for j in range(nv):
        joint = JointFriction(*(each.astype(object).T[j] for each in astuple(friction)))
        efforts[j] = joint.friction(qd[j], load[j]) + float(armature[j]) * qdd[j]
    return CFunction(
        'drive_torques', 'friction, offset and rotor inertia; add it to the inverse dynamics, '
        'which is the load', {'qd': nv, 'qdd': nv, 'load': nv}, efforts, False,
        [friction.friction(state['qd'], state['load']) + armature * state['qdd']
         for state in states],
    )


def _traced(export: CExport, *, at_rest: bool) -> TracedTree:
    """Return the tree with the further arguments as inputs."""
    model = export.model
    tree = TracedTree(model.workspace().bodies)
    bodies, inputs = tree.bodies, tree.trace.inputs
    for link in export.payloads:
        field = f'environment->payload_{identifier(link)}'
        mass, com = inputs(f'{field}.mass', ()).item(), vectors.load3(inputs(f'{field}.com', 3))
        xx, xy, xz, yy, yz, zz = inputs(f'{field}.inertia', 6)
        moments = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        h, J = spatial.transform_inertia_back(vectors.UNIT, com, mass, (0.0, 0.0, 0.0), moments)
        number, frame = model.tree.link_frames[link]
        h, J = spatial.transform_inertia_back(*placement(frame), mass, h, J)
        body = bodies[number]
        body['mass'] += mass
        body['h'] += np.array(h, dtype=object)
        body['J'] += np.array(J, dtype=object)
    for link in export.wrenches:
        field = f'environment->wrench_{identifier(link)}'
        torque, force = (inputs(f'{field}.{part}', 3) for part in ('torque', 'force'))
        wrench = vectors.load3(torque), vectors.load3(force)
        number, frame = model.tree.link_frames[link]
        on_body = spatial.transform_force_back(*placement(frame), wrench)
        bodies[number]['f_ext'] += np.array([*on_body[0], *on_body[1]], dtype=object)
    if export.moving_base:
        gravity, base = inputs('environment->base.gravity', 3), bodies[BASE]
        base['v'] = inputs('environment->base.velocity', 6)
        base['a'] = 0.0 if at_rest else inputs('environment->base.acceleration', 6)
        base['a'][3:] -= gravity
    elif at_rest:
        bodies[BASE]['a'] = 0.0
        bodies[BASE]['a'][3:] = (-model.gravity).tolist()
    return tree


def _workspace(
    export: CExport, environment: Mapping[str, Mapping[str, Array]], *, at_rest: bool
) -> Workspace:
    """Return a general workspace with the further arguments applied."""
    model = export.model
    for link in export.payloads:
        payload = environment[f'payload_{identifier(link)}']
        model = model.with_payload(
            link, payload['mass'].item(), payload['com'], payload['inertia']
        )
    workspace = model.workspace()
    for link in export.wrenches:
        wrench = environment[f'wrench_{identifier(link)}']
        body, frame = model.tree.link_frames[link]
        force = frame[:3].T @ wrench['force']
        moment = frame[:3].T @ wrench['torque'] + np.cross(frame[3], force)
        workspace.add_external_force(body, moment, force)
    gravity, *motion = (
        environment['base'].values() if export.moving_base
        else (model.gravity, *model.base_motion.spatial())
    )
    workspace.set_base_motion(gravity, *(2 * [np.zeros(6)] if at_rest else motion))
    return workspace
