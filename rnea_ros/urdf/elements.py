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

_WORDS = ('name', 'type', 'link', 'joint')
_MOMENTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
_COUNTS = {'xyz': 3, 'rpy': 3, 'quat_xyzw': 4}  # of numbers; 1 in other attributes
_REQUIRED = {'mass': ('value',), 'inertia': _MOMENTS, 'axis': ('xyz',),
             'limit': ('effort', 'velocity'), 'mimic': ('joint',)}  # fmt: skip
_ROUNDING = 1e-9  # negative damping and friction nearer to 0 are rounding, N m s/rad and N m


def read_link(element: ElementTree.Element) -> Link:
    """Return the link of a reduced ``<link>``; UrdfError for an unusable mass or inertia."""
    owner, name = _owner(element), element.get('name', '')
    inertial = element.find('inertial')
    if inertial is None:
        return Link(name, None)
    if inertial.find('mass') is None:
        raise UrdfError(owner, '<inertial> has no <mass>')
    _check_numbers(element, owner)
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
    _check_numbers(element, owner)
    damping, friction = (
        _numbers(element, 'dynamics', name, owner)[0] for name in ('damping', 'friction')
    )
    if min(damping, friction) < -_ROUNDING:
        raise UrdfError(
            owner,
            f'damping {damping:g} or friction {friction:g} is negative; set 0 if it is unknown',
        )
    mimic = element.find('mimic')
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


def _check_numbers(element: ElementTree.Element, owner: str) -> None:
    """Check that all attributes are numbers, or words, and that the required ones are there."""
    for part in element.iter():
        for name in _REQUIRED.get(part.tag, ()):
            if name not in part.attrib:
                raise UrdfError(owner, f'<{part.tag}> has no {name}')
        for attribute, text in part.attrib.items():
            if attribute not in _WORDS:
                _check_number(part, attribute, text, owner)


def _check_number(part: ElementTree.Element, attribute: str, text: str, owner: str) -> None:
    count, numbers = _COUNTS.get(attribute, 1), text.split()
    if len(numbers) != count:
        raise UrdfError(
            owner, f'{part.tag} {attribute} {text!r} has {len(numbers)} numbers, not {count}'
        )
    for number in numbers:
        if not _is_number(number):
            raise UrdfError(owner, f'{part.tag} {attribute}: {number!r} is not a number')
    if attribute == 'quat_xyzw':  # others were replaced
        reason = 'is not of length 1'
        if 'rpy' in part.attrib:
            reason = f'and rpy {part.get("rpy")!r} are given: keep one of them'
        raise UrdfError(owner, f'{part.tag} quat_xyzw {text!r} {reason}')


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
    holder: ElementTree.Element, tag: str, name: str, owner: str, default: str = '0'
) -> tuple[float, ...]:
    """Return the finite numbers of an attribute of a child; the default if one is missing."""
    child = holder.find(tag)
    text = default if child is None else child.get(name, default)
    values = tuple(map(float, text.split()))
    if not all(map(math.isfinite, values)):
        raise UrdfError(owner, f'{tag} {name} {_rounded(values)} is not finite')
    return values


def _rounded(values: Iterable[float]) -> str:
    return ', '.join(f'{value:.6g}' for value in values)


def _read_origin(holder: ElementTree.Element, owner: str) -> Origin:
    x, y, z = _numbers(holder, 'origin', 'xyz', owner, '0 0 0')
    roll, pitch, yaw = _numbers(holder, 'origin', 'rpy', owner, '0 0 0')
    return Origin((x, y, z), (roll, pitch, yaw))


def _read_axis(joint: ElementTree.Element, owner: str) -> Vector3:
    x, y, z = _numbers(joint, 'axis', 'xyz', owner, '1 0 0')
    length = math.hypot(x, y, z)
    if length < 1e-9:
        raise UrdfError(owner, f'axis ({_rounded((x, y, z))}) has no direction')
    return (x / length, y / length, z / length)


def _read_limits(
    joint: ElementTree.Element, owner: str, warnings: list[str]
) -> JointLimits:
    limit = joint.find('limit')
    if limit is None:
        return JointLimits()
    values = {name: float(text) for name, text in limit.items()}
    for name, value in values.items():
        if math.isnan(value):
            raise UrdfError(owner, f'limit {name} {value} is not a number')
        if value < 0.0 and name not in ('lower', 'upper'):
            raise UrdfError(owner, f'limit {name} {value:g} is negative')
    lower, upper = (values.pop(name, 0.0) for name in ('lower', 'upper'))
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
