# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The example of Dask finds torques and external efforts of files, in two worker processes."""

from contextlib import ExitStack
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from support.models.robots import SHIPPED, load

UR5E = load(SHIPPED[2])
PUSH = 7.0  # N m at the joint 1, in the last file
T = np.arange(0.0, 8.0, 0.01)
INNER = slice(50, -50)  # without the ends that the filter cuts


@pytest.mark.parametrize('own_cluster', [False, True])
def test_two_workers_find_loads_and_the_largest_external_effort(
    own_cluster: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    distributed = pytest.importorskip('distributed', reason='Dask is not installed')
    pa = pytest.importorskip('pyarrow', reason='pyarrow is not installed')
    parquet = pytest.importorskip('pyarrow.parquet')
    pytest.importorskip('scipy', reason='scipy is not installed')
    torques = []
    for number in range(4):
        w, phase = 1.0 + 0.3 * number, np.arange(6.0)
        angle = w * T[:, np.newaxis] + phase
        q, qd, qdd = 0.5 * np.sin(angle), 0.5 * w * np.cos(angle), -0.5 * w * w * np.sin(angle)
        torques.append(UR5E.inverse_dynamics_batch(q, qd, qdd))
        effort = torques[-1] + PUSH * (np.arange(6) == 1) * (number == 3)
        columns = {'time': T, 'q': list(q), 'qd': list(qd), 'tau': list(effort)}
        parquet.write_table(pa.table(columns), tmp_path / f'{number}.parquet')
    options = [str(tmp_path), '--urdf', str(SHIPPED[2])]
    with ExitStack() as stack:
        if own_cluster:
            workers = {'n_workers': 2, 'threads_per_worker': 2, 'dashboard_address': None}
            cluster = stack.enter_context(distributed.LocalCluster(**workers))
            options += ['--cluster', cluster.scheduler_address]
        torque, external = import_module('batch_on_dask').main(options)
    rms = np.sqrt(np.mean([tau[INNER] ** 2 for tau in torques], axis=(0, 1)))
    np.testing.assert_allclose(torque, rms, rtol=0.01)
    np.testing.assert_allclose(external, PUSH * (np.arange(6) == 1), atol=0.2)
    assert 'shoulder_lift_joint' in capsys.readouterr().out
    written = parquet.read_table(tmp_path / 'torques' / '3.parquet').to_pydict()
    rows = np.searchsorted(T, np.array(written['time']) - 1e-6)
    np.testing.assert_allclose(np.array(written['torque']), torques[3][rows], atol=0.2)
