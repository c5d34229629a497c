# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Single links and joints, read and checked."""

from __future__ import annotations

from collections.abc import Iterable
import math
from xml.etree import ElementTree

from ..errors import UrdfError
from .description import (
    JOINT_TYPES,
    Inertial,
    Joint,
    JointLimits,
    Link,
    Mimic,
    Origin,
    SafetyController,
    Vector3,
)

_MOMENTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
_REQUIRED = ('value', *_MOMENTS, 'effort', 'velocity')
_LIMITS = {'lower': '0', 'upper': '0', 'velocity': 'inf', 'effort': 'inf', 'acceleration': 'inf',
           'deceleration': 'inf', 'jerk': 'inf'}  # fmt: skip
_ROUNDING = 1e-9  # negative damping and friction nearer to 0 are rounding, N m s/rad and N m


def read_link(element: ElementTree.Element) -> Link:
    """Return the link of a reduced ``<link>``; UrdfError for an unusable mass or inertia."""
    owner, name = _owner(element), element.get('name', '')
    inertial = element.find('inertial')
    if inertial is None:
        return Link(name, None)
    if inertial.find('mass') is None:
        raise UrdfError(owner, '<inertial> has no <mass>')
    (mass,) = _numbers(inertial, 'mass', 'value', owner)
    if mass < 0.0:
        raise UrdfError(owner, f'mass {mass:g} is negative')
    moments = [_numbers(inertial, 'inertia', moment, owner)[0] for moment in _MOMENTS]
    ixx, ixy, ixz, iyy, iyz, izz = moments
    origin = _read_origin(inertial, f'{owner} inertial')
    return Link(name, Inertial(origin, mass, (ixx, ixy, ixz, iyy, iyz, izz)))


def read_joint(element: ElementTree.Element, warnings: list[str]) -> Joint:
    """
    Return the joint of a reduced ``<joint>``; names of links and leaders are not checked here.

    Limits that no position meets give a warning, other values out of range a UrdfError.
    """
    owner = _owner(element)
    ends = _check_joint(element, owner)
    damping, friction = (
        _numbers(element, 'dynamics', name, owner)[0] for name in ('damping', 'friction')
    )
    if min(damping, friction) < -_ROUNDING:
        raise UrdfError(
            owner,
            f'damping {damping:g} or friction {friction:g} is negative; set 0 if it is unknown',
        )
    mimic = element.find('mimic')
    if mimic is not None and not mimic.get('joint'):
        raise UrdfError(owner, '<mimic> has no joint')
    return Joint(
        name=element.get('name', ''),
        type=element.get('type', ''),
        parent=ends[0],
        child=ends[1],
        origin=_read_origin(element, owner),
        axis=_read_axis(element, owner),
        limits=_read_limits(element, owner, warnings),
        damping=max(damping, 0.0),
        friction=max(friction, 0.0),
        mimic=None if mimic is None else Mimic(
            mimic.get('joint', ''), *_numbers(element, 'mimic', 'multiplier', owner, '1'),
            *_numbers(element, 'mimic', 'offset', owner)
        ),
    )


def read_safety_controller(
    element: ElementTree.Element, warnings: list[str]
) -> SafetyController | None:
    """
    Return the soft limits of a ``<joint>``; None without, or where a gain is 0.

    Numbers that cannot be used give a warning, as dynamics do not need them.
    """
    source = element.find('safety_controller')
    if source is None:
        return None
    names = ('soft_lower_limit', 'soft_upper_limit', 'k_position', 'k_velocity')
    texts = [source.get(name, '0') for name in names]
    numbers = [float(text) if _is_number(text) else math.nan for text in texts]
    lower, upper, k_position, k_velocity = numbers
    if not all(map(math.isfinite, numbers)) or min(k_position, k_velocity) < 0.0:
        given = ', '.join(f'{name} {text!r}' for name, text in zip(names, texts, strict=True))
        warnings.append(f'{_owner(element)}: <safety_controller> is not used: {given}')
        return None
    if k_position == 0.0 or k_velocity == 0.0 or lower >= upper:
        return None
    return SafetyController(lower, upper, k_position, k_velocity)


def _owner(element: ElementTree.Element) -> str:
    return f'{element.tag} {element.get("name")!r}'


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and '_' not in text  # float() also reads '1_0' and non-ASCII digits


def _check_joint(element: ElementTree.Element, owner: str) -> list[str]:
    """Check type, ends and limit; return the names of parent and child."""
    joint_type = element.get('type')
    if joint_type not in JOINT_TYPES:
        raise UrdfError(owner, f'unknown type {joint_type!r}; known are {JOINT_TYPES}')
    ends = []
    for tag in ('parent', 'child'):
        end = element.find(tag)
        ends.append('' if end is None else end.get('link', ''))
        if not ends[-1]:
            raise UrdfError(owner, f'names no {tag} link')
    if joint_type in ('revolute', 'prismatic') and element.find('limit') is None:
        raise UrdfError(owner, f'a {joint_type} joint needs a <limit>')
    return ends


def _numbers(
    holder: ElementTree.Element, tag: str, name: str, owner: str, default: str = '0', *,
    finite: bool = True,
) -> tuple[float, ...]:
    """Return the numbers of an attribute of a child element, as many as the default has."""
    child = holder.find(tag)
    text = default if child is None else child.get(name, default)
    if child is not None and name not in child.attrib and (name in _REQUIRED or tag == 'axis'):
        raise UrdfError(owner, f'<{tag}> has no {name}')
    numbers, count = text.split(), len(default.split())
    if len(numbers) != count:
        raise UrdfError(owner, f'{tag} {name} {text!r} has {len(numbers)} numbers, not {count}')
    for number in numbers:
        if not _is_number(number):
            raise UrdfError(owner, f'{tag} {name}: {number!r} is not a number')
    values = tuple(map(float, numbers))
    if finite and not all(map(math.isfinite, values)):
        raise UrdfError(owner, f'{tag} {name} {_rounded(values)} is not finite')
    return values


def _rounded(values: Iterable[float]) -> str:
    return ', '.join(f'{value:.6g}' for value in values)


def _read_origin(holder: ElementTree.Element, owner: str) -> Origin:
    origin = holder.find('origin')
    if origin is not None and 'quat_xyzw' in origin.attrib:  # usable ones were replaced
        _numbers(holder, 'origin', 'quat_xyzw', owner, '0 0 0 1', finite=False)
        reason, rpy = 'is not of length 1', origin.get('rpy')
        if rpy is not None:
            reason = f'and rpy {rpy!r} are given: keep one of them'
        raise UrdfError(owner, f'origin quat_xyzw {origin.get("quat_xyzw")!r} {reason}')
    x, y, z = _numbers(holder, 'origin', 'xyz', owner, '0 0 0')
    roll, pitch, yaw = _numbers(holder, 'origin', 'rpy', owner, '0 0 0')
    return Origin((x, y, z), (roll, pitch, yaw))


def _read_axis(joint: ElementTree.Element, owner: str) -> Vector3:
    x, y, z = _numbers(joint, 'axis', 'xyz', owner, '1 0 0')
    length = math.hypot(x, y, z)
    if length < 1e-9:
        raise UrdfError(owner, f'axis ({_rounded((x, y, z))}) has no direction')
    return (x / length, y / length, z / length)


def _read_limits(joint: ElementTree.Element, owner: str, warnings: list[str]) -> JointLimits:
    if joint.find('limit') is None:
        return JointLimits()
    values = {
        name: _numbers(joint, 'limit', name, owner, default, finite=False)[0]
        for name, default in _LIMITS.items()
    }
    for name, value in values.items():
        if math.isnan(value):
            raise UrdfError(owner, f'limit {name} {value} is not a number')
        if value < 0.0 and name not in ('lower', 'upper'):
            raise UrdfError(owner, f'limit {name} {value:g} is negative')
    lower, upper = values.pop('lower'), values.pop('upper')
    if joint.get('type') == 'continuous':
        return JointLimits(**values)
    if joint.get('type') in ('planar', 'floating'):
        return JointLimits()  # one set of numbers cannot limit angles and distances
    if lower == math.inf or upper == -math.inf:
        raise UrdfError(owner, f'limit lower {lower:g}, upper {upper:g} allows no position')
    if lower > upper:
        warnings.append(
            f'{owner}: limit lower {lower:g} is above upper {upper:g}; the dynamics do not need '
            'it, but no motion of the joint is accepted'
        )
    return JointLimits(lower, upper, **values)
