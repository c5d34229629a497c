# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Single links, joints and collision shapes; urdf_parser_py reads checked elements."""

from __future__ import annotations

from collections.abc import Sequence
import math
import re
from typing import Any
from xml.etree import ElementTree

from urdf_parser_py import urdf as urdf_parser
from urdf_parser_py.xml_reflection.core import Path

from ..errors import UrdfError, clipped, one_line
from .description import (
    JOINT_TYPES,
    Inertial,
    Joint,
    JointLimits,
    Link,
    Mimic,
    Origin,
    SafetyController,
    Shape,
    Vector3,
)
from .xml import part_names

_WORDS = ('name', 'type', 'link', 'joint')
_COUNTS = {'xyz': 3, 'rpy': 3, 'quat_xyzw': 4}  # of numbers; 1 in other attributes
_REQUIRED = {'inertial': '<mass>', 'mass': 'value', 'axis': 'xyz', 'mimic': 'joint'}
_NUMBER = re.compile(r'[+-]?((\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)', re.A | re.I)
_MORE_LIMITS = ('acceleration', 'deceleration', 'jerk')  # of URDF 1.2
_ROUNDING = 1e-9  # negative damping and friction nearer to 0 are rounding, N m s/rad and N m

_SIZES = {'box': ('size',), 'cylinder': ('radius', 'length'), 'sphere': ('radius',),
          'capsule': ('radius', 'length'), 'mesh': ('scale',)}  # fmt: skip
"""Attributes of each kind of collision shape."""

MAX_SIZE = 1e6  # of collision shapes, and distance from the link, m


def read_link(element: ElementTree.Element) -> Link:
    """Return the link of a reduced ``<link>``; UrdfError for an unusable mass or inertia."""
    owner = _owner(element)
    _check_numbers(element, owner)
    link = _read(urdf_parser.Link, element, owner)
    if link.inertial is None:
        return Link(link.name, None)
    mass, matrix = float(link.inertial.mass), link.inertial.inertia or urdf_parser.Inertia()
    if mass < 0.0:
        raise UrdfError(owner, f'mass {mass:g} is negative')
    moments = (matrix.ixx, matrix.ixy, matrix.ixz, matrix.iyy, matrix.iyz, matrix.izz)
    return Link(link.name, Inertial(_origin(link.inertial.origin), mass, moments))


def read_joint(
    element: ElementTree.Element, source: ElementTree.Element, warnings: list[str]
) -> Joint:
    """
    Return the joint of a reduced ``<joint>``, with the soft limits of the whole ``source``.

    Names of links and leaders are not checked here. Limits that no position meets and unusable
    soft limits give a warning, other values out of range a UrdfError.
    """
    owner = _owner(element)
    _check_joint(element, owner)
    _check_numbers(element, owner)
    limit = element.find('limit')
    attributes = {} if limit is None else limit.attrib
    more = {name: float(attributes.pop(name, 'inf')) for name in _MORE_LIMITS}
    joint = _read(urdf_parser.Joint, element, owner)
    dynamics, mimic = joint.dynamics or urdf_parser.JointDynamics(), joint.mimic
    damping, friction = dynamics.damping or 0.0, dynamics.friction or 0.0
    if min(damping, friction) < -_ROUNDING:
        values = f'damping {damping:g} or friction {friction:g}'
        raise UrdfError(owner, f'{values} is negative; set 0 if it is unknown')
    if mimic is not None:
        multiplier = 1.0 if mimic.multiplier is None else mimic.multiplier
        mimic = Mimic(mimic.joint, multiplier, mimic.offset or 0.0)
    return Joint(
        name=joint.name, type=joint.type, parent=joint.parent, child=joint.child,
        origin=_origin(joint.origin), axis=_axis(joint.axis, owner),
        limits=_limits(joint, more, owner, warnings),
        damping=max(damping, 0.0), friction=max(friction, 0.0), mimic=mimic,
        safety_controller=_safety_controller(source, owner, warnings),
    )


def read_shapes(
    link: ElementTree.Element, unread: dict[str, str], tag: str = 'collision'
) -> list[Shape]:
    """
    Return the shapes of a ``<link>``; ``unread`` gets the reason of one without.

    :param tag: ``collision`` or ``visual``
    """
    name, shapes = link.get('name', ''), []
    for element in link.findall(tag):
        try:
            shapes.append(_shape(name, element))
        except ValueError as error:
            unread[name] = clipped(str(error), 1000)
    return shapes


def _owner(element: ElementTree.Element) -> str:
    return f'{element.tag} {element.get("name")!r}'


def _read(kind: Any, element: ElementTree.Element, owner: str) -> Any:
    """Return what urdf_parser_py reads of an element with checked numbers."""
    try:
        return kind.from_xml(element, Path(element.tag))
    except Exception as error:  # urdf_parser_py raises whatever its value types raise
        raise UrdfError(owner, one_line(error)) from error


def _check_numbers(part: ElementTree.Element, owner: str) -> None:
    """Check all numbers, because errors of urdf_parser_py do not always name the element."""
    required = _REQUIRED.get(part.tag)
    if required and (required not in part_names(part) or part.get(required) == ''):
        raise UrdfError(owner, f'<{part.tag}> has no {required}')
    for attribute, text in part.attrib.items():
        if attribute in _WORDS:
            continue
        what, count, numbers = f'{part.tag} {attribute}', _COUNTS.get(attribute, 1), text.split()
        if len(numbers) != count:
            raise UrdfError(owner, f'{what} {text!r} has {len(numbers)} numbers, not {count}')
        for number in numbers:
            if not _NUMBER.fullmatch(number):
                raise UrdfError(owner, f'{what}: {number!r} is not a number')
        if attribute == 'quat_xyzw':  # usable ones were replaced
            both = f'and rpy {part.get("rpy")!r} are given: keep one of them'
            reason = both if 'rpy' in part.attrib else 'is not of length 1'
            raise UrdfError(owner, f'{what} {text!r} {reason}')
        size = max(map(abs, map(float, numbers)))
        if 'nan' in text.lower() or (math.isinf(size) and part.tag != 'limit'):
            raise UrdfError(owner, f'{what} {text!r} is not finite')
    for child in part:
        _check_numbers(child, f'{owner} inertial' if part.tag == 'inertial' else owner)


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


def _origin(pose: Any) -> Origin:
    if pose is None:
        return Origin()
    x, y, z = pose.xyz or (0.0, 0.0, 0.0)
    roll, pitch, yaw = pose.rpy or (0.0, 0.0, 0.0)
    return Origin((x, y, z), (roll, pitch, yaw))


def _axis(axis: Sequence[float] | None, owner: str) -> Vector3:
    x, y, z = axis or (1.0, 0.0, 0.0)
    length = math.hypot(x, y, z)
    if length < 1e-9:
        raise UrdfError(owner, f'axis ({x:.6g}, {y:.6g}, {z:.6g}) has no direction')
    return (x / length, y / length, z / length)


def _limits(
    joint: Any, more: dict[str, float], owner: str, warnings: list[str]
) -> JointLimits:
    limit = joint.limit
    if limit is None:
        return JointLimits()
    lower, upper = limit.lower or 0.0, limit.upper or 0.0
    others = {'velocity': limit.velocity, 'effort': limit.effort, **more}
    for name, value in others.items():
        if value < 0.0:
            raise UrdfError(owner, f'limit {name} {value:g} is negative')
    if joint.type == 'continuous':
        return JointLimits(**others)
    if joint.type in ('planar', 'floating'):
        return JointLimits()  # one set of numbers cannot limit angles and distances
    if lower == math.inf or upper == -math.inf:
        raise UrdfError(owner, f'limit lower {lower:g}, upper {upper:g} allows no position')
    if lower > upper:
        warnings.append(
            f'{owner}: limit lower {lower:g} is above upper {upper:g}; the dynamics do not need '
            'it, but no motion of the joint is accepted'
        )
    return JointLimits(lower, upper, **others)


def _safety_controller(
    joint: ElementTree.Element, owner: str, warnings: list[str]
) -> SafetyController | None:
    """
    Return the soft limits of a joint; None without, or with a gain or both limits of 0.

    Other numbers that cannot be used give a warning, as dynamics do not need them.
    """
    source = joint.find('safety_controller')
    if source is None:
        return None
    names = ('soft_lower_limit', 'soft_upper_limit', 'k_position', 'k_velocity')
    texts = [source.get(name, '0') for name in names]
    numbers = [float(t) if _NUMBER.fullmatch(t.strip()) else math.nan for t in texts]
    lower, upper, k_position, k_velocity = numbers
    unset = 0.0 in (k_position, k_velocity) or lower == upper == 0.0
    usable = all(map(math.isfinite, numbers)) and min(k_position, k_velocity) >= 0.0
    if not usable or not (unset or lower < upper):
        given = ', '.join(f'{name} {text!r}' for name, text in zip(names, texts, strict=True))
        warnings.append(f'{owner}: <safety_controller> is not used: {given}')
        return None
    return None if unset else SafetyController(lower, upper, k_position, k_velocity)


def _shape(link: str, element: ElementTree.Element) -> Shape:
    """Return a collision shape; a ValueError says why it cannot be used."""
    geometry = element.find('geometry')
    shapes = [] if geometry is None else [child for child in geometry if child.tag in _SIZES]
    if len(shapes) != 1:
        raise ValueError(f'a <collision> needs one of {", ".join(_SIZES)}')
    (shape,) = shapes
    kind, default = shape.tag, '1 1 1' if shape.tag == 'mesh' else ''
    sizes = [_numbers(shape.get(name, default)) for name in _SIZES[kind]]
    origin = element.find('origin')
    pose = {} if origin is None else origin.attrib
    x, y, z, *_ = (*_numbers(pose.get('xyz', '0 0 0')), 0.0, 0.0, 0.0)
    roll, pitch, yaw, *_ = (*_numbers(pose.get('rpy', '0 0 0')), 0.0, 0.0, 0.0)
    size = tuple(number for numbers in sizes for number in numbers)
    if len(size) != {'box': 3, 'mesh': 3}.get(kind, len(sizes)):
        raise ValueError(f'<{kind}> in <collision> has {len(size)} sizes')
    numbers = (*size, x, y, z, roll, pitch, yaw)
    positive = all(abs(number) if kind == 'mesh' else number > 0.0 for number in size)
    if not positive or not all(abs(number) < MAX_SIZE for number in numbers):
        raise ValueError(f'<{kind}> in <collision> has size {size} at {x, y, z} m')
    return Shape(
        link, kind, size, Origin((x, y, z), (roll, pitch, yaw)), shape.get('filename', '')
    )


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(map(float, text.split()))
    except ValueError:
        raise ValueError(f'{text!r} in <collision> is not numbers') from None
