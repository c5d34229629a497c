# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Kinematics and dynamics of a robot with closed loops, in the coordinates of its motors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, finite_result, finite_result_required, finite_vector
from ..errors import InputError, SingularityError, brief
from ..robot import ExternalWrenches, RobotModel
from .linkage import Linkage
from .loop_joint import LoopJoint

_MIN_INERTIA_RATIO = 1e-13  # least nonzero eigenvalue of a mass matrix scaled to a unit diagonal


class ClosedLoopModel:
    """
    Dynamics of a robot whose URDF is the spanning tree of a linkage.

    The actuated joints are the independent coordinates y of the linkage; all other joints depend
    on them. Their velocities yd, accelerations ydd and efforts tau have the shape (m,) too, in the
    order of the m :attr:`actuated_joints`; q, shape (nq,), qd and qdd, shape (nv,), belong to all
    joints of the model. An argument q must close the loops: compute it by :meth:`positions`. Units
    and ``external_wrenches`` are as for :class:`.RobotModel`. A model is immutable.

    Notation of R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008, chapter 8.

    :param actuated_joints: names of the joints with motors, one axis each, as many as the linkage
        has degrees of freedom
    :param guess: joint positions near a closed configuration, shape (nq,); by default zeros. They
        select one of the assembly modes of the linkage
    :raises InputError: too many or too few actuated joints, or joints that do not determine the
        motion
    :raises LoopClosureError: no closed configuration was found near the guess
    :raises SingularityError: the closed configuration near the guess is singular
    """

    def __init__(
        self, model: RobotModel, loop_joints: Sequence[LoopJoint], actuated_joints: Sequence[str],
        guess: ArrayLike | None = None,
    ) -> None:
        if not isinstance(model, RobotModel):
            raise InputError('model', f'expected a RobotModel, got {brief(model)}')
        self.model: Final = model
        """The robot without the loop joints."""
        self.loop_joints: Final = _checked_loop_joints(loop_joints)
        """The joints that close the loops."""
        self.actuated_joints: Final = _checked_names(model, actuated_joints)
        """The joints with motors, in the order of y, yd, ydd and tau."""
        q = model.neutral_position if guess is None else self._positions('guess', guess)
        self._linkage = Linkage(model, self.loop_joints, self.actuated_joints, q)
        q = self._linkage.close(q, np.arange(model.nv))
        self._linkage.require_closed(
            q, 'found no closed configuration near the guess; choose another guess, or check '
            'placements and lengths',
        )
        self._linkage.check_actuated_joints(q)
        q.setflags(write=False)
        self.reference: Final = q
        """The closed configuration near the guess, shape (nq,), rad or m; read-only."""

    def positions(self, y: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """
        Return the positions of all joints, q, for positions of the actuated joints.

        The result has the assembly mode of the guess: the actuated joints move from the guess to y
        in a straight line, and the other joints follow without a jump.

        :param guess: positions of all joints near the result, shape (nq,), such as the last
            result; by default :attr:`reference`
        :raises LoopClosureError: the loops cannot be closed at y or on the way there, or a
            configuration on the way is singular
        :raises SingularityError: the actuated joints do not determine the motion at the guess or y
        """
        target = self._vector('y', y)
        q = self.reference
        if guess is not None:
            q = self._positions('guess', guess)
            q = self._linkage.close(q, np.arange(self.model.nv))
            self._linkage.require_closed(q, 'choose another guess')
        return self._linkage.follow(q, target)

    @finite_result_required
    def motion_matrix(self, q: ArrayLike) -> Array:
        """
        Return G, shape (nv, m): the velocities of all joints are qd = G yd.

        :raises LoopClosureError: a loop is open at q
        :raises SingularityError: the actuated joints do not determine the motion at q
        """
        return self._linkage.solve(self._closed(q))[0]

    @finite_result_required
    def velocities(self, q: ArrayLike, yd: ArrayLike) -> Array:
        """Return the velocities of all joints, qd = G yd, shape (nv,)."""
        return self.motion_matrix(q) @ self._vector('yd', yd)

    @finite_result_required
    def accelerations(self, q: ArrayLike, yd: ArrayLike, ydd: ArrayLike) -> Array:
        """Return the accelerations of all joints, qdd = G ydd + g(q, yd), shape (nv,)."""
        return self._motion(self._closed(q), yd, ydd)[2]

    @finite_result_required
    def inverse_dynamics(
        self, q: ArrayLike, yd: ArrayLike, ydd: ArrayLike,
        external_wrenches: ExternalWrenches | None = None,
    ) -> Array:
        """Return the efforts of the actuated joints for a motion, shape (m,), N m or N."""
        closed = self._closed(q)
        G, qd, qdd = self._motion(closed, yd, ydd)
        # G_u^T tau = G^T ID(q, qd, qdd), with the inverse dynamics ID of the tree (section 8.12).
        # y are the positions of the actuated joints, so G_u is the identity matrix.
        return G.T @ self.model.inverse_dynamics(closed, qd, qdd, external_wrenches)

    @finite_result_required
    def forward_dynamics(
        self, q: ArrayLike, yd: ArrayLike, tau: ArrayLike,
        external_wrenches: ExternalWrenches | None = None,
    ) -> Array:
        """
        Return the accelerations of the actuated joints, ydd, shape (m,).

        :meth:`accelerations` returns the accelerations of all joints for this ydd.

        :raises SingularityError: a motion of the linkage moves no inertia
        """
        efforts = self._vector('tau', tau)
        closed = self._closed(q)
        G, qd, g = self._motion(closed, yd, np.zeros_like(efforts))
        # (G^T M G) ydd = tau - G^T ID(q, G yd, g)
        bias = G.T @ self.model.inverse_dynamics(closed, qd, g, external_wrenches)
        M = G.T @ self.model.mass_matrix(closed) @ G
        scale = np.sqrt(np.maximum(np.diagonal(M), np.finfo(np.float64).tiny))
        least = np.linalg.eigvalsh(M / np.outer(scale, scale)).min(initial=1.0)
        if not least > _MIN_INERTIA_RATIO:
            raise SingularityError(
                f'linkage with the actuated joints {", ".join(self.actuated_joints)}',
                'has a motion without inertia to accelerate',
            )
        return np.asarray(np.linalg.solve(M, efforts - bias), dtype=np.float64)

    @finite_result_required
    def gravity_torques(self, q: ArrayLike) -> Array:
        """Return the efforts that hold the linkage still on a base at rest, shape (m,)."""
        closed = self._closed(q)
        G, _ = self._linkage.solve(closed)
        return G.T @ self.model.gravity_torques(closed)

    @finite_result_required
    def mass_matrix(self, q: ArrayLike) -> Array:
        """Return the mass matrix of the actuated coordinates, G^T M G, shape (m, m)."""
        closed = self._closed(q)
        G, _ = self._linkage.solve(closed)
        return G.T @ self.model.mass_matrix(closed) @ G

    def _motion(self, q: Array, yd: ArrayLike, ydd: ArrayLike) -> tuple[Array, Array, Array]:
        """Return G, qd and qdd at closed positions."""
        yd, ydd = self._vector('yd', yd), self._vector('ydd', ydd)
        G, inverse = self._linkage.solve(q)
        qd = finite_result(G @ yd)
        return G, qd, finite_result(G @ ydd + self._linkage.bias(q, qd, inverse))

    def _closed(self, q: ArrayLike) -> Array:
        closed = self._positions('q', q)
        self._linkage.require_closed(closed, 'compute q by positions()')
        return closed

    def _positions(self, argument: str, q: ArrayLike) -> Array:
        """Return joint positions, checked; quaternions are scaled to unit length."""
        checked = finite_vector(argument, q, self.model.nq)
        return self.model.integrate(checked, np.zeros(self.model.nv), 0.0)

    def _vector(self, argument: str, values: ArrayLike) -> Array:
        return finite_vector(argument, values, len(self.actuated_joints))


def _checked_loop_joints(joints: Sequence[LoopJoint]) -> tuple[LoopJoint, ...]:
    given = tuple(joints) if isinstance(joints, list | tuple) else ()
    if not given or not all(isinstance(joint, LoopJoint) for joint in given):
        reason = f'expected a list of LoopJoint, at least one, got {brief(joints)}'
        raise InputError('loop_joints', reason)
    names = [joint.name for joint in given]
    if len(set(names)) < len(names):
        raise InputError('loop_joints', f'two have the same name: {brief(names)}')
    return given


def _checked_names(model: RobotModel, joints: Sequence[str]) -> tuple[str, ...]:
    """Return the names of actuated joints; each joint has one axis."""
    if not isinstance(joints, list | tuple):
        raise InputError('actuated_joints', f'expected a list of names, got {brief(joints)}')
    for name in joints:
        positions, velocities = model.position_indices(name), model.velocity_indices(name)
        if not positions.stop - positions.start == velocities.stop - velocities.start == 1:
            raise InputError('actuated_joints', f'{name!r} has more than one axis')
    if len(set(joints)) < len(joints):
        raise InputError('actuated_joints', f'{brief(joints)} names a joint twice')
    return tuple(joints)
