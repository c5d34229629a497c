# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Build a MuJoCo model of the same rigid bodies from URDF text.

MuJoCo's own importer reads links and joints, so masses, frames and axes in the simulation are
independent of the model under test. Contacts are left out; armature and damping are only those of
the description. An inertia that no rigid body can have, as in some vendors' URDFs, is replaced by
the nearest possible one.
"""

from __future__ import annotations

from collections.abc import Mapping
import math
from xml.etree import ElementTree

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..errors import UnknownNameError, UrdfError
from ..robot import Payload
from ..urdf import Joint, Mimic, RobotDescription, parse_xml, reduce_to_dynamics
from .viewer import add_shapes

# MuJoCo requires finite ranges; no joint moves this far.
_UNREACHABLE = 1e9

_INERTIA = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')

_MIN_MOMENT = 1e-12  # of a repaired inertia, kg m^2: MuJoCo rejects rods and points


def build_mujoco_model(
    text: str, description: RobotDescription, *, gravity: NDArray[np.float64], timestep: float,
    held: Mapping[str, float], payload: Payload | None, shapes: bool = False
) -> mujoco.MjModel:
    """
    Return the MuJoCo model of a robot; its bodies and joints have the names of the URDF.

    Gravity, m/s^2, has the root link's axes; the time step is in s; held joints stay at their
    positions, rad or m; ``shapes`` are for a viewer. UrdfError if MuJoCo rejects the robot.
    """
    if payload is not None and payload.link not in description.links:
        raise UnknownNameError('link', payload.link, description.links)
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
        if payload is not None:
            moments = np.array(payload.inertia, dtype=np.float64)
            body = spec.body(payload.link).add_body(
                mass=payload.mass, ipos=payload.com, inertia=np.zeros(3), explicitinertial=True
            )
            if moments.any():
                body.fullinertia = moments[[0, 3, 5, 1, 2, 4]]  # xx, yy, zz, xy, xz, yz
        if shapes:
            add_shapes(spec)
        return spec.compile()
    except ValueError as error:
        reason = ' '.join(str(error).split())
        raise UrdfError(f'robot {description.name!r}', f'MuJoCo rejects it: {reason}') from error


def _importable(text: str) -> str:
    """
    Return the URDF without files, shapes, limits and mimics, with every link as a body.

    Limits and mimics come from the parsed description: versions of MuJoCo differ in the limits of
    continuous joints, and MuJoCo logs ignored elements to a file in the working directory.
    """
    robot = reduce_to_dynamics(parse_xml(text))
    for joint in robot.findall('joint'):
        for element in (*joint.findall('limit'), *joint.findall('mimic')):
            joint.remove(element)
    for inertia in robot.iter('inertia'):
        _repair(inertia)
    settings = ElementTree.SubElement(robot, 'mujoco')
    ElementTree.SubElement(settings, 'compiler', fusestatic='false', discardvisual='false')
    return ElementTree.tostring(robot, 'unicode')


def _repair(inertia: ElementTree.Element) -> None:
    """Make an inertia physical if it is not: no principal moment above the sum of the others."""
    (xx, xy, xz, yy, yz, zz) = (float(inertia.get(name, '0')) for name in _INERTIA)
    moments, axes = np.linalg.eigh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    # Second moments of mass, along the principal axes: not negative in a body.
    along = 0.5 * moments.sum() - moments
    if moments[0] > _MIN_MOMENT and along[2] >= 0.0:
        return
    along = np.maximum(along, _MIN_MOMENT)
    matrix = axes @ np.diag(along.sum() - along) @ axes.T
    for name, value in zip(_INERTIA, matrix[np.triu_indices(3)], strict=True):
        inertia.set(name, repr(float(value)))


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
