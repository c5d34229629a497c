# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Single links and joints, read by urdf_parser_py and checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import copy
import math
from typing import Any
from xml.etree import ElementTree

from urdf_parser_py import urdf as urdf_parser

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
_COUNTS = {'xyz': 3, 'rpy': 3, 'quat_xyzw': 4}  # of numbers; 1 in other attributes
_MORE_LIMITS = ('acceleration', 'deceleration', 'jerk')  # of URDF 1.2
_REQUIRED = {'mass': 'value', 'axis': 'xyz'}
_ROUNDING = 1e-9  # negative damping and friction nearer to 0 are rounding, N m s/rad and N m


def read_link(element: ElementTree.Element) -> Link:
    """Return the link of a reduced ``<link>``; UrdfError for an unusable mass or inertia."""
    owner = _owner(element)
    source = element.find('inertial')
    if source is not None and source.find('mass') is None:
        raise UrdfError(owner, '<inertial> has no <mass>')
    link = _parse(urdf_parser.Link, element, owner)
    if link.inertial is None:
        return Link(link.name, None)
    (mass,) = _finite([float(link.inertial.mass)], owner, 'mass')
    if mass < 0.0:
        raise UrdfError(owner, f'mass {mass:g} is negative')
    matrix = link.inertial.inertia
    names = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    values = [0.0 if matrix is None else getattr(matrix, name) for name in names]
    ixx, ixy, ixz, iyy, iyz, izz = _finite(values, owner, 'inertia')
    origin = _read_origin(link.inertial.origin, f'{owner} inertial')
    return Link(link.name, Inertial(origin, mass, (ixx, ixy, ixz, iyy, iyz, izz)))


def read_joint(element: ElementTree.Element, warnings: list[str]) -> Joint:
    """
    Return the joint of a reduced ``<joint>``; names of links and leaders are not checked here.

    Limits that no position meets give a warning, other values out of range a UrdfError.
    """
    owner = _owner(element)
    _check_joint(element, owner)
    joint = _parse(urdf_parser.Joint, element, owner)
    damping, friction = _read_friction(joint.dynamics, owner)
    return Joint(
        name=joint.name,
        type=joint.type,
        parent=joint.parent,
        child=joint.child,
        origin=_read_origin(joint.origin, owner),
        axis=_read_axis(joint.axis, owner),
        limits=_read_limits(joint.limit, element.find('limit'), joint.type, owner, warnings),
        damping=damping,
        friction=friction,
        mimic=_read_mimic(joint.mimic, owner),
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


def _parse(kind: Any, element: ElementTree.Element, owner: str) -> Any:
    for part in element.iter():
        _check_numbers(part, owner)
    element = copy.deepcopy(element)
    for limit in element.iter('limit'):  # urdf_parser_py prints what it does not know
        for name in _MORE_LIMITS:
            limit.attrib.pop(name, None)
    try:
        return kind.from_xml_string(ElementTree.tostring(element, 'unicode'))
    except Exception as error:  # urdf_parser_py raises whatever its value types raise
        raise UrdfError(owner, ' '.join(str(error).split())) from error


def _check_numbers(part: ElementTree.Element, owner: str) -> None:
    """Check all numbers, because errors of urdf_parser_py do not always name the element."""
    required = _REQUIRED.get(part.tag)
    if required is not None and required not in part.attrib:
        raise UrdfError(owner, f'<{part.tag}> has no {required}')
    for attribute, text in part.attrib.items():
        if attribute in _WORDS:
            continue
        count = _COUNTS.get(attribute, 1)
        numbers = text.split()
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


def _check_joint(element: ElementTree.Element, owner: str) -> None:
    """Check what urdf_parser_py accepts, or reports without the joint's name."""
    joint_type = element.get('type')
    if joint_type not in JOINT_TYPES:
        raise UrdfError(owner, f'unknown type {joint_type!r}; known are {JOINT_TYPES}')
    for tag in ('parent', 'child'):
        end = element.find(tag)
        if end is None or not end.get('link'):
            raise UrdfError(owner, f'names no {tag} link')
    if joint_type in ('revolute', 'prismatic') and element.find('limit') is None:
        raise UrdfError(owner, f'a {joint_type} joint needs a <limit>')


def _finite(values: Sequence[float], owner: str, what: str) -> tuple[float, ...]:
    if not all(math.isfinite(value) for value in values):
        raise UrdfError(owner, f'{what} ({_rounded(values)}) is not finite')
    return tuple(float(value) for value in values)


def _rounded(values: Iterable[float]) -> str:
    return ', '.join(f'{value:.6g}' for value in values)


def _read_origin(element: Any, owner: str) -> Origin:
    if element is None:
        return Origin()
    zero = (0.0, 0.0, 0.0)
    xyz = _finite(zero if element.xyz is None else element.xyz, owner, 'origin xyz')
    rpy = _finite(zero if element.rpy is None else element.rpy, owner, 'origin rpy')
    return Origin((xyz[0], xyz[1], xyz[2]), (rpy[0], rpy[1], rpy[2]))


def _read_axis(axis: Sequence[float] | None, owner: str) -> Vector3:
    if axis is None:
        return (1.0, 0.0, 0.0)
    x, y, z = _finite(axis, owner, 'axis')
    length = math.hypot(x, y, z)
    if length < 1e-9:
        raise UrdfError(owner, f'axis ({_rounded((x, y, z))}) has no direction')
    return (x / length, y / length, z / length)


def _read_mimic(mimic: Any, owner: str) -> Mimic | None:
    if mimic is None:
        return None
    multiplier = 1.0 if mimic.multiplier is None else mimic.multiplier
    offset = 0.0 if mimic.offset is None else mimic.offset
    multiplier, offset = _finite([multiplier, offset], owner, 'mimic multiplier, offset')
    return Mimic(mimic.joint, multiplier, offset)


def _read_friction(dynamics: Any, owner: str) -> tuple[float, float]:
    if dynamics is None:
        return 0.0, 0.0
    values = [value or 0.0 for value in (dynamics.damping, dynamics.friction)]
    damping, friction = _finite(values, owner, 'damping, friction')
    if min(damping, friction) < -_ROUNDING:
        raise UrdfError(
            owner,
            f'damping {damping:g} or friction {friction:g} is negative; set 0 if it is unknown',
        )
    return max(damping, 0.0), max(friction, 0.0)


def _read_limits(
    limit: Any, element: ElementTree.Element | None, joint_type: str, owner: str,
    warnings: list[str],
) -> JointLimits:
    if limit is None or element is None:
        return JointLimits()
    lower, upper = limit.lower or 0.0, limit.upper or 0.0
    sizes = {'velocity': limit.velocity, 'effort': limit.effort}
    sizes.update((name, float(element.get(name, 'inf'))) for name in _MORE_LIMITS)
    for name, value in {'lower': lower, 'upper': upper, **sizes}.items():
        if math.isnan(value):
            raise UrdfError(owner, f'limit {name} {value} is not a number')
        if name in sizes and value < 0.0:
            raise UrdfError(owner, f'limit {name} {value:g} is negative')
    if joint_type == 'continuous':
        return JointLimits(**sizes)
    if joint_type in ('planar', 'floating'):
        return JointLimits()  # one set of numbers cannot limit angles and distances
    if lower == math.inf or upper == -math.inf:
        raise UrdfError(owner, f'limit lower {lower:g}, upper {upper:g} allows no position')
    if lower > upper:
        warnings.append(
            f'{owner}: limit lower {lower:g} is above upper {upper:g}; the dynamics do not need '
            'it, but no motion of the joint is accepted'
        )
    return JointLimits(lower, upper, **sizes)
