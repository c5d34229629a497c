# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Our calls and Pinocchio's: what each quantity is computed by."""

from __future__ import annotations

from collections.abc import Callable
import enum
from typing import Any, TypeAlias

import numpy as np
import pinocchio as pin

from .robots import Array, Robot, State
from .timing import Arguments, Contender, on_cores

PINOCCHIO = 'Pinocchio'
CHECKED = 'rnea_ros, checked call'
WORKSPACE = 'rnea_ros, workspace'
SPECIALISED = 'rnea_ros, specialised'
BATCH = 'rnea_ros, one thread'
SPECIALISED_BATCH = 'rnea_ros, specialised, one thread'
BATCH_ON_ALL_CORES = 'rnea_ros, all cores'


class Computation(enum.Enum):
    """What is computed."""

    INVERSE_DYNAMICS = 'inverse dynamics'
    GRAVITY = 'gravity torques'
    MASS_MATRIX = 'mass matrix'
    FORWARD_DYNAMICS = 'forward dynamics'
    INVERSE_DERIVATIVES = 'derivatives of the inverse dynamics'
    FORWARD_DERIVATIVES = 'derivatives of the forward dynamics'
    POSE = 'pose of the last body'
    JACOBIAN = 'Jacobian of the last body'
    REGRESSOR = 'regressor'
    BATCH = 'inverse dynamics of many samples'


Contenders: TypeAlias = dict[Computation, list[Contender]]


def our_calls(robot: Robot) -> Contenders:
    """Return the checked call of the model and the calls of its workspaces, for each quantity."""
    model = robot.model
    objects = {CHECKED: model, WORKSPACE: model.workspace()}
    special = {SPECIALISED: model.specialise()} if robot.can_specialise else {}

    def calls(method: str, arguments: int, *, specialised: bool = False) -> list[Contender]:
        return [
            Contender(name, getattr(each, method), lambda state: state[:arguments])
            for name, each in (objects | (special if specialised else {})).items()
        ]

    last = model.body_names[-1]

    def of_last_body(call: Callable[[Array, str], Array]) -> list[Contender]:
        return [Contender(CHECKED, call, lambda state: (state[0], last))]

    return {
        Computation.INVERSE_DYNAMICS: calls('inverse_dynamics', 3, specialised=True),
        Computation.GRAVITY: calls('gravity_torques', 1, specialised=True),
        Computation.MASS_MATRIX: calls('mass_matrix', 1, specialised=True),
        Computation.FORWARD_DYNAMICS: calls('forward_dynamics', 3),
        Computation.INVERSE_DERIVATIVES: calls('inverse_dynamics_derivatives', 3),
        Computation.FORWARD_DERIVATIVES: calls('forward_dynamics_derivatives', 3),
        Computation.POSE: of_last_body(model.forward_kinematics),
        Computation.JACOBIAN: of_last_body(model.jacobian),
        Computation.REGRESSOR: [Contender(CHECKED, model.regressor, tuple)],
    }


def our_batch(robot: Robot, samples: int, *, specialised: bool = False) -> Contender:
    """Return inverse dynamics of many samples on one thread."""
    model = robot.model

    def call(Q: Array, QD: Array, QDD: Array) -> Array:
        return model.inverse_dynamics_batch(Q, QD, QDD, threads=1, specialised=specialised)

    return Contender(SPECIALISED_BATCH if specialised else BATCH, call, tuple, samples=samples)


def our_batch_on(robot: Robot, samples: int, cores: set[int]) -> Contender:
    """Return inverse dynamics of many samples with a thread on each of these cores."""
    model = robot.model

    def call(Q: Array, QD: Array, QDD: Array) -> Array:
        with on_cores(cores):
            return model.inverse_dynamics_batch(Q, QD, QDD, threads=len(cores))

    return Contender(BATCH_ON_ALL_CORES, call, tuple, samples=samples)


class Pinocchio:
    """Pinocchio's model of a robot, and its joints in our order."""

    def __init__(self, robot: Robot) -> None:
        self.model = pin.buildModelFromXML(robot.urdf)
        self.data = self.model.createData()
        ours = robot.model.joint_names
        self.order = [ours.index(name) for name in list(self.model.names)[1:]]
        assert self.model.nq == self.model.nv == len(ours)
        tree = robot.model.tree
        by_joint = np.argsort(tree.bodies['qd_index'][1:])  # body of each of our joints, less one
        self.bodies = by_joint[self.order]
        self.last = self.model.getFrameId(robot.model.body_names[-1])

    def calls(self) -> Contenders:
        """Return a call for each quantity, with arrays that are made beforehand."""
        return {
            Computation.INVERSE_DYNAMICS: [self._call(pin.rnea, 3)],
            Computation.GRAVITY: [self._call(pin.computeGeneralizedGravity, 1)],
            Computation.MASS_MATRIX: [self._call(pin.crba, 1, self._matrix)],
            Computation.FORWARD_DYNAMICS: [self._call(pin.aba, 3)],
            Computation.INVERSE_DERIVATIVES: [
                self._call(pin.computeRNEADerivatives, 3, self._inverse_derivatives)
            ],
            Computation.FORWARD_DERIVATIVES: [
                self._call(pin.computeABADerivatives, 3, self._forward_derivatives)
            ],
            Computation.POSE: [self._call(self._pose, 1, lambda pose, _: pose.homogeneous)],
            Computation.JACOBIAN: [self._call(self._jacobian, 1, self._angular_first)],
            Computation.REGRESSOR: [
                self._call(pin.computeJointTorqueRegressor, 3, self._in_our_bodies)
            ],
        }

    def _pose(self, model: Any, data: Any, q: Array) -> Any:
        pin.forwardKinematics(model, data, q)
        return pin.updateFramePlacement(model, data, self.last)

    def _jacobian(self, model: Any, data: Any, q: Array) -> Any:
        return pin.computeFrameJacobian(model, data, q, self.last, pin.ReferenceFrame.LOCAL)

    def batch(self, samples: int) -> Contender:
        """Return rneaInParallel on one thread: samples as columns, the result's memory given."""
        pool = pin.ModelPool(self.model, 1)

        def prepare(state: State) -> Arguments:
            columns = [np.asfortranarray(rows[:, self.order].T) for rows in state]
            return (1, pool, *columns, np.zeros_like(columns[0], order='F'))

        def read(result: Any, arguments: Arguments) -> Array:
            tau = np.empty((samples, len(self.order)))
            tau[:, self.order] = arguments[-1].T
            return tau

        return Contender(PINOCCHIO, pin.rneaInParallel, prepare, read, samples)

    def _call(
        self,
        function: Callable[..., Any],
        arguments: int,
        read: Callable[[Any, Arguments], Array] | None = None,
    ) -> Contender:
        def prepare(state: State) -> Arguments:
            return (self.model, self.data, *(part[self.order] for part in state[:arguments]))

        return Contender(PINOCCHIO, function, prepare, read or self._vector)

    def _vector(self, result: Any, arguments: Arguments) -> Array:
        values = np.empty(len(self.order))
        values[self.order] = result
        return values

    def _matrix(self, result: Any, arguments: Arguments) -> Array:
        # Pinocchio fills the upper triangle.
        upper: Array = np.triu(result)
        return self._ordered(upper + np.triu(upper, 1).T)

    def _angular_first(self, result: Any, arguments: Arguments) -> Array:
        J: Array = np.empty_like(result)
        J[:3, self.order], J[3:, self.order] = result[3:], result[:3]
        return J

    def _in_our_bodies(self, result: Any, arguments: Arguments) -> Array:
        columns = result.reshape(len(result), -1, 10)
        Y: Array = np.empty_like(columns)
        Y[np.ix_(np.array(self.order), self.bodies)] = columns
        return Y.reshape(columns.shape[0], -1)

    def _inverse_derivatives(self, result: Any, arguments: Arguments) -> Array:
        by_q, by_qd = self._ordered(self.data.dtau_dq), self._ordered(self.data.dtau_dv)
        return np.array([by_q, by_qd, self._matrix(self.data.M, arguments)])

    def _forward_derivatives(self, result: Any, arguments: Arguments) -> Array:
        by_q, by_qd = self._ordered(self.data.ddq_dq), self._ordered(self.data.ddq_dv)
        return np.array([by_q, by_qd, self._matrix(self.data.Minv, arguments)])

    def _ordered(self, theirs: Array) -> Array:
        """Return a matrix in our order of joints."""
        ours = np.empty_like(theirs)
        ours[np.ix_(self.order, self.order)] = theirs
        return ours
