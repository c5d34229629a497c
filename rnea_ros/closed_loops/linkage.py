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

_SHORTEST_STEP = 1.0 / 4096
"""Part of the way to the new positions."""
_LONGEST_STEP = 1.0
"""Of a joint, rad or m."""
_NEARBY = 0.01
"""Distance of a second configuration that tells a singular first one from a wrong choice."""


class Linkage:
    """
    A robot with closed loops and actuated joints; arguments are not checked.

    :param constraints: the loops
    :param actuated: names of the actuated joints
    """

    def __init__(self, constraints: LoopConstraints, actuated: Sequence[str]) -> None:
        self.constraints = constraints
        self.model = constraints.model
        self._names = actuated
        self.at = np.array([self.model.position_indices(n).start for n in actuated], np.intp)
        self._actuated = np.array(
            [self.model.velocity_indices(n).start for n in actuated], np.intp
        )
        self._dependent = np.setdiff1d(np.arange(self.model.nv), self._actuated)

    def solve(self, q: Array) -> tuple[Array, Array]:
        """
        Return G and the pseudo-inverse K_d^+ of the dependent joints' columns of K.

        :param q: closed joint positions, shape (nq,)
        :return: shapes (nv, m) and (nv - m, c)
        :raises SingularityError: the actuated joints do not determine the motion at q
        """
        K = self.constraints.matrix(q)
        K_d, K_u = K[:, self._dependent], K[:, self._actuated]
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
        G = np.zeros((self.model.nv, len(self._actuated)))
        G[self._actuated, np.arange(len(self._actuated))] = 1.0
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
        Return the positions after the actuated joints moved to y in a straight line.

        :param q: closed joint positions, shape (nq,)
        :param y: positions of the actuated joints, shape (m,)
        :raises LoopClosureError: the loops cannot be closed at y, or on the way there
        :raises SingularityError: the actuated joints do not determine the motion at q or y
        """
        start, done, step = q[self.at].copy(), 0.0, 1.0
        self.solve(q)
        while done < 1.0:
            step = min(step, 1.0 - done)
            end = done + step
            moved = self._moved(q, y if end == 1.0 else start + end * (y - start))
            if moved is not None:
                q, done, step = moved, end, 2.0 * step
                continue
            step *= 0.5
            if step < _SHORTEST_STEP:
                raise LoopClosureError(
                    f'actuated joints {", ".join(self._names)}',
                    f'cannot move from {start.tolist()} to {y.tolist()} with closed loops: the '
                    f'linkage ends or is singular near {q[self.at].tolist()}; choose positions '
                    'within reach, or a guess nearer to them',
                )
        self.solve(q)
        return q

    def _moved(self, q: Array, y: Array) -> Array | None:
        """Return the closed positions at y near closed positions q; None if y is too far."""
        try:
            step = self.solve(q)[0] @ (y - q[self.at])
        except SingularityError:
            return None
        if not np.abs(step).max() <= _LONGEST_STEP:
            return None
        predicted = self.model.integrate(q, step, 1.0)
        predicted[self.at] = y
        closed = self.constraints.close(predicted, self._dependent)
        if not (np.abs(self.constraints.error(closed)) <= TOLERANCE).all():
            return None
        # K_d is singular between two assembly modes: its determinant changes sign.
        K_d, K_d_closed = (
            self.constraints.matrix(at)[:, self._dependent] for at in (q, closed)
        )
        U, _, Vt = np.linalg.svd(K_d, full_matrices=False)
        return closed if np.linalg.slogdet(U.T @ K_d_closed @ Vt.T)[0] > 0.0 else None

    def check_choice(self, q: Array) -> None:
        """
        Raise an error unless the actuated joints determine the motion of all joints.

        :param q: closed joint positions, shape (nq,)
        :raises InputError: too many or too few actuated joints, or a wrong choice
        :raises SingularityError: only the configuration q is singular
        """
        # A singular configuration has more freedom than those near it.
        nv = self.model.nv
        random = np.random.default_rng(0).uniform(-_NEARBY, _NEARBY, nv)
        nearby = self.constraints.close(self.model.integrate(q, random, 1.0), np.arange(nv))
        freedom = nv - rank(self.constraints.matrix(nearby))
        if len(self._names) != freedom:
            degrees = 'degree' if freedom == 1 else 'degrees'
            raise InputError(
                'actuated_joints',
                f'{brief(list(self._names))} are {len(self._names)}, but the linkage has '
                f'{freedom} {degrees} of freedom: choose {freedom} of '
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
