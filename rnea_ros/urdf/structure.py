# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Checks of all joints together: they form one tree, and mimic joints follow joints of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..errors import UrdfError
from .description import Joint, Link, Mimic


def tree_order(links: Mapping[str, Link], joints: Mapping[str, Joint]) -> tuple[str, list[str]]:
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

    order = [joint.name for joint in _depth_first(roots[0], outgoing)]
    if len(order) < len(joints):
        cyclic = sorted(set(joints) - set(order))
        raise UrdfError(f'joint {cyclic[0]!r}', f'the joints {cyclic} form a cycle')
    return roots[0], order


def _depth_first(root: str, outgoing: Mapping[str, list[Joint]]) -> Iterator[Joint]:
    stack = list(reversed(outgoing[root]))
    while stack:
        joint = stack.pop()
        yield joint
        stack.extend(reversed(outgoing[joint.child]))


def resolve_mimics(joints: Mapping[str, Joint], warnings: list[str]) -> dict[str, Joint]:
    """Make every mimic joint follow an independent joint directly."""
    resolved: dict[str, Joint] = {}
    for joint in joints.values():
        if joint.mimic is None:
            resolved[joint.name] = joint
            continue
        multiplier, offset = 1.0, 0.0
        follower, followed = joint, [joint.name]
        while follower.mimic is not None:
            # x = m1 (m2 y + o2) + o1
            offset += multiplier * follower.mimic.offset
            multiplier *= follower.mimic.multiplier
            follower = joints[_leader_name(follower, follower.mimic, joints, warnings)]
            if follower.name in followed:
                chain = ' -> '.join([*followed, follower.name])
                raise UrdfError(f'joint {joint.name!r}', f'mimics itself: {chain}')
            followed.append(follower.name)
        for end in (joint, follower):
            if not end.one_axis:
                raise UrdfError(
                    f'joint {joint.name!r}', f'mimics, but joint {end.name!r} is {end.type}'
                )
        mimic = Mimic(follower.name, multiplier, offset)
        resolved[joint.name] = replace(joint, mimic=mimic)
    return resolved


def _leader_name(
    joint: Joint, mimic: Mimic, joints: Mapping[str, Joint], warnings: list[str]
) -> str:
    """
    Return the name of the joint that a mimic joint follows.

    Some vendors' macros omit a prefix in the mimic element: ``left_finger_2`` follows ``finger_1``
    instead of ``left_finger_1``. The prefix is added, with a warning, if only one joint fits.
    """
    if mimic.joint in joints:
        return mimic.joint
    prefixed = [
        name
        for name in joints
        if name.endswith(mimic.joint)
        and joint.name.startswith(name[: len(name) - len(mimic.joint)])
    ]
    if len(prefixed) != 1:
        raise UrdfError(
            f'joint {joint.name!r}', f'mimics joint {mimic.joint!r}, which does not exist'
        )
    warnings.append(
        f'joint {joint.name!r} mimics {mimic.joint!r}, which does not exist; '
        f'{prefixed[0]!r} is used'
    )
    return prefixed[0]
