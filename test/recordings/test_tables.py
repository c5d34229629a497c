# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Tables of every make are read like the bag that they came from, or rejected with a way out."""

from collections.abc import Callable, Mapping
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat

from rnea_ros.arrays import Array
from rnea_ros.errors import RneaError
from rnea_ros.recordings import Kind, Recording, read_recordings
from support.recorded.synthetic_recordings import ARM, Robot, record

BASE = record(Robot(ARM), Kind.MOTION, 1)
NAMES = BASE.names
N, n = BASE.position.shape
SIGN = np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0])
ZERO = np.array([0.0, 90.0, 0.0, -90.0, 0.0, 180.0, 0.0])
GEAR = np.array([100.0, 100.0, 100.0, 50.0, 50.0, 50.0, 20.0])
GAIN = 0.08  # N m/A at the motor
QUANTITIES = {'q': BASE.position, 'qd': BASE.velocity, 'tau': BASE.effort}


def text(path: Path, header: list[str], table: Array, separator: str) -> None:
    lines = [separator.join(header)] if header else []
    lines += [separator.join(f'{value:.16g}' for value in row) for row in table]
    path.write_text('\n'.join(lines) + '\n')


def numbered_columns(path: Path) -> dict[str, Any]:
    header = ['time', *(f'{word}{k + 1}' for word in QUANTITIES for k in range(n))]
    text(path, header, np.column_stack([BASE.time, *QUANTITIES.values()]), ',')
    return {}


def joint_names_decimal_commas_and_milliseconds(path: Path) -> dict[str, Any]:
    words = dict(zip(('position', 'velocity', 'effort'), QUANTITIES.values(), strict=True))
    order = np.random.default_rng(0).permutation(n)
    header = ['stamp [ms]', *(f'{NAMES[k]}_{word}' for k in order for word in words)]
    columns = [values[:, k] for k in order for values in words.values()]
    text(path, header, np.column_stack([1.7e12 + 1000.0 * BASE.time, *columns]), ';')
    lines = path.read_text().replace('.', ',').splitlines()
    path.write_text('\n'.join([f'{lines[0]};state', *(f'{each};moving' for each in lines[1:])]))
    return {}


def degrees_without_names_and_time(path: Path) -> dict[str, Any]:
    position = (np.degrees(BASE.position) - ZERO) * SIGN
    velocity = np.degrees(BASE.velocity) * SIGN
    text(path, [], np.column_stack([position, velocity, BASE.effort * SIGN]), ' ')
    path.write_text('# a comment, 50 Hz\n' + path.read_text())
    path.with_suffix('.yaml').write_text(
        'position: 1..7\nvelocity: 8..14\neffort: 15..21\nrate: 50\ndegrees: false\n'
        f'sign: {SIGN.astype(int).tolist()}\noffset: {ZERO.tolist()}\n'
    )
    return {'degrees': True}  # in place of the file's


def arrays_with_names(path: Path) -> dict[str, Any]:
    np.savez(path, time=BASE.time, position=BASE.position.T, velocity=BASE.velocity.T,
             effort=BASE.effort.T, names=np.array(NAMES))  # fmt: skip
    return {}


def motors_with_milliamperes(path: Path) -> dict[str, Any]:
    motor = {'t': BASE.time, 'theta': GEAR * BASE.position,
             'current': 1e3 * BASE.effort / GEAR / GAIN}  # fmt: skip
    savemat(path, {'log': motor, 'log_target': {'theta': motor['theta']}})
    return {'position': 'log.theta', 'gear': GEAR, 'effort_scale': 1e-3 * GAIN}


def lists_and_nanoseconds(path: Path) -> dict[str, Any]:
    pa = pytest.importorskip('pyarrow')
    columns: dict[str, Any] = {'stamp': pa.array((1e9 * BASE.time).astype(np.int64) + 10**18)}
    columns |= {f'joint_{name}': list(each) for name, each in QUANTITIES.items()}
    __import__('pyarrow.parquet').parquet.write_table(pa.table(columns), path)
    return {}


@pytest.mark.parametrize(('name', 'write'), [
    ('a.csv', numbered_columns), ('a.CSV', joint_names_decimal_commas_and_milliseconds),
    ('a.txt', degrees_without_names_and_time), ('a.npz', arrays_with_names),
    ('a.mat', motors_with_milliamperes), ('a.parquet', lists_and_nanoseconds),
])
def test_a_table_is_read_as_the_recording_it_came_from(
    name: str, write: Callable[[Path], Mapping[str, Any]], tmp_path: Path
) -> None:
    path = tmp_path / name
    read, = read_recordings(path, ARM, table=write(path))
    recording = read.recording.of_joints(NAMES)
    np.testing.assert_allclose(recording.time, BASE.time, atol=1e-6)
    np.testing.assert_allclose(recording.position, BASE.position, atol=1e-8)
    np.testing.assert_allclose(recording.effort, BASE.effort, atol=1e-6)
    if write is not motors_with_milliamperes:
        np.testing.assert_allclose(recording.velocity, BASE.velocity, atol=1e-8)
