# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Tables of every make are read like the bag that they came from, or rejected with a way out."""

from collections.abc import Callable, Mapping, Sequence
import json
import os
from pathlib import Path
import sys
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat

from rnea_ros.arrays import Array
from rnea_ros.errors import RneaError
from rnea_ros.identification import load
from rnea_ros.recordings import Kind, Recorded, Recording, RecordingError, read_recordings
from rnea_ros.tools import identify, preflight, replay
from support.models.robots import description
from support.recorded.bags import write_bag
from support.recorded.simulated_arms import THREE_JOINTS, arm_unlike
from support.recorded.simulated_arms import record as record_arm
from support.recorded.synthetic_recordings import ARM, Robot, record
from support.tools import finished

BASE = record(Robot(ARM), Kind.MOTION, 1)
NAMES = BASE.names
N, n = BASE.position.shape
SIGN = np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0])
ZERO = np.array([0.0, 90.0, 0.0, -90.0, 0.0, 180.0, 0.0])
GEAR = np.array([100.0, 100.0, 100.0, 50.0, 50.0, 50.0, 20.0])
GAIN = 0.08  # N m/A at the motor
QUANTITIES = {'q': BASE.position, 'qd': BASE.velocity, 'tau': BASE.effort}


def text(path: Path, header: Sequence[str], table: Array, separator: str) -> None:
    lines = [separator.join(header)] if header else []
    lines += [separator.join(f'{value:.17g}' for value in row) for row in table]
    path.write_text('\n'.join(lines) + '\n')


def numbered_columns(path: Path) -> dict[str, Any]:
    header = ['time', *(f'{word}{k + 1}' for word in QUANTITIES for k in range(n))]
    text(path, header, np.column_stack([BASE.time, *QUANTITIES.values()]), ',')
    return {}


def units_in_names_and_below_them(path: Path) -> dict[str, Any]:
    units = ('s', *n * ['rad'], *n * ['N m'])
    names = ('time', *(f'{word}{k}' for word in ('q', 'tau') for k in range(n)))
    header = [f'{name} [{unit}]' for name, unit in zip(names, units, strict=True)]
    text(path, units, np.column_stack([BASE.time, BASE.position, BASE.effort]), ',')
    rows = [f'{row},NA' for row in path.read_text().splitlines()]
    path.write_text('\n'.join([','.join([*header, 'qd0']), *rows]))
    return {'velocity': n * ['qd0']}


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
    path.write_text(f'# joints{20 * " joint"}\n' + path.read_text())
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
    stamps = pa.array((1e9 * BASE.time).astype(np.int64) + 10**18)
    columns: dict[str, Any] = {'stamp': stamps.cast(pa.timestamp('ns'))}
    columns |= {f'joint_{name}': list(each) for name, each in QUANTITIES.items()}
    __import__('pyarrow.parquet').parquet.write_table(pa.table(columns), path)
    return {}


def check_equal(read: Recorded, expected: Recording = BASE) -> None:
    recording = read.recording.of_joints(NAMES)
    np.testing.assert_allclose(recording.time, expected.time - expected.time[0], atol=1e-6)
    np.testing.assert_allclose(recording.position, expected.position, atol=1e-8)
    np.testing.assert_allclose(recording.effort, expected.effort, atol=1e-6)
    if not np.isnan(recording.velocity).all():
        np.testing.assert_allclose(recording.velocity, expected.velocity, atol=1e-8)


@pytest.mark.parametrize(('name', 'write'), [
    ('a.csv', numbered_columns), ('a.csv', units_in_names_and_below_them),
    ('a.CSV', joint_names_decimal_commas_and_milliseconds),
    ('a.txt', degrees_without_names_and_time), ('a.npz', arrays_with_names),
    ('a.mat', motors_with_milliamperes), ('a.parquet', lists_and_nanoseconds),
])
def test_a_table_is_read_as_the_recording_it_came_from(
    name: str, write: Callable[[Path], Mapping[str, Any]], tmp_path: Path
) -> None:
    path = tmp_path / name
    read, = read_recordings(path, ARM, table=write(path))
    check_equal(read)
    assert (read.columns['velocity'] == []) == (write is motors_with_milliamperes)


@pytest.mark.parametrize('version', [2, 3])
def test_episodes_of_a_lerobot_data_set_are_recordings(version: int, tmp_path: Path) -> None:
    pa = pytest.importorskip('pyarrow')
    parquet = pytest.importorskip('pyarrow.parquet')
    halves = [BASE.part(slice(0, 600)), BASE.part(slice(600, None))]
    labels = [f'{name}.pos' for name in NAMES]
    sizes = {'observation.state': labels, 'observation.effort': {'motors': list(NAMES)},
             'action': labels}  # fmt: skip
    info = {'codebase_version': f'v{version}.0', 'fps': 50,
            'features': {key: {'names': value} for key, value in sizes.items()}}  # fmt: skip
    (tmp_path / 'meta').mkdir()
    (tmp_path / 'meta/info.json').write_text(json.dumps(info))
    (tmp_path / 'data/chunk-000').mkdir(parents=True)
    tables = [pa.table({
        'observation.state': list(half.position), 'observation.effort': list(half.effort),
        'action': list(half.position), 'episode_index': [k] * len(half.time),
        'timestamp': half.time - half.time[0], 'task': ['lift'] * len(half.time),
    }) for k, half in enumerate(halves)]  # fmt: skip
    if version == 2:
        for k, table in enumerate(tables):
            parquet.write_table(table, tmp_path / f'data/chunk-000/episode_{k:06}.parquet')
    else:
        both = pa.concat_tables(tables).drop_columns('timestamp')  # then the rate counts
        parquet.write_table(both, tmp_path / 'data/chunk-000/file-000.parquet')
    read = read_recordings(tmp_path, ARM)
    assert [each.name for each in read] == [f'{tmp_path.name}, episode {k}' for k in (0, 1)]
    for each, half in zip(read, halves, strict=True):
        check_equal(each, half)
    last, = read_recordings(tmp_path, ARM, table={'episodes': 1})
    check_equal(last, halves[1])
    for settings, words in (({'episodes': 5}, 'no episode 5'), ({}, '2 episodes; choose one')):
        with pytest.raises(RecordingError, match=words):
            load(tmp_path, ARM, table=settings)


HEADER = 'time,' + ','.join(f'{word}{k}' for word in ('q', 'tau') for k in range(1, 8))
ROW = ','.join(['0.5'] * 15)


@pytest.mark.parametrize(('content', 'settings', 'words'), [
    (f'{HEADER}\n{ROW}\n{ROW},1', {}, 'line 3: 16 cells, not 15 as above; correct'),
    (f'{HEADER}\n{ROW}\n{ROW[:-3]}abc', {}, "line 3: tau7 is 'abc', not a number; correct"),
    (f'{HEADER[5:]}\n{ROW[4:]}', {}, 'no column of time .*its columns are: q1, .*rate=HZ|rate=HZ'),
    (f'{HEADER}\n{ROW}', {'rate': 0}, 'rate is 0; give a number of Hz above 0'),
    (f'{HEADER}\n{ROW}', {'rate': 'fast'}, "rate is 'fast'; give a number of Hz above 0"),
    (f'{HEADER}\n{ROW}', {'degrees': 'no'}, "degrees is 'no'; give true or false, or one for"),
    (f'{HEADER}\n{ROW}', {'episodes': 0}, 'no episode 0; omit the key episodes'),
    (f'{HEADER}\n2026-01-02 12:00{ROW[3:]}', {}, r'no column of time as a number \(or --table ra'),
    (f'{HEADER.replace("q3", "q2")}\n{ROW}', {}, "two columns 'q2'; give each its own name"),
    (f'{HEADER}\n{ROW}', {'position': 'q1..q8'}, "no column 'q1..q8'; its columns are: time, q1"),
    (f'{HEADER}\n{ROW}', {'position': 'q1..q3'}, '7 columns of effort .* for 3 joints'),
    (f'{HEADER}\n{ROW}', {'sign': [1, 2]}, r'sign is \[1, 2\]; give 1 or -1, or one for'),
    (f'{HEADER}\n{ROW}', {'gear': [0]}, r'gear is \[0\]; give a factor from'),
    (f'{HEADER}\n{ROW}', {'degree': True}, "'degree' is not one of position, velocity"),
    (HEADER.replace('tau', 'load'), {}, 'no row of numbers'),
    (f'{HEADER.replace("tau", "load")}\n{ROW}', {}, 'no columns of effort for 7 joints'),
    (f'{HEADER.replace("q", "theta")}\n{ROW}', {}, 'no columns of position for 7 joints'),
    (f'{HEADER.replace("q3", "q9")}\n{ROW}', {}, 'no clear order of position in q1, q2, q9, q4'),
    (f'{HEADER},b_q1\n{ROW},1', {}, 'no clear order of position in q1, .*, b_q1; .*--table pos'),
    ('', {}, 'no row of numbers'),
])
def test_a_bad_text_is_rejected_with_a_way_out(
    content: str, settings: Mapping[str, Any], words: str, tmp_path: Path
) -> None:
    path = tmp_path / 'a.csv'
    path.write_text(content)
    with pytest.raises(RneaError, match=words):
        read_recordings(path, ARM, table=settings)


def test_bad_files_of_other_makes_are_rejected_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects, lengths, none = (tmp_path / f'{name}.npz' for name in 'oln')
    np.savez(objects, q=np.array([{}]), time=BASE.time)
    np.savez(lengths, time=BASE.time[:-1], q=BASE.position, tau=BASE.effort)
    (tmp_path / 'n.mat').write_bytes(b'MATLAB 5.0'.ljust(200))
    (tmp_path / 'v.mat').write_bytes(b'MATLAB 7.3'.ljust(124) + b'\x00\x02IM' + bytes(400))
    os.mkfifo(tmp_path / 'pipe.csv')
    (tmp_path / 'large.csv').touch()
    os.truncate(tmp_path / 'large.csv', 5_000_000_000)
    (tmp_path / 'robot/meta').mkdir(parents=True)
    (tmp_path / 'robot/meta/info.json').write_text('{}')
    (tmp_path / 'l.yaml').write_text('/**: {ros__parameters: {rate: 1}}')
    for path, words in (
        (objects, 'save it again as arrays'), (lengths.with_suffix('.yaml'), 'not a bag'),
        (lengths, r"'/\*\*' is not one of.*rename l.yaml if"), (none, 'does not exist'),
        (tmp_path / 'v.mat', r"v7\.3 files.* '-v7'"),
        (tmp_path / 'n.mat', 'cannot be read'), (tmp_path / 'pipe.csv', 'pipe or device'),
        (tmp_path / 'large.csv', 'over 4 GB; .* cut'), (tmp_path / 'robot', 'download the whole'),
    ):
        with pytest.raises(RneaError, match=words):
            read_recordings(path, ARM)
    (tmp_path / 'l.yaml').unlink()
    with pytest.raises(RecordingError, match=r'differ in length: tau\[6\] 1251.*time 1250; cut'):
        read_recordings(lengths, ARM)
    monkeypatch.setitem(sys.modules, 'pyarrow.parquet', None)
    (tmp_path / 'a.parquet').touch()
    with pytest.raises(RecordingError, match='pip install pyarrow'):
        read_recordings(tmp_path / 'a.parquet', ARM)


def test_a_bag_of_ros_1_is_read(tmp_path: Path) -> None:
    rosbag1 = pytest.importorskip('rosbags.rosbag1')
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC)
    kinds = ('sensor_msgs/msg/JointState', 'std_msgs/msg/Header', 'builtin_interfaces/msg/Time')
    state, header, stamp = (store.types[kind] for kind in kinds)
    with rosbag1.Writer(tmp_path / 'a.bag') as writer:
        connection = writer.add_connection('/joint_states', kinds[0], typestore=store)
        for k in range(len(BASE.time)):
            at = stamp(*divmod(10**18 + round(1e9 * BASE.time[k]), 10**9))
            rows = (BASE.position[k], BASE.velocity[k], BASE.effort[k])
            message = state(header(k, at, ''), list(NAMES), *rows)
            writer.write(connection, 10**18, store.serialize_ros1(message, kinds[0]))
    read, = read_recordings(tmp_path / 'a.bag', ARM)
    check_equal(read)


def test_the_tools_say_the_same_of_a_table_and_of_its_bag(tmp_path: Path) -> None:
    urdf, model = tmp_path / 'a.urdf', THREE_JOINTS
    urdf.write_text(description(model).text)
    arm = record_arm(arm_unlike(model, 1), 1, 25.0)
    write_bag(tmp_path / 'bag', arm, 'SQLITE3')
    header = ['time', *(f'{name}_{each}' for each in ('q', 'qd', 'tau') for name in arm.names)]
    stamps = [10**9 + nanoseconds // 10**9 + 1e-9 * (nanoseconds % 10**9)
              for nanoseconds in np.round(1e9 * arm.time).astype(int)]  # fmt: skip
    columns = (np.array(stamps), arm.position, arm.velocity, arm.effort)
    text(tmp_path / 'a.csv', header, np.column_stack(columns), ',')
    for tool in (identify, preflight, replay):
        bag, table = (
            finished(tool.main, tmp_path / name, '--urdf', urdf).stdout.replace(name, 'NAME')
            for name in ('bag', 'a.csv')
        )
        assert 'lift' in bag
        assert [line for line in table.splitlines() if not line.startswith('fitting: ')] == [
            line for line in bag.splitlines() if not line.startswith('fitting: ')
        ]
