# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The recorded arms are not pushed: external efforts are the identified models' residuals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rnea_ros import identification
from rnea_ros.feedforward.law import FrictionModel, LoadedModel
from rnea_ros.feedforward.observers import MomentumObserver
from rnea_ros.feedforward.settings import FrictionSettings, Settings, resolve
from support.models.robots import ROOT, load, vendor_robots
from support.recorded.real_arms import recording

pytest.importorskip('rosbags', reason='rosbags is not installed')

ARMS = [
    pytest.param('panda_exciting_trajectory.db3', ROOT / 'urdf/panda_arm.urdf', 5.0, id='panda'),
    *(
        pytest.param('ur10_exciting_trajectory.db3', urdf.values[0], 10.0, id='ur10')
        for urdf in vendor_robots('ur10_robot')
    ),
]


@pytest.mark.parametrize(('name', 'urdf', 'cutoff'), ARMS)
def test_external_efforts_of_a_free_motion_are_within_the_residual(
    name: str, urdf: Path, cutoff: float
) -> None:
    prior = load(urdf)
    run = identification.load(recording(name), prior, cutoff=cutoff)
    fit = identification.identify(prior, run)
    (held_out,) = fit.comparison.held_out
    friction = FrictionSettings(
        FrictionModel.PARAMETERS, tuple(fit.friction.viscous[0]), tuple(fit.friction.coulomb[0]),
        tuple(fit.friction.viscous[1]), tuple(fit.friction.coulomb[1]), tuple(fit.friction.load),
        tuple(fit.friction.smoothing_velocity), tuple(fit.friction.offset),
    )
    settings = resolve(
        Settings(joints=prior.joint_names, friction=friction, armature=tuple(fit.armature)),
        fit.model,
    )
    observer = MomentumObserver(LoadedModel(fit.model).bodies, settings)
    found, command = np.zeros_like(held_out.q), np.zeros(prior.nv)
    samples = zip(held_out.q, held_out.qd, held_out.effort, strict=True)
    for k, (q, qd, effort) in enumerate(samples):
        if k == 0 or held_out.segment[k] != held_out.segment[k - 1]:
            observer.reset()
        dt = held_out.time[k] - held_out.time[k - 1] if k else -1.0
        observer.observe(q.copy(), qd.copy(), effort.copy(), command, None, None, dt)
        found[k] = observer.effort
    rms, residual = np.sqrt((found**2).mean(axis=0)), fit.comparison.identified.rms
    print('external efforts', rms.round(3), 'residual', residual.round(3), 'N m')
    # 30 to 125 Hz are coarse for a mean of two efforts.
    assert (rms < 1.2 * residual).all()
