# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The kinds of joint, and what each contributes to the recursion (Featherstone's *jcalc*, table 4.1).

When a tree is built, every body frame is turned so that its joint's axis is the body's own z axis.
A joint is then one number, and there are two kinds: a rotation about z and a translation along z.
Their motion subspace S is constant in body coordinates, so c_J = S' qd (eq. 3.43) vanishes.
"""

from __future__ import annotations

import enum
import math

from .compiled import compiled
from .spatial import Matrix3, SpatialVector, Vector3, add3, rotate_back, scale3


class JointKind(enum.IntEnum):
    """What a joint's coordinate does to the child body, about or along the body's z axis."""

    REVOLUTE = 0
    PRISMATIC = 1


REVOLUTE = int(JointKind.REVOLUTE)


@compiled
def joint_transform(
    kind: int, q: float, E_T: Matrix3, r_T: Vector3
) -> tuple[Matrix3, Vector3]:
    """Return X_up = X_J(q) X_T, parent to body coordinates, as (E, r)."""
    if kind == REVOLUTE:
        c = math.cos(q)
        s = math.sin(q)
        x, y, z = E_T
        E = (add3(scale3(c, x), scale3(s, y)), add3(scale3(c, y), scale3(-s, x)), z)
        return (E, r_T)
    return (E_T, add3(r_T, rotate_back(E_T, (0.0, 0.0, q))))


@compiled
def joint_motion(kind: int, rate: float) -> SpatialVector:
    """Return S rate: the joint's motion vector for a velocity or an acceleration."""
    if kind == REVOLUTE:
        return ((0.0, 0.0, rate), (0.0, 0.0, 0.0))
    return ((0.0, 0.0, 0.0), (0.0, 0.0, rate))


@compiled
def joint_effort(kind: int, f: SpatialVector) -> float:
    """Return S^T f: the generalised force that the joint carries."""
    if kind == REVOLUTE:
        return f[0][2]
    return f[1][2]
