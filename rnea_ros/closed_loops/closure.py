# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The constraints of all loops, K qd = 0 and K qdd = k, and positions that close them.

Notation of R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008, chapter 8. Planar loops are
overconstrained in space, so K has more rows than its rank; singular values decide.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Array, Indices
from ..errors import LoopClosureError
from ..robot import RobotModel
from .loop_joint import LoopConstraint, LoopJoint

TOLERANCE = 1e-5
"""
Largest gap of a closed loop, rad or parts of its longest lever, and the ratio of singular values
below which a constraint is redundant. URDF files have angles such as 1.5708.
"""

_MAX_ITERATIONS = 100
_ROUNDING = 1e-13


class LoopConstraints:
    """
    The constraints of several loop joints.

    Rows of displacements are divided by the longest lever of their loop, so that all rows are
    comparable to angles.

    :param model: the robot without the loop joints
    :param joints: the loop joints
    :param q: joint positions near a closed configuration, checked, shape (nq,)
    """

    def __init__(self, model: RobotModel, joints: Sequence[LoopJoint], q: Array) -> None:
        self.model = model
        self._loops = [LoopConstraint(model, joint) for joint in joints]
        self._scales = np.concatenate([
            np.where(loop.angular_rows(), 1.0, 1.0 / loop.lever(q)) for loop in self._loops
        ])

    def error(self, q: Array) -> Array:
        """Return the gaps of all loops, scaled, shape (c,)."""
        return np.asarray(self._scales * np.concatenate([loop.error(q) for loop in self._loops]))

    def matrix(self, q: Array) -> Array:
        """Return K, scaled, shape (c, nv)."""
        rows = np.concatenate([loop.matrix(q) for loop in self._loops])
        return np.asarray(self._scales[:, np.newaxis] * rows)

    def right_hand_side(self, q: Array, qd: Array) -> Array:
        """Return k = -Kdot qd, scaled, shape (c,)."""
        bias = np.concatenate([loop.bias(q, qd) for loop in self._loops])
        return np.asarray(-self._scales * bias)

    def is_closed(self, q: Array) -> bool:
        """Return whether the gaps of all loops are within the tolerance."""
        return bool((np.abs(self.error(q)) <= TOLERANCE).all())

    def require_closed(self, q: Array, remedy: str) -> None:
        """
        Raise an error that names the loop joint with the widest gap, if it is not closed.

        :param q: joint positions, shape (nq,)
        :param remedy: end of the error's text
        :raises LoopClosureError: a loop is open
        """
        gaps = [loop.error(q) for loop in self._loops]
        if not self.is_closed(q):
            scaled = np.abs(self.error(q))
            ends = np.cumsum([len(gap) for gap in gaps])
            widest = int(np.searchsorted(ends, np.argmax(scaled), side='right'))
            loop, angular = self._loops[widest], self._loops[widest].angular_rows()
            angle, gap = (
                float(np.linalg.norm(gaps[widest][np.equal(angular, kind)]))
                for kind in (True, False)
            )
            raise LoopClosureError(
                f'loop joint {loop.joint.name!r}',
                f'is open by {gap:.3g} m and {angle:.3g} rad: {remedy}',
            )

    def close(self, q: Array, coordinates: Indices) -> Array:
        """
        Return positions near a guess that close the loops, by Newton's method.

        The result may be open, if the method finds no closed positions.

        :param q: joint positions to start from, shape (nq,)
        :param coordinates: indices of the velocity coordinates that may move
        """
        gaps = self.error(q)
        for _ in range(_MAX_ITERATIONS):
            step = np.zeros(self.model.nv)
            step[coordinates] = -pseudo_inverse(self.matrix(q)[:, coordinates]) @ gaps
            if np.abs(step).max() < _ROUNDING:
                break
            scale = 1.0
            moved, moved_gaps = q, gaps
            # Half the step, until the gaps become smaller.
            while scale > 1e-6:
                moved = self.model.integrate(q, step, scale)
                moved_gaps = self.error(moved)
                if np.linalg.norm(moved_gaps) < np.linalg.norm(gaps):
                    break
                scale *= 0.5
            else:
                break
            q, gaps = moved, moved_gaps
        return q


def pseudo_inverse(K: Array) -> Array:
    """
    Return K^+, in which singular values below the tolerance count as zero.

    :param K: constraints, scaled, shape (c, n)
    """
    return np.asarray(np.linalg.pinv(K, rcond=TOLERANCE), dtype=np.float64)


def rank(K: Array) -> int:
    """
    Return the number of independent constraints.

    :param K: constraints, scaled, shape (c, n)
    """
    values = np.linalg.svd(K, compute_uv=False)
    return int(np.count_nonzero(values > TOLERANCE * values.max(initial=0.0)))
