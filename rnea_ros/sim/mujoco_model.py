# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Build a MuJoCo model of the same rigid bodies from URDF text.

MuJoCo's own importer reads links and joints, so frames and axes in the simulation are independent
of the model under test. Inertias are set here: before 3.14 MuJoCo loses their rotation. Contacts
are left out; damping and friction come from the URDF. An inertia that no rigid body can have, as
in some vendors' URDFs, is replaced by the nearest possible one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
import math
from xml.etree import ElementTree

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..errors import UnknownNameError, UrdfError
from ..robot import Payload, RobotModel
from ..urdf import Inertial, Joint, Mimic, Origin, RobotDescription, parse_xml, reduce_to_dynamics

# MuJoCo requires finite ranges; no joint moves this far.
_UNREACHABLE = 1e9

# Least second moment of mass along an axis, as a share of the moments' sum and in kg m^2: MuJoCo
# rejects rods and points, and bodies that are flat to rounding.
_MIN_SHARE, _MIN_MOMENT = 1e-11, 1e-12

_MATCH = 1e-5  # of simulated and own mass matrix, relative


def build_mujoco_model(
    text: str, description: RobotDescription, *, gravity: NDArray[np.float64], timestep: float,
    held: Mapping[str, float], payload: Payload | None
) -> mujoco.MjModel:
    """
    Return the MuJoCo model of a robot; its bodies and joints have the names of the URDF.

    Gravity, m/s^2, has the root link's axes; the time step is in s; held joints stay at their
    positions, rad or m. UrdfError if MuJoCo rejects the robot.
    """
    if payload is not None and payload.link not in description.links:
        raise UnknownNameError('link', payload.link, description.links)
    inertials = {name: _possible(link.inertial) for name, link in description.links.items()
                 if link.inertial is not None}  # fmt: skip
    try:
        spec = mujoco.MjSpec.from_string(_importable(text))
        spec.option.timestep = timestep
        spec.option.gravity = gravity
        for joint in description.joints.values():
            if joint.name in held:
                _weld(spec, joint, held[joint.name])
            elif joint.mimic is not None:
                _follow(spec, joint, joint.mimic, timestep)  # its leader's limits are enough
            elif joint.moves:
                _limit(spec, joint)
        for name, inertial in inertials.items():
            _set_inertial(spec.body(name), inertial)
        if payload is not None:
            body = spec.body(payload.link).add_body(
                mass=payload.mass, ipos=payload.com, inertia=np.zeros(3), explicitinertial=True
            )
            if np.any(payload.inertia):
                x, y, z, xx, xy, xz, yy, yz, zz = np.append(payload.com, payload.inertia).tolist()
                moments = (xx, xy, xz, yy, yz, zz)
                _set_inertial(body, _possible(Inertial(Origin((x, y, z)), payload.mass, moments)))
        model = spec.compile()
    except ValueError as error:
        reason = ' '.join(str(error).split())
        raise UrdfError(f'robot {description.name!r}', f'MuJoCo rejects it: {reason}') from error
    links = {name: replace(link, inertial=inertials.get(name))
             for name, link in description.links.items()}  # fmt: skip
    _check_inertia(model, replace(description, links=links), held, payload)
    return model


def _importable(text: str) -> str:
    """
    Return the URDF without files, shapes, inertials, limits and mimics; every link is a body.

    These come from the parsed description: versions of MuJoCo differ in inertials and in limits of
    continuous joints, and MuJoCo logs ignored elements to a file in the working directory.
    """
    robot = reduce_to_dynamics(parse_xml(text))
    for element in (*robot.findall('link'), *robot.findall('joint')):
        for child in [child for child in element if child.tag in ('inertial', 'limit', 'mimic')]:
            element.remove(child)
    settings = ElementTree.SubElement(robot, 'mujoco')
    ElementTree.SubElement(settings, 'compiler', fusestatic='false', discardvisual='false')
    return ElementTree.tostring(robot, 'unicode')


def _possible(inertial: Inertial) -> Inertial:
    """Make an inertia physical if it is not: no principal moment above the sum of the others."""
    moments, axes = np.linalg.eigh(inertial.matrix)
    # Second moments of mass, along the principal axes: not negative in a body.
    along = 0.5 * moments.sum() - moments
    least = max(_MIN_SHARE * moments.sum(), _MIN_MOMENT)
    if along.min() >= least:
        return inertial
    along = np.maximum(along, least)
    matrix = axes @ np.diag(along.sum() - along) @ axes.T
    xx, xy, xz, yy, yz, zz = matrix[np.triu_indices(3)].tolist()
    return replace(inertial, inertia=(xx, xy, xz, yy, yz, zz))


def _set_inertial(body: mujoco.MjsBody, inertial: Inertial) -> None:
    """Set mass, centre and principal moments of a body, with their axes."""
    turn, quaternion = np.empty(9), np.empty(4)
    mujoco.mju_euler2Quat(quaternion, np.array(inertial.origin.rpy), 'XYZ')
    mujoco.mju_quat2Mat(turn, quaternion)
    body.inertia, axes = np.linalg.eigh(inertial.matrix)
    axes[:, 0] *= np.linalg.det(axes)  # right-handed
    mujoco.mju_mat2Quat(quaternion, (turn.reshape(3, 3) @ axes).ravel())
    body.mass, body.ipos, body.iquat = inertial.mass, inertial.origin.xyz, quaternion
    body.explicitinertial = True


def _check_inertia(
    model: mujoco.MjModel, description: RobotDescription, held: Mapping[str, float],
    payload: Payload | None
) -> None:
    """Raise a UrdfError if MuJoCo's mass matrix differs from the one of this package."""
    joints = {name: replace(joint, mimic=None) for name, joint in description.joints.items()}
    own = RobotModel.from_description(replace(description, joints=joints))
    if payload is not None:
        own = own.with_payload(payload.link, payload.mass, payload.com, payload.inertia)
    q, data = np.random.default_rng(0).uniform(-1.0, 1.0, own.nq), mujoco.MjData(model)
    for name, position in held.items():
        q[own.joint_names.index(name)] = position
    rows = [own.joint_names.index(model.joint(number).name) for number in range(model.njnt)]
    data.qpos[:] = q[rows]
    mujoco.mj_forward(model, data)
    expected, simulated = own.mass_matrix(q)[np.ix_(rows, rows)], np.empty((model.nv, model.nv))
    for column, direction in zip(simulated, np.eye(model.nv), strict=True):
        mujoco.mj_mulM(model, data, column, direction)
    scale = np.sqrt(np.outer(expected.diagonal(), expected.diagonal()))
    wrong = np.argwhere(np.abs(simulated - expected) > _MATCH * scale)
    if wrong.size:
        one, other = wrong[0]
        raise UrdfError(
            f'robot {description.name!r}',
            f'MuJoCo {mujoco.__version__} has another mass matrix, {simulated[one, other]:.4g} '
            f'instead of {expected[one, other]:.4g} at {own.joint_names[rows[one]]!r}: install '
            'another version of MuJoCo',
        )


def _weld(spec: mujoco.MjSpec, joint: Joint, position: float) -> None:
    """Replace a joint by a rigid connection at a position, rad or m."""
    child = spec.body(joint.child)
    if joint.type == 'prismatic':
        slide = np.empty(3)
        mujoco.mju_rotVecQuat(slide, position * np.array(joint.axis), child.quat)
        child.pos = child.pos + slide
    else:
        turn, turned = np.empty(4), np.empty(4)
        mujoco.mju_axisAngle2Quat(turn, np.array(joint.axis), position)
        mujoco.mju_mulQuat(turned, child.quat, turn)
        child.quat = turned
    spec.delete(spec.joint(joint.name))


def _limit(spec: mujoco.MjSpec, joint: Joint) -> None:
    """Set the range of a joint; some URDFs write equal limits for no limits."""
    lower, upper = joint.limits.lower, joint.limits.upper
    if lower < upper and not (math.isinf(lower) and math.isinf(upper)):
        imported = spec.joint(joint.name)
        imported.limited = True
        imported.range = np.clip([lower, upper], -_UNREACHABLE, _UNREACHABLE)


def _follow(spec: mujoco.MjSpec, joint: Joint, mimic: Mimic, timestep: float) -> None:
    """Couple a mimic joint to its leader, as stiffly as the time step allows."""
    equality = spec.add_equality(
        type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT, name1=joint.name,
        name2=mimic.joint
    )
    equality.data[0] = mimic.offset
    equality.data[1] = mimic.multiplier
    equality.solref = [2.0 * timestep, 1.0]
    equality.solimp[:2] = 0.9999  # the largest: if couplings give way, loaded joints drift
