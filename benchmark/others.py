# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Inverse dynamics of other libraries: MuJoCo, the textbook's code, PyKDL, Dynibo."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from rnea_ros.dynamics.tree import Placement
from rnea_ros.textbook.screw import screw_chain
from rnea_ros.textbook.textbook_tree import chain_of

from .robots import Array, Robot, State
from .timing import Arguments, Contender

MUJOCO = 'MuJoCo, mj_inverse'
KDL = 'PyKDL'
DYNIBO = 'Dynibo'
TEXTBOOK = 'modern_robotics'


LIBRARIES = {MUJOCO: 'mujoco', KDL: 'PyKDL', TEXTBOOK: 'modern_robotics', DYNIBO: 'dynibo'}

STANDARD_GRAVITY = 9.80665
"""Dynibo's gravity, against z, m/s^2."""


def missing() -> list[str]:
    """Return the modules that are not installed."""
    return [module for module in LIBRARIES.values() if find_spec(module) is None]


def others(robot: Robot) -> list[Contender]:
    """Return inverse dynamics by the libraries that are installed and know the robot's kind."""
    makers: dict[str, Callable[[Any, Robot], Contender]] = {MUJOCO: _mujoco}
    if robot.is_chain:
        makers |= {KDL: _kdl, TEXTBOOK: _textbook, DYNIBO: _dynibo}
    return [
        make(import_module(LIBRARIES[name]), robot)
        for name, make in makers.items()
        if LIBRARIES[name] not in missing()
    ]


def _mujoco(mujoco: Any, robot: Robot) -> Contender:
    """Return MuJoCo's inverse dynamics without contacts, limits and what joints lose."""
    from rnea_ros.sim.mujoco_model import build_mujoco_model

    description = robot.model.description
    assert description is not None
    model = build_mujoco_model(
        robot.urdf, description, gravity=robot.model.gravity, timestep=1e-3, held={}, payload=None
    )
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    for losses in (model.dof_damping, model.dof_frictionloss, model.dof_armature):
        losses[:] = 0.0
    order = [
        robot.model.joint_names.index(model.joint(i).name) for i in range(model.njnt)
    ]

    def prepare(state: State) -> Arguments:
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:], data.qacc[:] = (part[order] for part in state)
        return model, data

    def read(result: Any, arguments: Arguments) -> Array:
        tau = np.empty(len(order))
        tau[order] = arguments[1].qfrc_inverse
        return tau

    return Contender(MUJOCO, mujoco.mj_inverse, prepare, read)


def _kdl(kdl: Any, robot: Robot) -> Contender:
    """Return KDL's recursive Newton-Euler solver for chains."""
    chain = kdl.Chain()
    for body in chain_of(robot.model.tree):
        turned = kdl.Rotation(*body.rotation.ravel().tolist())
        origin = kdl.Vector(*body.position.tolist())
        kind = kdl.Joint.TransAxis if body.prismatic else kdl.Joint.RotAxis
        joint = kdl.Joint(origin, turned * kdl.Vector(0.0, 0.0, 1.0), kind)
        xx, xy, xz, yy, yz, zz = body.inertia[np.triu_indices(3)].tolist()
        inertia = kdl.RigidBodyInertia(
            body.mass, kdl.Vector(*body.com.tolist()),
            kdl.RotationalInertia(xx, yy, zz, xy, xz, yz),
        )
        chain.addSegment(kdl.Segment(joint, kdl.Frame(turned, origin), inertia))
    solver = kdl.ChainIdSolver_RNE(chain, kdl.Vector(*robot.model.gravity.tolist()))

    def prepare(state: State) -> Arguments:
        # The solver only borrows its chain, which must be kept alive from here.
        n = chain.getNrOfJoints()
        wrenches = [kdl.Wrench.Zero()] * n
        arrays = [kdl.JntArray(n) for _ in range(4)]
        for array, values in zip(arrays, state, strict=False):
            for i, value in enumerate(values.tolist()):
                array[i] = value
        return (*arrays[:3], wrenches, arrays[3])

    def read(result: Any, arguments: Arguments) -> Array:
        return np.array([arguments[4][i] for i in range(robot.joints)])

    return Contender(KDL, solver.CartToJnt, prepare, read)


def _textbook(modern_robotics: Any, robot: Robot) -> Contender:
    """Return the code of *Modern Robotics*, with the matrices that it takes."""
    chain = screw_chain(chain_of(robot.model.tree), Placement(np.eye(3), np.zeros(3)))
    # It takes frame {i} in frame {i - 1}, and the screw axes in the base frame.
    steps, axes, pose = np.linalg.inv(chain.M), [], np.eye(4)
    for step, axis in zip(steps[:-1], chain.A, strict=True):
        pose = pose @ step
        axes.append(modern_robotics.Adjoint(pose) @ axis)
    fixed = (robot.model.gravity, np.zeros(6), steps, chain.G, np.array(axes).T)

    def prepare(state: State) -> Arguments:
        return (*state, *fixed)

    return Contender(TEXTBOOK, modern_robotics.InverseDynamics, prepare)


def _dynibo(dynibo: Any, robot: Robot) -> Contender:
    """Return Dynibo's inverse dynamics, with the result's memory given."""
    with TemporaryDirectory() as directory:
        path = Path(directory) / 'robot.urdf'
        path.write_text(robot.urdf, encoding='utf-8')
        model = dynibo.Robot.from_urdf(str(path))
    missing_share = -robot.model.gravity[2] / STANDARD_GRAVITY - 1.0

    def prepare(state: State) -> Arguments:
        return (*state, None, np.empty(robot.joints))

    def read(result: Any, arguments: Arguments) -> Array:
        return np.array(result + missing_share * model.gravity(arguments[0]))

    return Contender(DYNIBO, model.inverse_dynamics, prepare, read)
