# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Identified models of real arms, on the last 30 % of the time, which was not fitted."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rnea_ros import RobotModel, identification
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
