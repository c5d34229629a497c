# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Files, good, bad and with random faults: bags, URDFs, trajectories, parameter files."""

from contextlib import closing
from dataclasses import replace
from functools import cache
from importlib import import_module
import itertools
import os
from pathlib import Path
from random import Random
import re
import shutil
import sqlite3
import struct
from typing import Any

import numpy as np

from rnea_ros.recordings import Kind, Recording
from rnea_ros.recordings.bags import MCAP
from support.models.robots import SHIPPED, joint, link, load, robot
from support.recorded.bags import write_bag, write_efforts
from support.recorded.synthetic_recordings import Robot, record

JOINTS = ('shoulder', 'elbow')
LONG = 300 * 'x'  # a name that no file can have
INJECTED = '__attribute__((constructor)) void injected(void) {}'


def arm(mass: float = 2.0, kind: str = 'revolute') -> str:
    """Return the URDF of an arm of two joints."""
    y = (0, 1, 0)
    return robot(
        link('base'), link('upper', mass, (0.2, 0.02, 0.1)),
        link('lower', mass, (0.25, -0.01, 0.0)),
        joint('shoulder', 'revolute', 'base', 'upper', axis=y),
        joint('elbow', kind, 'upper', 'lower', axis=y, xyz=(0.4, 0, 0)),
    )


URDFS = {
    'arm': arm(), 'massless': arm(0.0), 'heavy': arm(1e300), 'light': arm(1e-300),
    'endless': arm().replace('upper="3"', 'upper="1e300"').replace('"100"', '"1e308"'),
    'unlimited': arm().replace('velocity="2" effort="100"', 'velocity="0" effort="0"'),
    'broken': arm()[:-40], **{kind: arm(kind=kind) for kind in ('prismatic', 'continuous')},
    'swapped': arm().replace('upper="3"', 'upper="-9"'),
    'named': arm().replace('"upper', f'"{LONG}'),
    'forged': arm().replace('"elbow', '"elbow&#10;FORGED: fine&#x9b;2J'),
    'injected': arm().replace('"elbow', f'"elbow */ {INJECTED} /*').replace('"robot', '"r\\'),
    'turned': arm().replace('<mass', '<origin quat_xyzw="0 0.7 0 0.7"/><mass'),
    'mimic': arm().replace('</joint>', '<mimic joint="elbow" multiplier="9"/></joint>', 1),
    **{f'shape_{number}': arm().replace(
        '</link>', f'<collision><geometry><{shape}/></geometry></collision></link>'
    ) for number, shape in enumerate((
        'box size="0.1 0.1 0.1"', 'box size="0 0 0"', 'sphere radius="nan"', 'x',
        'cylinder radius="-1" length="1e300"', f'mesh filename="{LONG}.stl"',
        *(f'mesh filename="{name}"' for name in ('deep.dae', 'absurd.obj', 'text.stl', 'folder')),
    ))},
}

XACRO = '<robot name="r" xmlns:xacro="http://wiki.ros.org/xacro">%s</robot>'
OTHERS = {
    'macros.xacro': XACRO % '<xacro:macro name="m" params=""><link name="a"/></xacro:macro>',
    'bomb.xacro': XACRO % '<link name="${9**9**9}"/>',
    'endless.xacro': XACRO % '<xacro:macro name="m" params=""><xacro:m/></xacro:macro><xacro:m/>',
    'deep.dae': '<COLLADA><library_visual_scenes>' + 3000 * '<node>', 'text.stl': 'solid',
    'absurd.obj': 'v 0 0 0\nf 1 2 999999999\nf -5 0 x\n',
}


def trajectory(position: str = '0.5', time: str = '2') -> str:
    """Return a trajectory in YAML, with a position and a time of its last point."""
    points = ''.join(
        f'- {{positions: [{q}, 0.2], velocities: [0, 0], time_from_start: {{sec: {t}}}}}\n'
        for q, t in (('0.1', '0'), ('0.4', '1'), (position, time))
    )
    return f'joint_names: [{", ".join(JOINTS)}]\npoints:\n{points}'


def bomb(repeated: str) -> str:
    """Return YAML whose values repeat earlier ones 20 times: 20^6 in all; ``%s`` are aliases."""
    lines = ['a: &a {b: 1, c: 2}', *(
        f'{name}: &{name} {repeated % ", ".join(20 * [f"*{before}"])}'
        for before, name in itertools.pairwise('adefghi')
    )]
    return '\n'.join(lines)


PARAMETERS = '/**: {ros__parameters: {friction.model: parameters, friction.viscous: [%s]}}\n'
YAMLS = {
    'good': trajectory(), 'fast': trajectory('2.9', '1.00001'), 'far': trajectory('1e300'),
    'infinite': trajectory('.inf'), 'late': trajectory(time='1e300'),
    'deep': 40_000 * '[', 'bomb': bomb('{<<: [%s]}'), 'date': trajectory('2001-99-99'),
    'digits': trajectory(5000 * '9'), 'twice': trajectory() * 2,
    'parameters': PARAMETERS % 0.1, 'huge': PARAMETERS % 1e300,
    'unknown': '/**: {ros__parameters: {no_such_parameter: 1}}\n',
}


def write_files(folder: Path) -> list[str]:
    """
    Write files: ``*.urdf``, ``*.yaml``, and bags with and without suffix.

    :return: names of all files; :func:`write_recording` writes the others, the bad recordings
    """
    for suffix, texts in (('urdf', URDFS), ('yaml', YAMLS)):
        for name, text in texts.items():
            (folder / f'{name}.{suffix}').write_text(text, encoding='utf-8')
    for name, text in OTHERS.items():
        (folder / name).write_text(text, encoding='utf-8')
    shutil.copy(SHIPPED[1], folder / 'another.urdf')
    for name in ('motion', 'poses'):
        write_recording(folder, name)
    write_bag(folder / 'mcap', recordings()['poses'].part(slice(100)), 'MCAP')
    efforts = dict.fromkeys(('/a', '/b'), (JOINTS, np.cumsum(np.ones((50, 2)), axis=0)))
    write_efforts(folder / 'two', efforts, 'SQLITE3')
    _write_broken_bags(folder)
    return sorted({*recordings(), *(path.name for path in folder.iterdir())})


ATTRIBUTE = re.compile(r'\s[\w:.-]+\s*=\s*("[^"]*"|\'[^\']*\')')
TAG = re.compile(r'<[^<>]*>')
ELEMENT = re.compile(r'<(\w+)\b[^<>]*/>|<(\w+)\b[^<>]*>.*?</\2>', re.DOTALL)
NUMBER = re.compile(r'-?\d+\.?\d*(?:[eE][-+]?\d+)?')

VALUES = (
    '', '0', '-1', '1', '1e308', '-1e308', '1e-320', 'nan', 'inf', '1e400', 'x', '0 0 0', '0 0',
    '1e308 -1e308 1e308', '1_0', '\uff11', 'fixed', 'floating', 'planar', 'prismatic',
    'continuous', 'link_0', 'joint_1', '&lt;', '&#0;', '\u0000', '\ud800', '${pi}', 'a' * 5000,
)
STRETCHES = (
    '<', '>', '/', '"', '&', ']]>', '<![CDATA[', '<!--', '?>', '<!DOCTYPE r [<!ENTITY a "b">]>',
    '\x00', '<?xml version="1.0" encoding="utf-16"?>', ' xmlns="a"', ' xacro:a="b"', '<x:link',
    '<xacro:if value="1">', '<a>' * 300, '<link name="lone"/>', '<axis xyz="0 0 0"/>',
    '<inertial/>',
)
FACTORS = (-1.0, 0.0, 1e-300, 1e30, 1e160, 1e300)


def mutated(random: Random, text: str, other: str) -> str:
    """Return a robot's text with one to four faults, some of them parts of another URDF."""
    for _ in range(random.choice((1, 1, 2, 4))):
        text = _mutation(random, text, other)
    return text


def _mutation(random: Random, text: str, other: str) -> str:
    def span(pattern: re.Pattern[str], of: str = text, group: int = 0) -> tuple[int, int]:
        """Return a random match near a random place; an empty span where there is none."""
        start = random.randrange(len(of) + 1)
        match = pattern.search(of, start) or pattern.search(of)
        return match.span(group) if match else (start, start)

    def replaced(place: tuple[int, int], new: str) -> str:
        return text[: place[0]] + new + text[place[1] :]

    value, element = span(ATTRIBUTE, group=1), span(ELEMENT)
    attribute, number, tag = map(span, (ATTRIBUTE, NUMBER, TAG))
    place = random.randrange(len(text) + 1)
    inside = text[slice(*element)][:2000]
    (a, b), (c, d) = sorted((value, span(ATTRIBUTE, group=1)))
    scaled = float(text[slice(*number)] or 0.0) * random.choice(FACTORS)
    return random.choice((
        *3 * [replaced(value, f'"{random.choice(VALUES)}"')],
        replaced(attribute, random.choice((0, 2)) * text[slice(*attribute)]),
        *2 * [text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:] if b <= c else text],
        *2 * [replaced(number, repr(scaled))],
        replaced(element, random.choice((0, 2, 50)) * inside),
        replaced((tag[0], tag[0]), inside),
        replaced((tag[0], tag[0]), other[slice(*span(ELEMENT, other))]),
        replaced((place, min(place + random.randrange(40), len(text))), random.choice(STRETCHES)),
        replaced((tag[1], tag[1]), random.choice(STRETCHES)),
        random.choice((text[:place], text[place:])),
    ))


def write_random_files(random: Random, folder: Path) -> list[str]:
    """Write a URDF, YAML and a bag with random faults; return their names."""
    urdfs = [*URDFS.values(), *(path.read_text(encoding='utf-8') for path in SHIPPED[:2])]
    for suffix, texts in (('urdf', urdfs), ('yaml', [*YAMLS.values()])):
        text = mutated(random, random.choice(texts)[:10**6], random.choice(texts)[:10**6])
        (folder / f'random.{suffix}').write_text(text, encoding='utf-8', errors='replace')
    source = random.choice([*(folder / 'motion').glob('*.db3'), *(folder / 'mcap').glob('*.mcap')])
    data = bytearray(source.read_bytes())
    for _ in range(random.choice((1, 1, 10, 100))):
        place, other = random.randrange(len(data)), random.randrange(len(data))
        length = random.choice((1, 4, 100))
        data[place : place + length] = random.choice((
            random.randbytes(length), length * b'\xff', data[other : other + length],
        ))
    (folder / f'random{source.suffix}').write_bytes(data)
    return ['random.urdf', 'random.yaml', f'random{source.suffix}']


def write_recording(folder: Path, name: str) -> None:
    """Write a bag of :func:`recordings` unless it exists; any other name has no effect."""
    if name in recordings() and not (folder / name).exists():
        write_bag(folder / name, recordings()[name], 'SQLITE3')


@cache
def recordings() -> dict[str, Recording]:
    """Return recordings by name; those of bad numbers have them in some samples or all."""
    motion, poses = (
        record(Robot(load(arm()), noise=0.02), kind, 3) for kind in (Kind.MOTION, Kind.STILL)
    )
    time, count = motion.time, len(motion.time)
    numbers = {'nan': np.nan, 'infinite': np.inf, 'far': 1e300, 'near': 1e-300}
    rows = {'all': slice(None), 'few': slice(300, 310)}
    changes: dict[str, dict[str, Any]] = {
        'duplicate_stamps': {'time': np.floor(time / 0.1) * 0.1},
        'same_stamps': {'time': np.zeros(count)}, 'backward': {'time': time[::-1].copy()},
        'gap': {'time': time + 1e9 * (time > 12.0)}, 'fast': {'time': time / 2e5},
        'twice': {'names': ('shoulder', 'shoulder')}, 'other': {'names': ('a', 'b')},
        'forged': {'names': ('a\nfine: nothing wrong', 'b\x1b[2J')},
        'jumps': {'position': motion.position + (np.arange(count) > 500)[:, np.newaxis]},
    }
    for field in ('position', 'velocity', 'effort'):
        changes[f'without_{field}'] = {field: np.zeros((count, 0))}
        for name, which in itertools.product(numbers, rows):
            changed = getattr(motion, field).copy()
            changed[rows[which], -1] = numbers[name]
            changes[f'{name}_{field}_{which}'] = {field: changed}
    lengths = {'empty': 0, 'single': 1, 'ten': 10, 'second': 50}
    return {
        'motion': motion, 'poses': poses,
        **{name: motion.part(slice(length)) for name, length in lengths.items()},
        **{name: replace(motion, **fields) for name, fields in changes.items()},
    }


def _write_broken_bags(folder: Path) -> None:
    """Write bags that cannot be read, or not to their end."""
    random = np.random.default_rng(7)
    for source in ('motion', 'mcap'):
        file = next(path for path in (folder / source).iterdir() if path.suffix != '.yaml')
        data = file.read_bytes()
        for share in (0.3, 0.9):
            cut = folder / f'{source}_cut_{share}{file.suffix}'
            cut.write_bytes(data[: int(share * len(data))])
        for count in (1, 100, 10000):
            dirty = bytearray(data)
            for place in random.integers(100, len(data), count).tolist():
                dirty[place] = 255 - dirty[place]
            (folder / f'{source}_dirty_{count}{file.suffix}').write_bytes(dirty)
        for name, text in (('none', None), ('void', ''), ('number', '1')):
            copy = folder / f'{source}_metadata_{name}'
            shutil.copytree(folder / source, copy)
            (copy / 'metadata.yaml').unlink()
            if text is not None:
                (copy / 'metadata.yaml').write_text(text, encoding='utf-8')
    for suffix in ('db3', 'mcap'):
        (folder / f'void.{suffix}').touch()
        (folder / f'text.{suffix}').write_text('not a bag', encoding='utf-8')
    for name in ('folder', 'folder.db3'):
        (folder / name).mkdir()
    shutil.copytree(folder / 'motion', folder / 'lost')
    next((folder / 'lost').glob('*.db3')).unlink()
    _write_bombs(folder)
    for name, text in (YAMLS | {'long': 100_001 * 'a: 1\n'}).items():
        shutil.copytree(folder / 'motion_metadata_none', folder / f'metadata_{name}')
        (folder / f'metadata_{name}' / 'metadata.yaml').write_text(text, encoding='utf-8')
    for path in ('pipe.db3', 'pipe.mcap', 'pipe.yaml', 'pipe.urdf', 'lost/motion.db3'):
        os.mkfifo(folder / path)


def _write_bombs(folder: Path) -> None:
    """Write bags in which a chunk, the file or each message unpacks to 3 GB; one of 25 MB each."""
    large = import_module('rosbags.rosbag2.reader').zstd.compress(bytes(24 * 2**20))
    packed = 128 * large
    for name, mode, data in (
        ('bomb_message', 'message', packed), ('bomb_large', 'message', large),
        ('bomb_file', 'file', packed),
    ):
        write_bag(folder / name, recordings()['ten'], 'SQLITE3')
        file, metadata = folder / name / f'{name}.db3', folder / name / 'metadata.yaml'
        with closing(sqlite3.connect(file)) as database, database:
            database.execute('UPDATE messages SET data = ?', (data,))
        if mode == 'file':
            file.write_bytes(data)
        text = metadata.read_text(encoding='utf-8')
        text = text.replace("compression_mode: ''", f'compression_mode: {mode}')
        text = text.replace("compression_format: ''", 'compression_format: zstd')
        metadata.write_text(text, encoding='utf-8')

    def text_of(word: str) -> bytes:
        return struct.pack('<I', len(word)) + word.encode()

    records = (
        (1, text_of('ros2') + text_of('')),
        (3, b'\1\0' + b''.join(map(text_of, ('sensor_msgs/msg/JointState', 'ros2msg', '')))),
        (4, b'\1\0\1\0' + b''.join(map(text_of, ('/joint_states', 'cdr', '')))),
        (6, struct.pack('<QQQI', 0, 1, 3 * 2**30, 0) + text_of('zstd')
         + struct.pack('<Q', len(packed)) + packed),
        (15, bytes(4)), (2, bytes(20)),
    )
    body = b''.join(struct.pack('<BQ', kind, len(data)) + data for kind, data in records)
    (folder / 'bomb_chunk.mcap').write_bytes(MCAP + body + MCAP)
