# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A result of an identification with known figures, made without a fit."""

from collections.abc import Sequence

import numpy as np

from rnea_ros import RobotModel
from rnea_ros.arrays import Array
from rnea_ros.feedforward.laws import JointFriction, SharedFriction
from rnea_ros.feedforward.loaded_model import JointSpring
from rnea_ros.identification import (
    BaseParameters,
    Comparison,
    Identification,
    JointDeviations,
    ModelErrors,
    ParameterOrigin,
    Run,
)
from rnea_ros.identification.result import link_inertials
from rnea_ros.urdf import with_inertials
from support.models.robots import ROOT, description, load

from .synthetic_recordings import sum_of_sines

ARM = ROOT / 'urdf/panda_arm.urdf'


def identified(
    model: RobotModel | None = None, *, silent: Sequence[int] = ()
) -> Identification:
    """
    Return a result that fits its held-out run up to noise, and whose URDF has a tenth too little.

    Joints of the silent numbers are not recorded.
    """
    prior = model or load(ARM)
    n = len(prior.joint_names)
    phi = 1.1 * prior.inertial_parameters
    inertials, _ = link_inertials(prior, phi)
    better = load(with_inertials(description(prior).text, inertials), prior.gravity)
    here = np.array([joint not in silent for joint in range(n)])
    joint = np.arange(n, dtype=np.float64)
    coulomb = np.where(here, 0.2 + 0.05 * joint, 0.0)
    offset = np.where(here, 0.1 - 0.12 * joint, 0.0)
    friction = JointFriction(
        np.tile(np.where(here, 0.3 + 0.1 * joint, 0.0), (2, 1)), np.tile(coulomb, (2, 1)),
        np.where(joint == 1, 0.02, 0.0), np.full(n, 0.03), offset,
        SharedFriction((4, 5), -1.0, 0.2, 0.3, 0.03),
    )
    armature = np.where(here, 0.1, 0.0)
    time = np.asarray(np.arange(0.0, 10.0, 0.02))
    sine = (0.5 + 0.3 * joint, 0.6 * here.astype(np.float64), joint)
    q, qd, qdd = sum_of_sines(time, np.zeros(n), [sine])
    spring = JointSpring(np.where(joint == 2, 30.0, 0.0), np.where(joint == 2, 0.2, 0.0))
    rigid = better.inverse_dynamics_batch(q, qd, qdd)
    carried = rigid + spring.effort(q)
    truth = carried + armature * qdd + friction.friction(qd, carried)
    effort = truth + 0.05 * np.random.default_rng(3).normal(size=q.shape)
    effort[:, ~here] = np.nan
    run = Run(
        'my_bag', time, q, qd, qdd, effort, np.zeros(len(time), dtype=np.intp),
        tuple(name for name, of in zip(prior.joint_names, here, strict=True) if of),
        ('14 samples that repeat the previous one during motion were removed',),
    )  # fmt: skip
    urdf = prior.inverse_dynamics_batch(q, qd, qdd)

    def rms(values: Array) -> Array:
        return np.asarray(np.sqrt(np.mean(values**2, axis=0)))

    models = (
        ModelErrors((predicted,), *2 * (rms(predicted - effort),))
        for predicted in (urdf, urdf + truth - rigid, truth)
    )
    comparison = Comparison((run,), rms(effort), rms(effort), *models)
    return Identification(
        prior=prior,
        model=better,
        parameters=phi,
        covariance=np.diag((0.02 * np.abs(phi) + 1e-4) ** 2),
        origin=tuple([*ParameterOrigin][k % 3] for k in range(len(phi))),
        friction=friction,
        armature=armature,
        spring=spring,
        joint_deviations=JointDeviations(*6 * (np.full(n, 0.01),)),
        base=BaseParameters(
            1, 27.0, ('m(fer_link7)',), np.eye(1, len(phi)), phi[:1], phi[:1], phi[:1] * 0.1
        ),
        comparison=comparison,
        fitted=(run.part(0, len(time) // 2),),
    )
