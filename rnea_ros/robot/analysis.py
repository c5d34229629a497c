# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What is derived from the equation of motion: cut forces, regressor, task space, contacts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from operator import index

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import finite_array, finite_result, overflow_refused
from ..dynamics import (
    ContactSolution,
    TaskSpaceDynamics,
    constrained_inverse_dynamics,
    task_space_dynamics,
)
from ..dynamics.kernels import PARAMETERS, checked_kernels
from ..dynamics.tree import RigidBodyInertia, with_bodies_of_their_own
from ..errors import InputError, UnknownNameError
from .dynamics import Dynamics, ExternalWrenches
from .kinematics import body_to_frame
from .names import Array
from .wrench import Wrench


class Analysis(Dynamics):
    """Quantities for sensing, identification and control in other coordinates than joints."""

    @cached_property
    def _cuts(self) -> dict[str, Analysis]:
        return {}

    def internal_wrench(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        link: str,
        external_wrenches: ExternalWrenches | None = None,
    ) -> Wrench:
        """
        Return what the joint above a link exerts on the link, be the joint fixed or not.

        In the link's frame, about its origin: what an in-line force-torque sensor there carries,
        the weight and inertia of all that is distal included, less external wrenches there.

        :param q: joint positions, shape (nq,)
        :param qd: joint velocities, shape (nv,)
        :param qdd: joint accelerations, shape (nv,)
        :param link: the first link behind the cut
        :param external_wrenches: what the environment exerts on the robot, by link
        :raises UnknownNameError: no such link, or the root link, which no joint carries
        """
        cut = self._cut_above(link)
        workspace = cut._memory.workspace
        motion = (cut._position('q', q), cut._velocity('qd', qd), cut._velocity('qdd', qdd))
        with cut._applied(workspace, motion[0], external_wrenches):
            workspace.inverse_dynamics(*motion)
            frame = cut._frame(link)
            f = finite_result(workspace.bodies[frame.body]['f'].copy())
        E, r = body_to_frame(frame.placement)
        return Wrench(
            force=E @ f[3:], torque=E @ (f[:3] - np.cross(r, f[3:])), frame=link
        )

    def _cut_above(self, link: str) -> Analysis:
        """Return the model with a body of the link's own, kept for the next time."""
        carried = [name for name in self.link_names if name != self._tree.links[0].name]
        if link not in carried:
            raise UnknownNameError('link', link, carried)
        if link not in self._cuts:
            tree = with_bodies_of_their_own(self._tree, [link])
            self._cuts[link] = type(self)(
                tree,
                name=self._name,
                description=self._description,
                gravity=self._gravity,
                base_motion=self._base_motion,
            )
        return self._cuts[link]

    @property
    def body_names(self) -> tuple[str, ...]:
        """The moving links that carry what is fixed to them, in the order of the regressor."""
        return tuple(link.name for link in self._tree.links if link.joint)

    @property
    def inertial_parameters(self) -> Array:
        """
        The ten standard parameters of every moving body, phi, shape (10 * bodies,).

        Mass, first moment (mx, my, mz), and the rotational inertia about the origin (Jxx, Jxy,
        Jyy, Jxz, Jyz, Jzz), of the links in :attr:`body_names` with all that is fixed to them, in
        the frame of that link.
        """
        phi = []
        for name in self.body_names:
            frame = self._frame(name)
            body = self._tree.bodies[frame.body]
            inertia = RigidBodyInertia(float(body['mass']), body['h'], body['J'])
            inertia = inertia.seen_from(frame.placement.inverse())
            J = inertia.J
            phi.append([
                inertia.mass, *inertia.h,
                J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2],
            ])
        return np.array(phi).reshape(-1)

    @overflow_refused
    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """
        Return Y with tau = Y phi, phi as :attr:`inertial_parameters` has it.

        :param q: joint positions, shape (nq,)
        :param qd: joint velocities, shape (nv,)
        :param qdd: joint accelerations, shape (nv,)
        :return: shape (nv, 10 * bodies)
        """
        motion = (self._position('q', q), self._velocity('qd', qd), self._velocity('qdd', qdd))
        Y = np.empty((self._nv, len(PARAMETERS) * (len(self._tree.bodies) - 1)))
        bodies = self._memory.workspace.bodies
        checked_kernels.regressor(bodies, *motion, Y, np.empty(self._nv))
        return self._in_link_parameters(Y)

    def _in_link_parameters(self, Y: Array) -> Array:
        """Return regressors of body parameters, shape (..., nv, 10 k), as those of links."""
        parts = []
        for name in self.body_names:
            frame = self._frame(name)
            first = len(PARAMETERS) * (frame.body - 1)
            to_body = _parameter_rotation(frame.placement.rotation)
            parts.append(Y[..., first : first + len(PARAMETERS)] @ to_body)
        return np.concatenate(parts, axis=-1) if parts else Y

    def task_space_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        link: str,
        *,
        coordinates: Sequence[int] = (0, 1, 2, 3, 4, 5),
        point: ArrayLike = (0.0, 0.0, 0.0),
    ) -> TaskSpaceDynamics:
        """
        Return the equation of motion of a link: Lambda a + mu + p = F.

        a is the link's spatial acceleration, F the force [moment; force] that the joints must
        bring about, both in the link's axes at ``point``, on a base at rest.

        :param q: joint positions, shape (nq,)
        :param qd: joint velocities, shape (nv,)
        :param link: a link's name
        :param coordinates: which of the six count, 0 to 2 angular, 3 to 5 linear
        :param point: in the link's frame, shape (3,), m
        :raises SingularityError: the coordinates cannot move independently, with the condition
            number, or a joint has nothing to accelerate
        :raises UnknownNameError: the robot has no such link
        """
        rows = _task_rows(coordinates)
        rest = np.zeros(self._nv)
        self.forward_dynamics(q, rest, rest)  # refuses joints that nothing resists
        at = finite_array('point', point, (3,))
        bias = self.bias_acceleration(q, qd, link)
        bias[3:] -= np.cross(at, bias[:3])
        return task_space_dynamics(
            f'link {link!r}',
            rows,
            self.mass_matrix(q),
            self.jacobian(q, link, point),
            bias,
            self.coriolis_torques(q, qd),
            self.gravity_torques(q),
            self._lever(q, link, at),
        )

    def _lever(self, q: ArrayLike, link: str, point: Array) -> float:
        """Return how far a link's point is from the body that is farthest, m."""
        bodies = self._placed(self._position('q', q))
        pose = self._link_pose(bodies, link)
        reach = bodies['p'] - (pose.rotation @ point + pose.translation)
        return float(np.linalg.norm(reach, axis=1).max())

    def constrained_inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        contact_jacobian: ArrayLike,
        unactuated: Sequence[str] = (),
    ) -> ContactSolution:
        """
        Return joint efforts and contact forces that make a motion of a robot in contact.

        Of contact forces that the motion leaves open, those of least norm are taken, and
        ``determined`` of the result tells so. Whether a contact can pull is not asked.

        :param q: joint positions, shape (nq,)
        :param qd: joint velocities, shape (nv,)
        :param qdd: joint accelerations, shape (nv,), that the contacts allow
        :param contact_jacobian: rows of :meth:`jacobian`, one a contact force, shape (k, nv)
        :param unactuated: joints without actuator, as the floating base
        :raises SingularityError: no contact forces make the motion
        :raises UnknownNameError: no such joint
        """
        actuated = np.ones(self._nv, dtype=bool)
        for joint in unactuated:
            actuated[self.velocity_indices(joint)] = False
        J = finite_array('contact_jacobian', contact_jacobian, (None, self._nv))
        return constrained_inverse_dynamics(self.inverse_dynamics(q, qd, qdd), J, actuated)


def _task_rows(coordinates: Sequence[int]) -> list[int]:
    """Return the coordinates of a task, checked."""
    try:
        rows = [index(coordinate) for coordinate in coordinates]
    except TypeError as error:
        raise InputError('coordinates', f'are no integers: {coordinates!r}') from error
    if not rows or len(set(rows)) < len(rows) or not set(rows) <= set(range(6)):
        raise InputError('coordinates', f'are not some of 0 to 5, each once: {rows}')
    return rows


def _parameter_rotation(R: Array) -> Array:
    """Return P with phi_body = P phi_link, where x_body = R x_link, shape (10, 10)."""
    P = np.zeros((10, 10))
    P[0, 0] = 1.0
    P[1:4, 1:4] = R
    pairs = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
    for column, (i, j) in enumerate(pairs):
        # J = R e_i e_j^T R^T, and its mirror image where i differs from j
        J = np.outer(R[:, i], R[:, j])
        J = J if i == j else J + J.T
        P[4:, 4 + column] = [J[pair] for pair in pairs]
    return P
