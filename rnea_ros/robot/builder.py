# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The kinematic tree of a robot description."""

from __future__ import annotations

import numpy as np

from ..dynamics.tree import (
    FIXED,
    WORLD,
    Coordinate,
    JointType,
    KinematicTree,
    Placement,
    RigidBodyInertia,
    TreeBuilder,
    floating,
    planar,
    prismatic,
    revolute,
)
from ..errors import UrdfError
from ..urdf import Inertial, Joint, RobotDescription

FLOATING_BASE = 'floating_base'
"""The name of the joint of a floating base."""


@np.errstate(over='ignore', invalid='ignore')  # the tree rejects what is not finite, by link
def build_tree(description: RobotDescription, *, floating_base: bool = False) -> KinematicTree:
    """
    Return the kinematic tree of a description; fixed links are part of the body that carries them.

    A floating base moves by the joint :data:`FLOATING_BASE`; the name must be free (UrdfError).
    """
    joints = description.joints.values()
    names = [joint.name for joint in joints if joint.moves and joint.mimic is None]
    root_inertia = link_inertia(description.links[description.root].inertial)
    if floating_base:
        present = description.joints.get(FLOATING_BASE)
        if present is not None and present.moves:
            raise UrdfError(
                f'joint {FLOATING_BASE!r}',
                f'this {present.type} joint has the name of the floating base: rename it, or '
                'leave out floating_base=True',
            )
        builder = TreeBuilder(WORLD, [FLOATING_BASE, *names])
        free = floating(FLOATING_BASE)
        builder.add_link(description.root, WORLD, Placement.identity(), free, root_inertia)
    else:
        builder = TreeBuilder(description.root, names, root_inertia)
    for joint in joints:
        placement = Placement.from_xyz_rpy(joint.origin.xyz, joint.origin.rpy)
        inertia = link_inertia(description.links[joint.child].inertial)
        builder.add_link(joint.child, joint.parent, placement, _joint_type(joint), inertia)
    return builder.build()


def _joint_type(joint: Joint) -> JointType:
    if not joint.moves:
        return FIXED
    if joint.type == 'floating':
        return floating(joint.name)
    if joint.type == 'planar':
        return planar(joint.name, joint.axis)
    coordinate = Coordinate(joint.name)
    if joint.mimic is not None:
        coordinate = Coordinate(joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset)
    one_axis = prismatic if joint.type == 'prismatic' else revolute
    return one_axis(coordinate, joint.axis)


def link_inertia(inertial: Inertial | None) -> RigidBodyInertia:
    """Return the inertia of a link about the origin of its frame; None has no mass."""
    if inertial is None:
        return RigidBodyInertia.zero()
    placement = Placement.from_xyz_rpy(inertial.origin.xyz, inertial.origin.rpy)
    return RigidBodyInertia(inertial.mass, np.zeros(3), inertial.matrix).transformed(placement)
