# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The files that ``identify`` writes, judged by an independent program on recordings of real arms.

Pinocchio reads the URDF, yaml the parameters; filter, friction and errors are computed here.
"""

from __future__ import annotations

from pathlib import Path
import re
from typing import Any

import numpy as np
import pytest
from recordings import recording
from robots import ROOT, vendor_robots

from rnea_ros.arrays import Array
from rnea_ros.recordings import read_joint_states
from rnea_ros.tools import identify

pinocchio = pytest.importorskip('pinocchio', reason='Pinocchio (pin) is not installed')
yaml = pytest.importorskip('yaml')

FITTED = 0.7
"""Share of the time that is fitted."""

RATE = 200.0
"""Of the grid of the judgement, Hz."""


class Case:
    """A recording, its URDF, and the greatest errors of its joints, percent."""

    def __init__(
        self, bag: str, urdf: Path, cutoff: float, start: float, ceilings: tuple[float, ...]
    ) -> None:
        self.bag, self.urdf, self.cutoff, self.start = bag, urdf, cutoff, start
        self.ceilings = np.array(ceilings)


def ur10() -> Path:
    (parameter,) = vendor_robots('ur10_robot')
    path = parameter.values[0]
    if path is None:
        pytest.skip('the vendor robots (pip install example-robot-data) are not installed')
    return Path(path)


def case(name: str) -> Case:
    if name == 'panda':
        ceilings: tuple[float, ...] = (44.0, 1.7, 2.3, 1.7, 11.0, 7.5, 19.0)
        urdf = ROOT / 'urdf/panda_arm.urdf'
        return Case('panda_exciting_trajectory.db3', urdf, 5.0, 0.25, ceilings)
    return Case('ur10_exciting_trajectory.db3', ur10(), 10.0, 0.0, (6.5, 3.6, 5.3, 7.6, 10.0, 8.0))


def scaled(urdf: Path, factor: float) -> str:
    """Return a URDF with other masses."""
    text = urdf.read_text(encoding='utf-8')
    return re.sub(
        r'<mass value="([^"]+)"', lambda found: f'<mass value="{factor * float(found[1])}"', text
    )


def held_out(case: Case, joints: list[str]) -> tuple[Array, ...]:
    """Return motion and efforts of the last part of a recording, filtered, shape (N, n)."""
    from scipy.interpolate import CubicSpline
    from scipy.signal import butter, sosfiltfilt

    samples = [s for s in read_joint_states(recording(case.bag)) if s.time >= case.start]
    order = [samples[0].names.index(joint) for joint in joints]
    t = np.array([s.time for s in samples])
    q = np.array([s.position for s in samples])[:, order]
    effort = np.array([s.effort for s in samples])[:, order]
    fresh = np.append([True], np.any(np.diff(q, axis=0) != 0.0, axis=1))
    t, q, effort = t[fresh], q[fresh], effort[fresh]
    # The samples were taken at even intervals; the stamps of the Panda jitter.
    t = np.linspace(t[0], t[-1], len(t))
    grid = np.arange(t[0], t[-1], 1.0 / RATE)
    low_pass = butter(4, case.cutoff, fs=RATE, output='sos')
    q, effort = (
        sosfiltfilt(low_pass, CubicSpline(t, each)(grid), axis=0) for each in (q, effort)
    )
    qd = np.gradient(q, 1.0 / RATE, axis=0)
    qdd = np.gradient(qd, 1.0 / RATE, axis=0)
    edge = grid[[0, -1]] + [0.5, -0.5]
    last = (grid > edge[0] + FITTED * (edge[1] - edge[0])) & (grid < edge[1])
    return q[last], qd[last], qdd[last], effort[last]


def friction(values: dict[str, Any], qd: Array, load: Array) -> Array:
    """Return the friction that the node adds, shape (N, n)."""
    share = np.tanh(qd / values['friction.smoothing_velocity'])
    forwards = np.array(values['friction.coulomb'])
    backwards = np.array(values.get('friction.coulomb_negative', forwards))
    coulomb = np.where(qd > 0.0, forwards, backwards)
    of_load = np.array(values.get('friction.load', [0.0])) * np.abs(load)
    total: Array = values['friction.viscous'] * qd + share * (coulomb + of_load)
    return total


@pytest.mark.parametrize(
    ('name', 'factor'), [('panda', 1.0), ('panda', 0.5), ('ur10', 1.0), ('ur10', 1.5)]
)
def test_the_written_files_predict_the_efforts_that_were_not_fitted(
    name: str, factor: float, tmp_path: Path
) -> None:
    this = case(name)
    source, urdf, parameters = (tmp_path / each for each in ('a.urdf', 'b.urdf', 'b.yaml'))
    source.write_text(scaled(this.urdf, factor), encoding='utf-8')
    arguments = [
        str(recording(this.bag)), '--urdf', str(source), '--cutoff', str(this.cutoff),
        '--write-urdf', str(urdf), '--write-parameters', str(parameters),
    ]  # fmt: skip
    assert identify.main(arguments) == 0
    model = pinocchio.buildModelFromXML(urdf.read_text(encoding='utf-8'))
    values = yaml.safe_load(parameters.read_text(encoding='utf-8'))['/**']['ros__parameters']
    joints = [*model.names][1:]
    assert joints == values['joints']
    q, qd, qdd, effort = held_out(this, joints)
    data = model.createData()
    rigid = np.array([
        pinocchio.rnea(model, data, *each) for each in zip(q, qd, qdd, strict=True)
    ])
    predicted = rigid + values['armature'] * qdd + friction(values, qd, rigid)
    rms = np.sqrt(np.mean((effort - predicted) ** 2, axis=0) / np.mean(effort**2, axis=0))
    assert (100.0 * rms <= this.ceilings).all(), 100.0 * rms
    for body in range(1, model.njoints):
        # The pseudo-inertia is positive definite if mass and second moments about its centre are.
        inertia = model.inertias[body].inertia
        assert model.inertias[body].mass > 0.0
        assert np.linalg.eigvalsh(0.5 * np.trace(inertia) * np.eye(3) - inertia)[0] > 0.0
