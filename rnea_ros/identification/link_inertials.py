# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Inertial parameters of moving bodies to the mass properties of links in a URDF.

A body is a link behind a moving joint and all links at fixed joints behind it. Its parameters are
divided among these links so that each mass counts once.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..dynamics.kernels import PARAMETERS
from ..dynamics.tree import Placement, RigidBodyInertia
from ..errors import UrdfError
from ..robot import RobotModel, link_inertia
from ..urdf import Inertial, Origin, RobotDescription, rounded

SAME = 1e-9  # relative difference below which parameters are those of the URDF: rounding errors


def link_inertials(
    prior: RobotModel, parameters: Array
) -> tuple[dict[str, Inertial | None], tuple[str, ...]]:
    """
    Return the mass properties of the links that differ from the URDF, and notes.

    Links at fixed joints keep theirs, and the link that carries them has the rest of the body, if
    that is physical. Otherwise it has all, and they have none (None).
    """
    description = prior.description
    if description is None:
        raise UrdfError(f'robot {prior.name!r}', 'has no URDF to write into')
    changed: dict[str, Inertial | None] = {}
    notes = []
    bodies = zip(
        prior.body_names, prior.inertial_parameters.reshape(-1, len(PARAMETERS)),
        np.asarray(parameters).reshape(-1, len(PARAMETERS)), strict=True
    )
    for name, before, after in bodies:
        if np.abs(after - before).max() > SAME * np.abs(before).max():
            link_changes, note = _divided(prior, description, name, after)
            changed.update(link_changes)
            notes += [note] if note else []
    return changed, tuple(notes)


def _divided(
    prior: RobotModel, description: RobotDescription, body: str, parameters: Array
) -> tuple[dict[str, Inertial | None], str]:
    """Return the mass properties of a body's links that change, and a note."""
    frames = prior.tree.frames
    to_body = frames[body].placement.inverse()
    placements = {
        link: to_body @ frame.placement
        for link, frame in frames.items()
        if frame.body == frames[body].body and link in description.links
    }
    inertias = {
        link: link_inertia(description.links[link].inertial).transformed(placement)
        for link, placement in placements.items()
    }
    own = {link: each for link, each in inertias.items() if each.mass > 0.0 or each.J.any()}
    # Some descriptions have a frame without mass at the joint, and the body fixed to it.
    carrier = body if body in own or not own else max(own, key=lambda link: own[link].mass)
    others = [link for link in own if link != carrier]
    whole = rest = RigidBodyInertia.from_parameters(parameters)
    for link in others:
        rest -= own[link]
    old = description.links[carrier].inertial
    axes = Origin() if old is None else old.origin
    inverse = placements[carrier].inverse()
    everything = _inertial(whole.transformed(inverse), axes)
    if not others:
        return {carrier: everything}, ''
    listed, verb = ', '.join(others), 'stay' if len(others) > 1 else 'stays'
    if rest.mass > 0.0:
        inertial = _inertial(rest.transformed(inverse), axes)
        if _is_physical(inertial):
            note = f'{carrier} has the change of its body; {listed}, fixed to it, {verb} as before'
            return {carrier: inertial}, note
    removed: dict[str, Inertial | None] = dict.fromkeys(others)
    note = (
        f'{carrier} has the whole mass of its body; the inertial of {listed}, fixed to it, is '
        'removed because it does not fit into the identified body'
    )
    return {**removed, carrier: everything}, note


def _inertial(inertia: RigidBodyInertia, axes: Origin) -> Inertial:
    """Return an inertia about a link's origin as it is written, with the rpy of ``axes``."""
    R = Placement.from_xyz_rpy((0.0, 0.0, 0.0), axes.rpy).rotation
    J = R.T @ inertia.J_com @ R
    x, y, z = inertia.com.tolist()
    ixx, ixy, ixz, iyy, iyz, izz = J[np.triu_indices(3)].tolist()
    return rounded(
        Inertial(Origin((x, y, z), axes.rpy), inertia.mass, (ixx, ixy, ixz, iyy, iyz, izz))
    )


def _is_physical(inertial: Inertial) -> bool:
    """Return whether mass and pseudo-inertia are positive, so that a body can have them."""
    J = inertial.matrix
    spread = 0.5 * np.trace(J) * np.eye(3) - J
    return inertial.mass > 0.0 and bool(np.linalg.eigvalsh(spread)[0] > 0.0)
