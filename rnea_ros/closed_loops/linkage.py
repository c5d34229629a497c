# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Motion of a linkage: all joints follow the actuated ones, qd = G yd and qdd = G ydd + g."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Array
from ..errors import InputError, LoopClosureError, SingularityError, brief
from ..robot import RobotModel
from .closure import TOLERANCE, LoopConstraints, rank

_MIN_STEP = 1.0 / 4096
"""Fraction of the way to the new positions of the actuated joints."""
_MAX_STEP = 1.0
"""Change of the position of one joint, rad or m."""
_MAX_CORRECTION = 0.25
"""Distance of the closed positions from the linear prediction, as a fraction of the step."""
_NEARBY = (1e-2, 1e-3, 1e-4)
"""Displacements of all joints, rad or m, in the search for a regular configuration."""


class Linkage:
    """
    A robot with closed loops and actuated joints; arguments are not checked.

    The constraint matrix K has one row for each of c constraints: K qd = 0 and K qdd = k. K_d and
    K_u are the columns of the dependent and the actuated joints.

    :param constraints: the loops
    :param actuated: names of the actuated joints
    """

    def __init__(self, constraints: LoopConstraints, actuated: Sequence[str]) -> None:
        self.constraints = constraints
        self.model = constraints.model
        self._names = actuated
        # Indices of the actuated joints in q and in qd, and of the dependent ones in qd
        self._in_q, self._in_qd = (
            np.array([indices(name).start for name in actuated], np.intp)
            for indices in (self.model.position_indices, self.model.velocity_indices)
        )
        self._dependent = np.setdiff1d(np.arange(self.model.nv), self._in_qd)

    def solve(self, q: Array) -> tuple[Array, Array]:
        """
        Return G and K_d^+, the pseudo-inverse of K_d.

        :param q: closed joint positions, shape (nq,)
        :return: shapes (nv, m) and (nv - m, c)
        :raises SingularityError: the actuated joints do not determine the motion at q
        """
        K = self.constraints.matrix(q)
        K_d, K_u = K[:, self._dependent], K[:, self._in_qd]
        U, values, Vt = np.linalg.svd(K_d, full_matrices=False)
        count = len(self._dependent)
        if count and not (len(K) >= count and values[-1] > TOLERANCE * np.linalg.norm(K, 2)):
            whole_Vt = np.linalg.svd(K_d)[2]
            coordinate = int(self._dependent[np.argmax(np.abs(whole_Vt[-1]))])
            raise SingularityError(
                f'joint {_joint_of(self.model, coordinate)!r}',
                f'can move while the actuated joints {", ".join(self._names)} stand still: '
                f'a singular configuration at q = {q.tolist()}',
            )
        inverse = (Vt.T / values) @ U.T
        G = np.zeros((self.model.nv, len(self._in_qd)))
        G[self._in_qd, np.arange(len(self._in_qd))] = 1.0
        # K qd = 0: K_d qd_d = -K_u yd
        G[self._dependent] = -inverse @ K_u
        return G, inverse

    def bias(self, q: Array, qd: Array, inverse: Array) -> Array:
        """
        Return g, the accelerations of all joints at ydd = 0, shape (nv,).

        :param q: closed joint positions, shape (nq,)
        :param qd: joint velocities, shape (nv,)
        :param inverse: K_d^+ at q
        """
        # K qdd = k: K_d qdd_d = k - K_u ydd
        g = np.zeros(self.model.nv)
        g[self._dependent] = inverse @ self.constraints.right_hand_side(q, qd)
        return g

    def follow(self, q: Array, y: Array) -> Array:
        """
        Return the positions of all joints after the actuated ones moved to y in a straight line.

        :param q: closed joint positions, shape (nq,)
        :param y: positions of the actuated joints, shape (m,)
        :raises LoopClosureError: the loops cannot be closed at y or on the way there, or a
            configuration on the way is singular
        :raises SingularityError: the actuated joints do not determine the motion at q or y
        """
        start, done, step = q[self._in_q].copy(), 0.0, 1.0
        self.solve(q)
        while done < 1.0:
            step = min(step, 1.0 - done)
            end = done + step
            moved = self._step_to(q, y if end == 1.0 else start + end * (y - start))
            if moved is not None:
                q, done, step = moved, end, 2.0 * step
                continue
            step *= 0.5
            if step < _MIN_STEP:
                raise LoopClosureError(
                    f'actuated joints {", ".join(self._names)}',
                    f'cannot move from {start.tolist()} to {y.tolist()} with closed loops: the '
                    f'linkage is at the end of its reach or singular near '
                    f'{q[self._in_q].tolist()}; choose positions within reach, or a guess nearer '
                    'to them',
                )
        self.solve(q)
        return q

    def _step_to(self, q: Array, y: Array) -> Array | None:
        """Return closed positions at y near closed positions q; None if y is too far from q."""
        try:
            G, inverse = self.solve(q)
        except SingularityError:
            return None
        step = G @ (y - q[self._in_q])
        if not np.abs(step).max() <= _MAX_STEP:
            return None
        predicted = self.model.integrate(q, step, 1.0)
        predicted[self._in_q] = y
        closed = self.constraints.close(predicted, self._dependent)
        if not self.constraints.is_closed(closed):
            return None
        # Where the correction is small, no loop has changed to another assembly mode.
        correction = np.abs(self.model.difference(predicted, closed)).max()
        if correction > _MAX_CORRECTION * np.abs(step).max() + TOLERANCE:
            return None
        # All eigenvalues of K_d^+(q) K_d are 1 at q. Between two assembly modes of a loop K_d is
        # singular: one of them passes zero.
        K_d = self.constraints.matrix(closed)[:, self._dependent]
        return closed if (np.linalg.eigvals(inverse @ K_d).real > 0.0).all() else None

    def check_actuated_joints(self, q: Array) -> None:
        """
        Raise an error unless the actuated joints determine the motion of all joints.

        :param q: closed joint positions, shape (nq,)
        :raises InputError: too many or too few actuated joints, or a wrong choice
        :raises SingularityError: only the configuration q is singular
        """
        # A singular configuration has more instantaneous degrees of freedom than those near it:
        # count them at a configuration nearby.
        nv = self.model.nv
        random = np.random.default_rng(0).uniform(-1.0, 1.0, nv)
        displaced = (
            self.constraints.close(self.model.integrate(q, random, size), np.arange(nv))
            for size in _NEARBY
        )
        nearby = next((each for each in displaced if self.constraints.is_closed(each)), q)
        degrees_of_freedom = nv - rank(self.constraints.matrix(nearby))
        if len(self._names) != degrees_of_freedom:
            degrees = 'degree' if degrees_of_freedom == 1 else 'degrees'
            raise InputError(
                'actuated_joints',
                f'{brief(list(self._names))} are {len(self._names)}, but the linkage has '
                f'{degrees_of_freedom} {degrees} of freedom: choose {degrees_of_freedom} of '
                f'{", ".join(self.model.joint_names)}',
            )
        try:
            self.solve(nearby)
        except SingularityError as error:
            raise InputError('actuated_joints', f'are a wrong choice: {error}') from error
        self.solve(q)


def _joint_of(model: RobotModel, coordinate: int) -> str:
    names = model.joint_names
    return next(name for name in names if coordinate < model.velocity_indices(name).stop)
