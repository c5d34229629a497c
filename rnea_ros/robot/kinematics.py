# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Where links are and how they move."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import finite_number, finite_vector, overflow_refused
from ..dynamics import manifold
from ..dynamics.kernels import kinematics
from ..dynamics.tree import Placement
from .names import Array, NamedModel
from .wrench import ReferenceFrame


class Kinematics(NamedModel):
    """Poses, velocities, accelerations and Jacobians of links."""

    @overflow_refused
    def forward_kinematics(self, q: ArrayLike, link: str) -> Array:
        """
        Return the pose of a link's frame in the root link's frame, homogeneous, shape (4, 4).

        Where the base floats, the pose in the world.

        :param q: joint positions, shape (nq,)
        :param link: a link's name
        :raises UnknownNameError: the robot has no such link
        """
        return self._link_pose(self._placed(self._position('q', q)), link).matrix()

    @overflow_refused
    def jacobian(self, q: ArrayLike, link: str, point: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """
        Return J with v = J qd: a link's velocity [angular; linear] against a base at rest.

        v is in the link's axes, its linear part is that of ``point`` on the link.

        :param q: joint positions, shape (nq,)
        :param link: a link's name
        :param point: in the link's frame, shape (3,), m
        :return: shape (6, nv)
        :raises UnknownNameError: the robot has no such link
        """
        frame = self._frame(link)
        at = finite_vector('point', point, 3)
        bodies = self._placed(self._position('q', q))
        J = np.empty((6, self._nv))
        E, r = body_to_frame(frame.placement @ Placement(np.eye(3), at))
        kinematics.frame_jacobian(bodies, frame.body, E, r, J)
        return J

    @overflow_refused
    def link_velocity(self, q: ArrayLike, qd: ArrayLike, link: str) -> Array:
        """
        Return a link's spatial velocity [angular; linear], shape (6,), rad/s and m/s.

        In the link's own axes, the linear part at its origin; the base's motion is part of it.

        :param q: joint positions, shape (nq,)
        :param qd: joint velocities, shape (nv,)
        :param link: a link's name
        :raises UnknownNameError: the robot has no such link
        """
        return self._moved(q, qd, np.zeros(self._nv), link)[0]

    @overflow_refused
    def link_acceleration(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, link: str
    ) -> Array:
        """
        Return a link's spatial acceleration [angular; linear], shape (6,), rad/s^2 and m/s^2.

        In the link's own axes; it is the rate at which the numbers of :meth:`link_velocity`
        change. The acceleration of the link's origin, as an accelerometer there has it (less
        gravity), is the linear part plus angular velocity x linear velocity.

        :param q: joint positions, shape (nq,)
        :param qd: joint velocities, shape (nv,)
        :param qdd: joint accelerations, shape (nv,)
        :param link: a link's name
        :raises UnknownNameError: the robot has no such link
        """
        return self._moved(q, qd, self._velocity('qdd', qdd), link)[1]

    @overflow_refused
    def bias_acceleration(self, q: ArrayLike, qd: ArrayLike, link: str) -> Array:
        """
        Return Jdot qd, the spatial acceleration that velocities alone bring about, shape (6,).

        link_acceleration = J qdd + Jdot qd on a base at rest. On a moving base this is the
        acceleration at qdd = 0, what the base adds included.

        :param q: joint positions, shape (nq,)
        :param qd: joint velocities, shape (nv,)
        :param link: a link's name
        :raises UnknownNameError: the robot has no such link
        """
        return self._moved(q, qd, np.zeros(self._nv), link)[1]

    @overflow_refused
    def centre_of_mass(self, q: ArrayLike) -> Array:
        """
        Return the centre of mass of the whole robot, its root link included, shape (3,), m.

        In the root link's frame, or in the world's where the base floats; zeros for a robot
        without mass.

        :param q: joint positions, shape (nq,)
        """
        bodies = self._placed(self._position('q', q))
        mass = bodies['mass'].sum()
        first_moment = np.einsum('ijk,ik->j', bodies['R'], bodies['h'])
        first_moment += bodies['mass'] @ bodies['p']
        return np.zeros(3) if mass == 0.0 else np.asarray(first_moment / mass)

    @overflow_refused
    def integrate(self, q: ArrayLike, v: ArrayLike, dt: float) -> Array:
        """
        Return the joint positions after moving at constant velocity for a time.

        :param q: joint positions, shape (nq,)
        :param v: joint velocities, shape (nv,)
        :param dt: s
        """
        return manifold.integrate(
            self._position('q', q),
            self._velocity('v', v),
            finite_number('dt', dt),
            self._quaternions,
            self._vector_joints(),
        )

    @overflow_refused
    def position_rate(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """
        Return dq/dt, the rate of change of every number of q, shape (nq,).

        It is qd itself but for quaternions, and positions beside them.

        :param q: joint positions, shape (nq,)
        :param qd: joint velocities, shape (nv,)
        """
        return manifold.position_rate(
            self._position('q', q),
            self._velocity('qd', qd),
            self._quaternions,
            self._vector_joints(),
        )

    @overflow_refused
    def normalised(self, q: ArrayLike) -> Array:
        """
        Return joint positions whose quaternions are brought to unit length, shape (nq,).

        :param q: joint positions, shape (nq,); quaternions of any length but zero
        """
        return manifold.normalised(finite_vector('q', q, self._nq), self._quaternions)

    @overflow_refused
    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """
        Return the velocity that leads from q0 to q1 in one second, shape (nv,).

        ``integrate(q0, difference(q0, q1), 1)`` is q1. No angle is wrapped but those of
        quaternions, where the shorter way is taken.

        :param q0: joint positions, shape (nq,)
        :param q1: joint positions, shape (nq,)
        """
        return manifold.difference(
            self._position('q0', q0),
            self._position('q1', q1),
            self._quaternions,
            self._vector_joints(),
            self._nv,
        )

    def _vector_joints(self) -> list[tuple[slice, slice]]:
        """Return the places in q and v of the joints whose positions are a vector."""
        curved = {name for name, *_ in self._quaternions}
        return [
            (place.positions, place.velocities)
            for name, place in self._tree.joints.items()
            if name not in curved
        ]

    def _placed(self, q: Array) -> NDArray[np.void]:
        """Return this thread's bodies with the poses that they have at q."""
        bodies: NDArray[np.void] = self._memory.workspace.bodies
        kinematics.place_bodies(bodies, q)
        return bodies

    def _moved(
        self, q: ArrayLike, qd: ArrayLike, qdd: Array, link: str
    ) -> tuple[Array, Array]:
        """Return a link's spatial velocity and acceleration, in its own axes."""
        frame = self._frame(link)
        bodies = self._memory.weightless.bodies
        kinematics.move_bodies(bodies, self._position('q', q), self._velocity('qd', qd), qdd)
        E, r = body_to_frame(frame.placement)
        v, a = (
            np.concatenate([E @ m[:3], E @ (m[3:] - np.cross(r, m[:3]))])
            for m in (bodies[frame.body]['v'], bodies[frame.body]['a'])
        )
        return v, a

    def _link_pose(self, bodies: NDArray[np.void], link: str) -> Placement:
        frame = self._frame(link)
        body = bodies[frame.body]
        return Placement(body['R'].copy(), body['p'].copy()) @ frame.placement

    def _frame_pose(
        self, bodies: NDArray[np.void], frame: str | ReferenceFrame
    ) -> Placement:
        if frame is ReferenceFrame.WORLD:
            return Placement(np.eye(3), np.zeros(3))
        if frame is ReferenceFrame.BASE:
            return self._link_pose(bodies, self.link_names[0])
        return self._link_pose(bodies, frame)


def body_to_frame(placement: Placement) -> tuple[Array, Array]:
    """Return E and r of the transform from a body's coordinates to a frame's."""
    return np.ascontiguousarray(placement.rotation.T), placement.translation
