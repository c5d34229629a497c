# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Forces and accelerations: inverse and forward dynamics, and what equations of motion hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import finite_result, finite_vector, overflow_refused
from ..dynamics import Workspace
from ..dynamics.kernels import BASE, checked_kernels, kinematics
from ..errors import InputError, SingularityError
from .kinematics import Kinematics
from .names import Array
from .wrench import Wrench

ExternalWrenches: TypeAlias = Mapping[str, Wrench | Sequence[Wrench]]

# A contiguous float64 array comes back from this as the same object, in 35 ns. Of what a kernel
# takes for granted, its one dimension is left to look at.
ready = np.ascontiguousarray
FLOAT = np.dtype(np.float64)
NO_INERTIA = 'has no inertia to accelerate'
ComplexWarning = getattr(np, 'exceptions', np).ComplexWarning  # numpy 1.24 has no exceptions
NOT_READY = (TypeError, ValueError, ComplexWarning)


class Dynamics(Kinematics):
    """
    The equation of motion, tau = M(q) qdd + C(q, qd) qd + g(q) - J^T f_ext, and its parts.

    Where a method has a fast way for arrays that are right already, the kernel itself tells
    whether their lengths and numbers were; all else takes the slow way, which knows what to say.
    """

    def workspace(self) -> Workspace:
        """Return memory of its own for a control loop: no checks, no allocation, one thread."""
        return self._new_workspace(self._gravity)

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        external_wrenches: ExternalWrenches | None = None,
    ) -> Array:
        """
        Return the efforts that a motion needs: tau = M(q) qdd + C(q, qd) qd + g(q) - J^T f_ext.

        :param q: joint positions, shape (nq,)
        :param qd: joint velocities, shape (nv,)
        :param qdd: joint accelerations, shape (nv,)
        :param external_wrenches: what the environment exerts on the robot, by link
        :return: joint efforts, shape (nv,)
        :raises UnknownNameError: a wrench names a link that the robot does not have
        """
        workspace = self._memory.workspace
        if self._direct and external_wrenches is None:
            tau = np.empty(self._nv)
            try:
                if (
                    ready(q, FLOAT) is q
                    and ready(qd, FLOAT) is qd
                    and ready(qdd, FLOAT) is qdd
                    and q.ndim == qd.ndim == qdd.ndim == 1
                    and workspace.inverse_dynamics_into(q, qd, qdd, tau)
                ):
                    return tau
            except NOT_READY:
                pass
        motion = (self._position('q', q), self._velocity('qd', qd), self._velocity('qdd', qdd))
        with self._applied(workspace, motion[0], external_wrenches):
            return _result(workspace.inverse_dynamics(*motion))

    def gravity_torques(self, q: ArrayLike) -> Array:
        """
        Return g(q), the efforts that hold the robot still on a base at rest.

        :param q: joint positions, shape (nq,)
        """
        workspace = self._memory.workspace
        if self._direct and self._base_at_rest:
            tau = np.empty(self._nv)
            try:
                if ready(q, FLOAT) is q and q.ndim == 1 and workspace.gravity_torques_into(q, tau):
                    return tau
            except NOT_READY:
                pass
        base = workspace.bodies[BASE]
        moving = base['a'].copy()
        base['a'][3:] = -self._gravity
        try:
            return _result(workspace.gravity_torques(self._position('q', q)))
        finally:
            base['a'] = moving

    def bias_torques(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """
        Return ID(q, qd, 0) = C(q, qd) qd + g(q), the efforts at which no joint accelerates.

        :param q: joint positions, shape (nq,)
        :param qd: joint velocities, shape (nv,)
        """
        state = (self._position('q', q), self._velocity('qd', qd))
        return _result(self._memory.workspace.bias_torques(*state))

    def coriolis_torques(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """
        Return C(q, qd) qd, the Coriolis and centrifugal efforts.

        On a moving base they include what its velocity adds, not what its acceleration does.

        :param q: joint positions, shape (nq,)
        :param qd: joint velocities, shape (nv,)
        """
        state = (self._position('q', q), self._velocity('qd', qd))
        workspace = self._memory.weightless
        acceleration = workspace.bodies[BASE]['a'].copy()
        # Of the base's spatial acceleration, what v x omega leaves is velocity's own.
        workspace.bodies[BASE]['a'][:3] = 0.0
        workspace.bodies[BASE]['a'][3:] = -np.cross(
            self._base_velocity[:3], self._base_velocity[3:]
        )
        try:
            return _result(workspace.bias_torques(*state))
        finally:
            workspace.bodies[BASE]['a'] = acceleration

    def mass_matrix(self, q: ArrayLike) -> Array:
        """
        Return M(q), symmetric and positive definite where every joint has something to move.

        :param q: joint positions, shape (nq,)
        :return: shape (nv, nv)
        """
        workspace = self._memory.workspace
        if self._direct:
            M = np.empty(self._matrix_shape)
            kernel = workspace.mass_matrix_into or workspace.prepare_mass_matrix()
            try:
                if ready(q, FLOAT) is q and q.ndim == 1 and kernel(q, M):
                    return M
            except NOT_READY:
                pass
        return _result(workspace.mass_matrix(self._position('q', q)))

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        external_wrenches: ExternalWrenches | None = None,
    ) -> Array:
        """
        Return the accelerations that efforts bring about: M qdd = tau - C qd - g + J^T f_ext.

        By the articulated-body algorithm; by the mass matrix where mimic joints close loops.

        :param q: joint positions, shape (nq,)
        :param qd: joint velocities, shape (nv,)
        :param tau: joint efforts, shape (nv,)
        :param external_wrenches: what the environment exerts on the robot, by link
        :return: joint accelerations, shape (nv,)
        :raises SingularityError: a joint has nothing to accelerate, with its name
        :raises UnknownNameError: a wrench names a link that the robot does not have
        """
        workspace = self._memory.workspace
        by_articulated_bodies = not self._shared_coordinates
        if self._direct and by_articulated_bodies and external_wrenches is None:
            qdd = np.empty(self._nv)
            kernel = workspace.forward_dynamics_into or workspace.prepare_forward_dynamics()
            try:
                if (
                    ready(q, FLOAT) is q
                    and ready(qd, FLOAT) is qd
                    and ready(tau, FLOAT) is tau
                    and q.ndim == qd.ndim == tau.ndim == 1
                    and kernel(q, qd, tau, qdd)
                ):
                    return qdd
            except NOT_READY:
                pass
        state = (self._position('q', q), self._velocity('qd', qd))
        efforts = self._velocity('tau', tau)
        with self._applied(workspace, state[0], external_wrenches):
            if by_articulated_bodies:
                return self._checked_accelerations(workspace, state, efforts)
            return self._by_mass_matrix(workspace, state, efforts)

    @overflow_refused
    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike) -> float:
        """
        Return the kinetic energy of all links, J: the sum of v^T I v / 2.

        :param q: joint positions, shape (nq,)
        :param qd: joint velocities, shape (nv,)
        """
        bodies = self._memory.weightless.bodies
        state = (self._position('q', q), self._velocity('qd', qd))
        kinematics.move_bodies(bodies, *state, np.zeros(self._nv))
        w, u = bodies['v'][:, :3], bodies['v'][:, 3:]
        energy = np.einsum('ij,ijk,ik->', w, bodies['J'], w)
        energy += bodies['mass'] @ (u * u).sum(axis=1)
        energy += 2.0 * (np.cross(w, bodies['h']) * u).sum()
        return float(0.5 * energy)

    @overflow_refused
    def potential_energy(self, q: ArrayLike) -> float:
        """
        Return the potential energy of all links in gravity, J; zero at the base frame's origin.

        :param q: joint positions, shape (nq,)
        """
        centre = self.centre_of_mass(q)
        return float(-self._tree.bodies['mass'].sum() * (self._gravity @ centre))

    def _checked_accelerations(
        self, workspace: Workspace, state: tuple[Array, Array], tau: Array
    ) -> Array:
        with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
            qdd = workspace.forward_dynamics(*state, tau)
        i = checked_kernels.unresisting_body(workspace.bodies, workspace.articulated)
        if i != BASE:
            raise SingularityError(f'joint {self._joint_of(i)!r}', NO_INERTIA)
        return _result(qdd)

    def _by_mass_matrix(
        self, workspace: Workspace, state: tuple[Array, Array], tau: Array
    ) -> Array:
        bias = workspace.bias_torques(*state).copy()
        M = finite_result(workspace.mass_matrix(state[0]))
        inertias, motions = np.linalg.eigh(relative_inertia(M))
        if not (inertias > checked_kernels.RESISTANCE).all():
            joint = self._joint_of_dof(int(np.argmax(np.abs(motions[:, 0]))))
            raise SingularityError(f'joint {joint!r}', NO_INERTIA)
        return _result(np.asarray(np.linalg.solve(M, tau - bias), dtype=np.float64))

    def _joint_of(self, body: int) -> str:
        return self._joint_of_dof(int(self._tree.bodies[body]['dof']))

    def _joint_of_dof(self, dof: int) -> str:
        return next(
            name for name, place in self._tree.joints.items() if dof < place.velocities.stop
        )

    @contextmanager
    def _applied(
        self, workspace: Workspace, q: Array, wrenches: ExternalWrenches | None
    ) -> Iterator[None]:
        """Let external wrenches act on the bodies of a workspace for a while."""
        if wrenches is None:
            yield
            return
        if not isinstance(wrenches, Mapping):
            raise InputError('external_wrenches', f'are no wrenches by link: {wrenches!r}')
        try:
            kinematics.place_bodies(workspace.bodies, q)
            with np.errstate(over='ignore', invalid='ignore'):
                for link, given in wrenches.items():
                    for wrench in _sequence(link, given):
                        self._apply(workspace, link, wrench)
            yield
        finally:
            workspace.clear_external_forces()

    def _apply(self, workspace: Workspace, link: str, wrench: Wrench) -> None:
        """Add a wrench to its body's, moved to the body's origin and into its axes."""
        bodies, carrier = workspace.bodies, self._frame(link).body
        stated_in = self._frame_pose(bodies, link if wrench.frame is None else wrench.frame)
        force = stated_in.rotation @ finite_vector(f'force on link {link!r}', wrench.force, 3)
        torque = stated_in.rotation @ finite_vector(f'torque on link {link!r}', wrench.torque, 3)
        point = self._link_pose(bodies, link).translation
        if wrench.point is not None:
            at = finite_vector(f'point on link {link!r}', wrench.point, 3)
            point = stated_in.rotation @ at + stated_in.translation
        R, p = bodies[carrier]['R'], bodies[carrier]['p']
        moment = torque + np.cross(point - p, force)
        if not np.isfinite(moment).all():
            raise InputError(f'wrench on link {link!r}', f'has a moment not finite: {wrench!r}')
        workspace.add_external_force(carrier, R.T @ moment, R.T @ force)


def _result(values: Array) -> Array:
    """Return a workspace's array as one of the caller's own."""
    return finite_result(values).copy()


def relative_inertia(M: Array) -> Array:
    """
    Return mass matrices, shape (..., nv, nv), with a diagonal of ones, of zeros where M has them.

    An eigenvalue tells what part of their own inertias coordinates have when they move together,
    and its eigenvector how they move.
    """
    own = np.diagonal(M, axis1=-2, axis2=-1)
    scale = np.sqrt(np.where(own > 0.0, own, 1.0))
    return np.asarray(M / (scale[..., :, np.newaxis] * scale[..., np.newaxis, :]))


def _sequence(link: str, given: Wrench | Sequence[Wrench]) -> Sequence[Wrench]:
    """Return what is given for a link as a sequence of wrenches."""
    wrenches = [given] if isinstance(given, Wrench) else given
    if not isinstance(wrenches, Sequence) or not all(isinstance(w, Wrench) for w in wrenches):
        raise InputError(f'wrench on link {link!r}', f'is no Wrench, nor several: {given!r}')
    return wrenches
