# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Torques, loads and external efforts of a folder of Parquet files, by Dask.

Needs distributed (Dask), pyarrow and scipy. Workers of a cluster need the folder under the same
path. External efforts are measured minus modelled: they contain friction that the URDF lacks.
"""

import argparse
from pathlib import Path

from dask.distributed import Client
import numpy as np
import pyarrow as pa
from pyarrow.parquet import write_table

from rnea_ros import RobotModel, identification
from rnea_ros.arrays import Array


def torques(path: Path, model: RobotModel) -> tuple[int, Array, Array]:
    """Write the torques of a file; return rows, squares and largest external effort by joint."""
    run = identification.load(path, model)  # low-pass filtered, with accelerations
    tau = model.inverse_dynamics_batch(run.q, run.qd, run.qdd)
    external = run.effort - tau
    columns = {'time': run.time, 'torque': list(tau), 'external': list(external)}
    write_table(pa.table(columns), path.parent / 'torques' / path.name)
    return len(tau), (tau**2).sum(axis=0), np.abs(external).max(axis=0)


def main(args: list[str] | None = None) -> Array:
    """Print RMS torque and largest external effort of each joint; return them, shape (2, n)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', type=Path)
    parser.add_argument('--urdf', required=True)
    parser.add_argument('--workers', type=int, default=2, help='processes on this computer')
    parser.add_argument('--cluster', help="address of a cluster's scheduler, instead of --workers")
    options = parser.parse_args(args)
    model = RobotModel.from_urdf(options.urdf)
    paths = sorted(options.folder.resolve().glob('*.parquet'))
    (options.folder / 'torques').mkdir(exist_ok=True)
    local = {'n_workers': options.workers, 'threads_per_worker': 1, 'dashboard_address': None}
    with Client(options.cluster, **({} if options.cluster else local)) as client:  # LocalCluster
        results = client.gather(client.map(torques, paths, model=model))
    rows, squares, external = map(np.array, zip(*results, strict=True))
    torque, largest = np.sqrt(squares.sum(axis=0) / rows.sum()), external.max(axis=0)
    for k, (joint, limit) in enumerate(zip(model.joint_names, model.effort_limits, strict=True)):
        name = paths[external[:, k].argmax()].name
        print(f'{joint:20} {torque[k]:6.1f} N m RMS, {torque[k] / limit:4.0%} of the limit; '
              f'external effort up to {largest[k]:.1f} N m in {name}')  # fmt: skip
    return np.array([torque, largest])


if __name__ == '__main__':
    main()
