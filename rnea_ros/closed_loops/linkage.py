# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Motion of a linkage: all joints follow the actuated ones, qd = G yd and qdd = G ydd + g.

The constraints of all loops are K qd = 0 and K qdd = k. Notation of R. Featherstone, *Rigid Body
Dynamics Algorithms*, 2008, chapter 8. Planar loops are overconstrained in space, so K has more
rows than its rank; singular values decide.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Array, Indices
from ..errors import InputError, LoopClosureError, SingularityError, brief
from ..robot import RobotModel
from .loop_joint import LoopConstraint, LoopJoint

TOLERANCE = 1e-5
"""
Largest gap of a closed loop, rad or parts of its longest lever, and the ratio of singular values
below which a constraint is redundant. URDF files have angles such as 1.5708.
"""

_MAX_ITERATIONS = 100
_ROUNDING = 1e-13
_MIN_STEP = 1.0 / 4096  # fraction of the way to the new positions of the actuated joints
_MAX_STEP = 1.0  # of the position of one joint, rad or m
_MAX_CORRECTION = 0.25  # of the linear prediction, as a fraction of the step
_NEARBY = (1e-2, 1e-3, 1e-4)  # displacements, rad or m, in the search for a regular configuration


class Linkage:
    """
    A robot with closed loops and actuated joints; arguments are not checked.

    The constraint matrix K has one row for each of c constraints: K qd = 0 and K qdd = k. K_d and
    K_u are the columns of the dependent and the actuated joints. Positions ``q``, shape (nq,), are
    near a closed configuration.
    """

    def __init__(
        self, model: RobotModel, joints: Sequence[LoopJoint], actuated: Sequence[str], q: Array
    ) -> None:
        self.model = model
        self._loops = [LoopConstraint(model, joint, q) for joint in joints]
        self._names = actuated
        # Indices of the actuated joints in q and in qd, and of the dependent ones in qd
        self._in_q, self._in_qd = (
            np.array([indices(name).start for name in actuated], np.intp)
            for indices in (self.model.position_indices, self.model.velocity_indices)
        )
        self._dependent = np.setdiff1d(np.arange(self.model.nv), self._in_qd)

    def error(self, q: Array) -> Array:
        """Return the gaps of all loops, scaled, shape (c,)."""
        return np.concatenate([loop.error(q) for loop in self._loops])

    def matrix(self, q: Array) -> Array:
        """Return K, scaled, shape (c, nv)."""
        return np.concatenate([loop.matrix(q) for loop in self._loops])

    def is_closed(self, q: Array) -> bool:
        """Return whether the gaps of all loops are within the tolerance."""
        return bool((np.abs(self.error(q)) <= TOLERANCE).all())

    def require_closed(self, q: Array, remedy: str) -> None:
        """Raise an error that names the loop with the widest gap and a remedy, if one is open."""
        if not self.is_closed(q):
            widest = max(self._loops, key=lambda loop: float(np.abs(loop.error(q)).max()))
            gap, angle = widest.gap(q)
            raise LoopClosureError(
                f'loop joint {widest.joint.name!r}',
                f'is open by {gap:.3g} m and {angle:.3g} rad: {remedy}',
            )

    def close(self, q: Array, coordinates: Indices) -> Array:
        """
        Return closed positions near a guess by Newton's method, or open ones if it finds none.

        Only the velocity coordinates with given indices move.
        """
        gaps = self.error(q)
        for _ in range(_MAX_ITERATIONS):
            step = np.zeros(self.model.nv)
            step[coordinates] = -np.linalg.pinv(self.matrix(q)[:, coordinates], TOLERANCE) @ gaps
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

    def solve(self, q: Array) -> tuple[Array, Array]:
        """
        Return G, shape (nv, m), and K_d^+, the pseudo-inverse of K_d, shape (nv - m, c).

        A SingularityError is raised if the actuated joints do not determine the motion at q.
        """
        K = self.matrix(q)
        K_d, K_u = K[:, self._dependent], K[:, self._in_qd]
        U, values, Vt = np.linalg.svd(K_d, full_matrices=False)
        count = len(self._dependent)
        if count and not (len(K) >= count and values[-1] > TOLERANCE * np.linalg.norm(K, 2)):
            whole_Vt = np.linalg.svd(K_d)[2]
            coordinate = int(self._dependent[np.argmax(np.abs(whole_Vt[-1]))])
            joint = next(
                name
                for name in self.model.joint_names
                if coordinate < self.model.velocity_indices(name).stop
            )
            raise SingularityError(
                f'joint {joint!r}',
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
        """Return g, the accelerations of all joints at ydd = 0, shape (nv,), with K_d^+ at q."""
        # K qdd = k: K_d qdd_d = k - K_u ydd
        g = np.zeros(self.model.nv)
        g[self._dependent] = -inverse @ np.concatenate([loop.bias(q, qd) for loop in self._loops])
        return g

    def follow(self, q: Array, y: Array) -> Array:
        """
        Return the positions of all joints after the actuated ones moved to y in a straight line.

        Loops that cannot be closed at y, or a singularity on the way, raise a LoopClosureError;
        singular ends raise a SingularityError.
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
        closed = self.close(predicted, self._dependent)
        if not self.is_closed(closed):
            return None
        # Where the correction is small, no loop has changed to another assembly mode.
        correction = np.abs(self.model.difference(predicted, closed)).max()
        if correction > _MAX_CORRECTION * np.abs(step).max() + TOLERANCE:
            return None
        # All eigenvalues of K_d^+(q) K_d are 1 at q. Between two assembly modes of a loop K_d is
        # singular: one of them passes zero.
        K_d = self.matrix(closed)[:, self._dependent]
        return closed if (np.linalg.eigvals(inverse @ K_d).real > 0.0).all() else None

    def check_actuated_joints(self, q: Array) -> None:
        """Raise an InputError for wrong actuated joints, a SingularityError for a singular q."""
        # A singular configuration has more instantaneous degrees of freedom than those near it:
        # count them at a configuration nearby.
        nv = self.model.nv
        random = np.random.default_rng(0).uniform(-1.0, 1.0, nv)
        displaced = (
            self.close(self.model.integrate(q, random, size), np.arange(nv))
            for size in _NEARBY
        )
        nearby = next((each for each in displaced if self.is_closed(each)), q)
        values = np.linalg.svd(self.matrix(nearby), compute_uv=False)
        degrees_of_freedom = nv - int((values > TOLERANCE * values.max(initial=0.0)).sum())
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
