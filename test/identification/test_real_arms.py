# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Identified models of real arms: physical bodies, no false push, doubt about a wrong URDF."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rnea_ros import identification
from rnea_ros.feedforward.law import FrictionModel, LoadedModel
from rnea_ros.feedforward.observers import MomentumObserver
from rnea_ros.feedforward.settings import FrictionSettings, Settings, resolve
from support.models.robots import SHIPPED, load, vendor_robots
from support.recorded.real_arms import recording
from support.recorded.simulated_arms import min_eigenvalues

pytest.importorskip('rosbags', reason='rosbags is not installed')

UR10 = vendor_robots('ur10_robot')


@cache
def fitted(name: str, urdf: Path) -> identification.Identification:
    bag = recording(f'{name}_exciting_trajectory.db3')
    model = load(urdf)
    run = identification.load(bag, model, cutoff=5.0 if name == 'panda' else 10.0)
    return identification.identify(model, run)


@pytest.mark.parametrize('urdf', UR10)
def test_the_urdf_of_a_smaller_sibling_fits_and_is_doubted(urdf: Path) -> None:
    doubts = [
        [note for note in fitted('ur10', path).notes if 'URDF of another robot' in note]
        for path in (urdf, SHIPPED[2])
    ]
    assert [len(notes) for notes in doubts] == [0, 2]


@pytest.mark.parametrize(('name', 'urdf'), [
    pytest.param('panda', SHIPPED[1], id='panda'),
    *(pytest.param('ur10', *each.values, id='ur10', marks=each.marks) for each in UR10),
])
def test_free_motion_shows_no_more_than_the_residual(name: str, urdf: Path) -> None:
    fit = fitted(name, urdf)
    (held_out,) = fit.comparison.held_out
    assert ('evenly spaced' in ' '.join(held_out.notes)) is (name == 'panda')
    assert (min_eigenvalues(fit.parameters) > 0.0).all()
    friction = FrictionSettings(
        FrictionModel.PARAMETERS, tuple(fit.friction.viscous[0]), tuple(fit.friction.coulomb[0]),
        tuple(fit.friction.viscous[1]), tuple(fit.friction.coulomb[1]), tuple(fit.friction.load),
        tuple(fit.friction.smoothing_velocity), tuple(fit.friction.offset),
    )
    joints = fit.model.joint_names
    settings = Settings(joints=joints, friction=friction, armature=tuple(fit.armature))
    observer = MomentumObserver(LoadedModel(fit.model).bodies, resolve(settings, fit.model))
    found, command = np.zeros_like(held_out.q), np.zeros(len(joints))
    samples = zip(held_out.q, held_out.qd, held_out.effort, strict=True)
    for k, (q, qd, effort) in enumerate(samples):
        if k == 0 or held_out.segment[k] != held_out.segment[k - 1]:
            observer.reset()
        dt = held_out.time[k] - held_out.time[k - 1] if k else -1.0
        observer.observe(q.copy(), qd.copy(), effort.copy(), command, None, None, dt)
        found[k] = observer.effort
    rms = np.sqrt((found**2).mean(axis=0))
    # 30 to 125 Hz are coarse for a mean of two efforts.
    assert (rms < 1.2 * fit.comparison.identified.rms).all()
