# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The calls that race: ours, Pinocchio's and MuJoCo's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import mujoco
import numpy as np
import pinocchio as pin

from rnea_ros.sim.mujoco_model import build_mujoco_model

from .robots import Array, Robot, State
from .timing import Arguments, Contender, Read, returned

INVERSE_DYNAMICS = 'inverse dynamics'
MANY_SAMPLES = 'inverse dynamics of many samples'

PINOCCHIO = 'Pinocchio'
CHECKED = 'rnea_ros, checked call'
WORKSPACE = 'rnea_ros, workspace'
SPECIALISED = 'rnea_ros, specialised'
BATCH = 'rnea_ros, one thread'
SPECIALISED_BATCH = 'rnea_ros, specialised, one thread'

Contenders: TypeAlias = dict[str, list[Contender]]
"""Contenders by the quantity that they compute."""


def our_calls(robot: Robot) -> Contenders:
    """Return the checked call of the model and the calls of its workspaces, for each quantity."""
    model = robot.model
    general = {CHECKED: model, WORKSPACE: model.workspace()}
    fast = general | ({SPECIALISED: model.specialise()} if robot.can_specialise else {})
    last = model.body_names[-1]

    def calls(objects: dict[str, Any], method: str, arguments: int) -> list[Contender]:
        return [
            Contender(name, getattr(owner, method), lambda state: state[:arguments])
            for name, owner in objects.items()
        ]

    def of_last_body(call: Callable[[Array, str], Array]) -> list[Contender]:
        return [Contender(CHECKED, call, lambda state: (state[0], last))]

    return {
        INVERSE_DYNAMICS: calls(fast, 'inverse_dynamics', 3),
        'gravity torques': calls(fast, 'gravity_torques', 1),
        'mass matrix': calls(fast, 'mass_matrix', 1),
        'forward dynamics': calls(general, 'forward_dynamics', 3),
        'derivatives of the inverse dynamics': calls(general, 'inverse_dynamics_derivatives', 3),
        'derivatives of the forward dynamics': calls(general, 'forward_dynamics_derivatives', 3),
        'pose of the last body': of_last_body(model.forward_kinematics),
        'Jacobian of the last body': of_last_body(model.jacobian),
        'regressor': [Contender(CHECKED, model.regressor, tuple)],
    }


def our_batches(robot: Robot, samples: int) -> list[Contender]:
    """Return inverse dynamics of many samples on one thread."""
    call = partial(robot.model.inverse_dynamics_batch, threads=1)
    contenders = [Contender(BATCH, call, tuple, samples=samples)]
    if robot.can_specialise:
        special = partial(call, specialised=True)
        contenders.append(Contender(SPECIALISED_BATCH, special, tuple, samples=samples))
    return contenders


class Pinocchio:
    """Pinocchio's model of a robot, and its joints in our order."""

    def __init__(self, robot: Robot) -> None:
        self.model = pin.buildModelFromXML(robot.urdf)
        self.data = self.model.createData()
        joints = robot.model.joint_names
        self._order = [joints.index(name) for name in list(self.model.names)[1:]]
        assert self.model.nq == self.model.nv == len(joints)
        self._last = self.model.getFrameId(robot.model.body_names[-1])

    def calls(self) -> Contenders:
        """Return a call for each quantity, with arrays that are made beforehand."""
        data = self.data
        rows: tuple[tuple[str, Callable[..., Any], int, Read], ...] = (
            (INVERSE_DYNAMICS, pin.rnea, 3, returned),
            ('gravity torques', pin.computeGeneralizedGravity, 1, returned),
            ('mass matrix', pin.crba, 1, lambda M, _: _symmetric(M)),
            ('forward dynamics', pin.aba, 3, returned),
            ('derivatives of the inverse dynamics', pin.computeRNEADerivatives, 3,
             lambda *_: np.array([data.dtau_dq, data.dtau_dv, _symmetric(data.M)])),
            ('derivatives of the forward dynamics', pin.computeABADerivatives, 3,
             lambda *_: np.array([data.ddq_dq, data.ddq_dv, _symmetric(data.Minv)])),
            ('pose of the last body', self._pose, 1, lambda pose, _: pose.homogeneous),
            ('Jacobian of the last body', self._jacobian, 1, returned),
            ('regressor', pin.computeJointTorqueRegressor, 3, returned),
        )
        return {
            quantity: [Contender(PINOCCHIO, function, partial(self._arguments, count), read)]
            for quantity, function, count, read in rows
        }

    def batch(self, samples: int) -> Contender:
        """Return rneaInParallel on one thread: samples as columns, the result's memory given."""
        pool = pin.ModelPool(self.model, 1)

        def prepare(state: State) -> Arguments:
            columns = [np.asfortranarray(rows[:, self._order].T) for rows in state]
            return (1, pool, *columns, np.zeros_like(columns[0], order='F'))

        return Contender(PINOCCHIO, pin.rneaInParallel, prepare, lambda _, given: given[-1],
                         samples)

    def _arguments(self, count: int, state: State) -> Arguments:
        return (self.model, self.data, *(part[self._order] for part in state[:count]))

    def _pose(self, model: Any, data: Any, q: Array) -> Any:
        pin.forwardKinematics(model, data, q)
        return pin.updateFramePlacement(model, data, self._last)

    def _jacobian(self, model: Any, data: Any, q: Array) -> Any:
        return pin.computeFrameJacobian(model, data, q, self._last, pin.ReferenceFrame.LOCAL)


def _symmetric(matrix: Array) -> Array:
    """Return a symmetric matrix, of which Pinocchio fills the upper triangle."""
    upper: Array = np.triu(matrix)
    return upper + np.triu(upper, 1).T


def mujoco_call(robot: Robot) -> Contender:
    """Return MuJoCo's inverse dynamics without contacts, limits and losses of joints."""
    description = robot.model.description
    assert description is not None
    model = build_mujoco_model(
        robot.urdf, description, gravity=robot.model.gravity, timestep=1e-3, held={}, payload=None
    )
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    for losses in (model.dof_damping, model.dof_frictionloss, model.dof_armature):
        losses[:] = 0.0
    order = [robot.model.joint_names.index(model.joint(i).name) for i in range(model.njnt)]

    def prepare(state: State) -> Arguments:
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:], data.qacc[:] = (part[order] for part in state)
        return model, data

    return Contender('MuJoCo, mj_inverse', mujoco.mj_inverse, prepare,
                     lambda _, given: given[1].qfrc_inverse)
