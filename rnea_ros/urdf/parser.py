# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""URDF text to a checked description: one tree of joints, and mimic joints that follow them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
import math

from ..errors import UrdfError, brief, clipped
from .description import Joint, Link, Mimic, RobotDescription
from .elements import read_joint, read_link, read_shapes
from .mass import check_inertia, in_all, warn_of_implausible
from .xml import parse_xml, reduce_to_dynamics, unknown_parts

RANGE_TOLERANCE = 0.01  # accepted excess of a mimic joint over its range, as a share of it
MIN_RANGE = 0.1  # least part of a leader's range that its mimic joints may leave


def parse_urdf(text: str, *, strict_inertia: bool = False) -> RobotDescription:
    """
    Parse and check URDF text; a UrdfError names the element and the value that cannot be used.

    :param strict_inertia: raise an error for an inertia that no rigid body can have, instead of a
        warning
    """
    source = parse_xml(text)
    robot = reduce_to_dynamics(source)
    warnings = list(unknown_parts(source))
    if not robot.get('name'):
        warnings.append('the robot has no name')

    for element in (robot, *robot):
        if (name := element.get('name', '')) != clipped(name):
            fault = 'the name has control characters or over 500 characters; rename it'
            raise UrdfError(f'{element.tag} {brief(name)}', fault)
    links = {link.name: link for link in map(read_link, robot.findall('link'))}
    pairs = zip(robot.findall('joint'), source.findall('joint'), strict=True)
    joints = {joint.name: joint for joint in (read_joint(*pair, warnings) for pair in pairs)}
    root, order = _tree_order(links, joints)
    joints = _resolve_mimics({name: joints[name] for name in order}, warnings)
    _reconcile_ranges(joints, warnings)
    for link in links.values():
        check_inertia(link, strict_inertia, warnings)
    warn_of_implausible(root, links, joints, warnings)
    notes = tuple(clipped(warning, 1000) for warning in warnings)
    unread: dict[str, str] = {}
    shapes = tuple(shape for link in source.findall('link') for shape in read_shapes(link, unread))
    return RobotDescription(
        robot.get('name', ''), root, links, joints, notes, text, shapes, unread
    )


def _tree_order(links: Mapping[str, Link], joints: Mapping[str, Joint]) -> tuple[str, list[str]]:
    """Return the root link and the joints' names, parents first; UrdfError if it is not a tree."""
    parent_joint: dict[str, str] = {}
    outgoing: dict[str, list[Joint]] = {name: [] for name in links}
    for joint in joints.values():
        owner = f'joint {joint.name!r}'
        for role, link in (('parent', joint.parent), ('child', joint.child)):
            if link not in links:
                raise UrdfError(owner, f'{role} link {link!r} does not exist')
        if joint.child in parent_joint:
            raise UrdfError(
                f'link {joint.child!r}',
                f'is the child of two joints, {parent_joint[joint.child]!r} and {joint.name!r}',
            )
        parent_joint[joint.child] = joint.name
        outgoing[joint.parent].append(joint)

    roots = [name for name in links if name not in parent_joint]
    if not roots:
        raise UrdfError('robot', f'has no root link: the joints {sorted(joints)} form a cycle')
    if len(roots) > 1:
        raise UrdfError('robot', f'has {len(roots)} root links: {", ".join(map(repr, roots))}')

    order, stack = [], outgoing[roots[0]][::-1]
    while stack:  # depth first
        joint = stack.pop()
        order.append(joint.name)
        stack += outgoing[joint.child][::-1]
    if len(order) < len(joints):
        cyclic = sorted(set(joints) - set(order))
        raise UrdfError(f'joint {cyclic[0]!r}', f'the joints {cyclic} form a cycle')
    return roots[0], order


def _resolve_mimics(joints: Mapping[str, Joint], warnings: list[str]) -> dict[str, Joint]:
    """Make every mimic joint follow an independent joint directly."""
    leaders = _leaders(joints, warnings)
    resolved: dict[str, Joint] = {}
    for joint in joints.values():
        chain: dict[str, Joint] = {}
        end = joint
        while end.mimic is not None and end.name not in resolved:
            if end.name in chain:
                names = ' -> '.join([*chain, end.name])
                raise UrdfError(f'joint {joint.name!r}', f'mimics itself: {names}')
            chain[end.name] = end
            end = joints[leaders[end.name]]
        resolved.setdefault(end.name, end)
        for name, follower in reversed(chain.items()):
            resolved[name] = _following(follower, resolved[leaders[name]])
    return {name: resolved[name] for name in joints}


def _leaders(joints: Mapping[str, Joint], warnings: list[str]) -> dict[str, str]:
    """
    Return the name of the joint that each mimic joint follows.

    Some vendors' macros omit a prefix: ``left_finger_2`` follows ``finger_1``. It is added, with a
    warning, if only one joint fits.
    """
    lengths = sorted({len(name) for name in joints})
    leaders = {joint.name: joint.mimic.joint for joint in joints.values() if joint.mimic}
    for name, leader in leaders.items():
        if leader in joints:
            continue
        missing = [length - len(leader) for length in lengths]
        prefixed = [name[:n] + leader for n in missing if 0 < n <= len(name)]
        fitting = [other for other in prefixed if other in joints]
        if len(fitting) != 1:
            raise UrdfError(f'joint {name!r}', f'mimics joint {leader!r}, which does not exist')
        leaders[name] = fitting[0]
        warnings.append(
            f'joint {name!r} mimics {leader!r}, which does not exist; {fitting[0]!r} is used'
        )
    return leaders


def _following(joint: Joint, leader: Joint) -> Joint:
    """Return a mimic joint that follows the joint that its leader follows, or the leader."""
    owner = f'joint {joint.name!r}'
    for end in (joint, leader):
        if not end.one_axis:
            raise UrdfError(owner, f'mimics, but joint {end.name!r} is {end.type}')
    assert joint.mimic is not None
    then = leader.mimic or Mimic(leader.name, 1.0, 0.0)
    # x = m1 (m2 y + o2) + o1
    multiplier = joint.mimic.multiplier * then.multiplier
    offset = joint.mimic.multiplier * then.offset + joint.mimic.offset
    if not (math.isfinite(multiplier) and math.isfinite(offset)):
        factors = f'multiplier {multiplier:g}, offset {offset:g}'
        raise UrdfError(owner, f'mimics {then.joint!r} with {factors}: not finite')
    return replace(joint, mimic=Mimic(then.joint, multiplier, offset))


def _reconcile_ranges(joints: dict[str, Joint], warnings: list[str]) -> None:
    """
    Let the position ranges of mimic joints agree with those of their leaders, with one warning.

    A leader is limited to the positions that its mimic joints permit. If these leave it almost no
    room, as with a wrong sign, its own range applies, and that of the mimic joint follows from it.
    """
    found: list[str] = []
    for joint in [joint for joint in joints.values() if joint.mimic and joint.mimic.multiplier]:
        assert joint.mimic is not None
        factor, offset, own = joint.mimic.multiplier, joint.mimic.offset, joint.limits
        leader = joints[joint.mimic.joint]
        lower, upper = leader.limits.lower, leader.limits.upper
        first, last = sorted((factor * lower + offset, factor * upper + offset))
        excess = RANGE_TOLERANCE * (own.upper - own.lower)
        permitted = first >= own.lower - excess and last <= own.upper + excess
        if permitted or own.lower >= own.upper or lower >= upper:
            continue
        ends = sorted(((own.lower - offset) / factor, (own.upper - offset) / factor))
        common = replace(leader.limits, lower=max(lower, ends[0]), upper=min(upper, ends[1]))
        if common.upper - common.lower > MIN_RANGE * (upper - lower):
            joints[leader.name] = replace(leader, limits=common)
            decision = f'{leader.name!r} is limited to {common.lower:.4g} to {common.upper:.4g}'
        else:
            joints[joint.name] = replace(joint, limits=replace(own, lower=first, upper=last))
            decision = 'the latter are used'
        found.append(
            f'joint {joint.name!r}: its limits, {own.lower:.4g} to {own.upper:.4g}, contradict '
            f'those of {leader.name!r} times {factor:.4g}, {first:.4g} to {last:.4g}; {decision}'
        )
    if found:
        warnings.append(found[0] + in_all(found, 'mimic joints'))
