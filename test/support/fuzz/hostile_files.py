# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Files for the tools, good and bad: bags, URDFs, trajectories, parameter files."""

from dataclasses import replace
from functools import cache
import itertools
from pathlib import Path
import shutil
from typing import Any

import numpy as np

from rnea_ros.recordings import Kind, Recording
from support.models.robots import SHIPPED, joint, link, load, robot
from support.recorded.bags import write_bag, write_efforts
from support.recorded.synthetic_recordings import Robot, record

JOINTS = ('shoulder', 'elbow')

LONG = 300 * 'x'
"""A name that no file can have."""

NUMBERS = {
    'nan': np.nan, 'infinite': np.inf, 'far': 1e300, 'near': 1e-300, 'zero': 0.0, 'large': 1e8,
    'root': -1.5e154,
}
ROWS = {'all': slice(None), 'one': 200, 'few': slice(300, 310)}


def arm(
    mass: float | None = 2.0, joints: tuple[str, str] = JOINTS, kind: str = 'revolute',
    length: float = 0.4,
) -> str:
    """Return the URDF of an arm of two joints."""
    first, second = joints
    y = (0, 1, 0)
    return robot(
        link('base'), link('upper', mass, (0.2, 0.02, 0.1)),
        link('lower', mass, (0.25, -0.01, 0.0)), joint(first, 'revolute', 'base', 'upper', axis=y),
        joint(second, kind, 'upper', 'lower', axis=y, xyz=(length, 0, 0)),
    )


URDFS = {
    'arm': arm(), 'no_inertials': arm(None), 'massless': arm(0.0), 'heavy': arm(1e300),
    'light': arm(1e-300), 'dense': arm(1e30), 'long': arm(length=1e300),
    'endless': arm().replace('upper="3"', 'upper="1e300"').replace('"100"', '"1e308"'),
    'unlimited': arm().replace('velocity="2" effort="100"', 'velocity="0" effort="0"'),
    'negative': arm(-1.0), 'infinite': arm(np.inf), 'other_joints': arm(joints=('left', 'right')),
    'sliding': arm(kind='prismatic'), 'spinning': arm(kind='continuous'),
    'fixed': arm(kind='fixed'), 'floating': arm(kind='floating'), 'broken': arm()[:-40],
    'empty': '', 'text': 'no robot', 'bodyless': '<robot name="r"><link name="base"/></robot>',
}

POINT = '- {{positions: [{0}, 0.2], velocities: [0, 0], time_from_start: {{sec: {1}}}}}'


def trajectory(position: str = '0.5', time: str = '2') -> str:
    """Return a trajectory in YAML, with a position and a time of its last point."""
    points = [POINT.format('0.1', '0'), POINT.format('0.4', '1'), POINT.format(position, time)]
    return '\n'.join([f'joint_names: [{", ".join(JOINTS)}]', 'points:', *points]) + '\n'


def parameters(text: str) -> str:
    return f'/**:\n  ros__parameters:\n    {text}\n'


YAMLS = {
    'good': trajectory(), 'fast': trajectory('2.9', '1.00001'), 'far': trajectory('1e300'),
    'infinite': trajectory('.inf'), 'not_a_number': trajectory('.nan'),
    'late': trajectory(time='1e300'), 'early': trajectory(time='-1'), 'empty': '',
    'open': 'points: [', 'deep': 1000 * '[', 'aliases': 'a: &a [1]\nb: *a\n',
    'nameless': 'joint_names: []\npoints: []\n', 'binary': '\x00\x01',
    'parameters': parameters('{friction.model: parameters, friction.viscous: [0.1]}'),
    'huge': parameters('{friction.model: parameters, friction.viscous: [1e300]}'),
    'unknown': parameters('no_such_parameter: 1'),
}


def write_files(folder: Path) -> list[str]:
    """
    Write files: ``*.urdf``, ``*.yaml``, and bags with and without suffix.

    :return: names of all files; :func:`write_recording` writes the others, the bad recordings
    """
    for suffix, texts in (('urdf', URDFS), ('yaml', YAMLS)):
        for name, text in texts.items():
            (folder / f'{name}.{suffix}').write_text(text, encoding='utf-8')
    shutil.copy(SHIPPED[1], folder / 'another.urdf')
    for name in ('motion', 'poses'):
        write_recording(folder, name)
    write_bag(folder / 'mcap', recordings()['poses'].part(slice(100)), 'MCAP')
    efforts = np.cumsum(np.ones((50, 2)), axis=0)
    topics = ('/feedforward/terms/gravity', '/feedforward/effort', '/joint_states')
    write_efforts(folder / 'terms', dict.fromkeys(topics, (JOINTS, efforts)), 'SQLITE3')
    write_efforts(folder / 'two_topics', {'/a': (JOINTS, efforts), '/b': (JOINTS, efforts)},
                  'SQLITE3')
    write_efforts(folder / 'without_names', {'/joint_states': ((), efforts[:, :0])}, 'SQLITE3')
    _write_broken_bags(folder)
    return sorted({*recordings(), *(path.name for path in folder.iterdir())})


def write_recording(folder: Path, name: str) -> None:
    """Write a bag of :func:`recordings` unless it exists; any other name has no effect."""
    if name in recordings() and not (folder / name).exists():
        write_bag(folder / name, recordings()[name], 'SQLITE3')


@cache
def recordings() -> dict[str, Recording]:
    """Return recordings by name; those of bad numbers have them in one column or sample."""
    motion, poses = (
        record(Robot(load(arm()), noise=0.02), kind, 3) for kind in (Kind.MOTION, Kind.STILL)
    )
    random, time = np.random.default_rng(5), motion.time
    found = {'motion': motion, 'poses': poses}
    fields = ('position', 'velocity', 'effort')
    for name, field, which in itertools.product(NUMBERS, fields, ROWS):
        changed = getattr(motion, field).copy()
        changed[ROWS[which], -1] = NUMBERS[name]
        found[f'{name}_{field}_{which}'] = replace(motion, **{field: changed})
    for name, value in NUMBERS.items():
        both = np.full_like(motion.position, value)
        found[f'{name}_everywhere'] = replace(motion, position=both, velocity=both, effort=both)
    nothing = np.zeros((len(time), 0))
    for field in fields:
        without: dict[str, Any] = {field: nothing}
        found[f'without_{field}'] = replace(motion, **without)
    for name, count in (
        ('empty', 0), ('single', 1), ('pair', 2), ('ten', 10), ('second', 50), ('seven', 350),
    ):
        found[name] = motion.part(slice(count))
    for name, times in (
        ('duplicate_stamps', np.floor(time / 0.1) * 0.1), ('same_stamps', np.zeros_like(time)),
        ('backward', time[::-1].copy()), ('shuffled', random.permutation(time)),
        ('gap', time + 1e9 * (time > 12.0)), ('fast', time / 2e5), ('slow', 10.0 * time),
    ):
        found[name] = replace(motion, time=times)
    jumps = motion.position + (np.arange(len(time)) > 500)[:, np.newaxis]
    return found | {
        'other': replace(motion, names=('a', 'b')),
        'twice': replace(motion, names=('shoulder', 'shoulder')),
        'jumps': replace(motion, position=jumps),
        'noise': replace(motion, effort=random.normal(size=motion.effort.shape)),
        'inverted': replace(motion, effort=-motion.effort),
    }


def _write_broken_bags(folder: Path) -> None:
    """Write bags that cannot be read, or not to their end."""
    random = np.random.default_rng(7)
    for source in ('motion', 'mcap', 'terms'):
        file = next(path for path in (folder / source).iterdir() if path.suffix != '.yaml')
        data = file.read_bytes()
        shutil.copy(file, folder / f'{source}_alone{file.suffix}')
        for share in (0.01, 0.3, 0.9, 0.999):
            cut = folder / f'{source}_cut_{share}{file.suffix}'
            cut.write_bytes(data[: int(share * len(data))])
        for count in (1, 100, 10000):
            dirty = bytearray(data)
            for place in random.integers(100, len(data), count).tolist():
                dirty[place] = 255 - dirty[place]
            (folder / f'{source}_dirty_{count}{file.suffix}').write_bytes(dirty)
        for name, text in (
            ('none', None), ('void', ''), ('garbage', 'a: [b'), ('number', '1'),
            ('version', 'rosbag2_bagfile_information: {version: 99}'),
        ):  # fmt: skip
            copy = folder / f'{source}_metadata_{name}'
            shutil.copytree(folder / source, copy)
            (copy / 'metadata.yaml').unlink()
            if text is not None:
                (copy / 'metadata.yaml').write_text(text, encoding='utf-8')
    for suffix in ('db3', 'mcap', 'bag'):
        (folder / f'void.{suffix}').touch()
        (folder / f'text.{suffix}').write_text('not a bag', encoding='utf-8')
    for name in ('folder', 'folder.db3'):
        (folder / name).mkdir()
    shutil.copytree(folder / 'motion', folder / 'lost')
    next((folder / 'lost').glob('*.db3')).unlink()
