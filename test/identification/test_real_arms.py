# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Identified models of real arms: errors on motion that was not fitted, no false push."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rnea_ros import RobotModel, identification
from rnea_ros.feedforward.law import FrictionModel, LoadedModel
from rnea_ros.feedforward.observers import MomentumObserver
from rnea_ros.feedforward.settings import FrictionSettings, Settings, resolve
from support.models.robots import ROOT, load, vendor_robots
from support.recorded.real_arms import recording
from support.recorded.simulated_arms import min_eigenvalues

pytest.importorskip('rosbags', reason='rosbags is not installed')

PANDA = ROOT / 'urdf/panda_arm.urdf'
PANDA_CEILINGS = (44.0, 1.7, 2.3, 1.7, 11.0, 7.5, 19.0)
UR10 = vendor_robots('ur10_robot')
UR10_CEILINGS = (6.5, 3.6, 5.3, 7.6, 10.0, 8.0)


@cache
def run(name: str, urdf: Path, cutoff: float) -> identification.Run:
    return identification.load(recording(name), load(urdf), cutoff=cutoff)


def held_out_percent(model: RobotModel, run: identification.Run) -> np.ndarray:
    fit = identification.identify(model, run)
    assert (min_eigenvalues(fit.parameters) > 0.0).all()
    percent = fit.comparison.percent(fit.comparison.identified)
    print(percent.round(1))
    return percent


def with_other_masses(model: RobotModel, factor: float) -> RobotModel:
    return model.with_inertial_parameters(factor * model.inertial_parameters)


@pytest.mark.parametrize('factor', [1.0, 0.5, 1.5])
def test_the_identified_panda_fits_with_any_masses_of_the_urdf(factor: float) -> None:
    model = with_other_masses(load(PANDA), factor)
    panda_run = run('panda_exciting_trajectory.db3', PANDA, 5.0)
    assert 'evenly spaced' in ' '.join(panda_run.notes)
    assert (held_out_percent(model, panda_run) <= PANDA_CEILINGS).all()


@pytest.mark.parametrize('factor', [1.0, 0.5, 1.5])
@pytest.mark.parametrize('urdf', UR10)
def test_the_identified_ur10_fits_with_any_masses_of_the_urdf(urdf: Path, factor: float) -> None:
    model = with_other_masses(load(urdf), factor)
    of_ur10 = run('ur10_exciting_trajectory.db3', urdf, 10.0)
    assert (held_out_percent(model, of_ur10) <= UR10_CEILINGS).all()


@pytest.mark.parametrize('urdf', UR10)
def test_the_urdf_of_a_smaller_sibling_fits_and_is_doubted(urdf: Path) -> None:
    smaller = ROOT / 'urdf/ur5e.urdf'
    doubts = {}
    for path in (urdf, smaller):
        fit = identification.identify(load(path), run('ur10_exciting_trajectory.db3', path, 10.0))
        doubts[path] = [note for note in fit.notes if 'URDF of another robot' in note]
    assert not doubts[urdf]
    assert len(doubts[smaller]) == 2


ARMS = [
    pytest.param('panda_exciting_trajectory.db3', ROOT / 'urdf/panda_arm.urdf', 5.0, id='panda'),
    *(
        pytest.param('ur10_exciting_trajectory.db3', urdf.values[0], 10.0, id='ur10')
        for urdf in vendor_robots('ur10_robot')
    ),
]


@pytest.mark.parametrize(('name', 'urdf', 'cutoff'), ARMS)
def test_free_motion_shows_no_more_than_the_residual(name: str, urdf: Path, cutoff: float) -> None:
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
