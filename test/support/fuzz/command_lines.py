# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Random command lines of the tools, and what is wrong with the end of one."""

from collections.abc import Sequence
import json
from pathlib import Path
from random import Random
import re
from subprocess import CompletedProcess

from support.fuzz.hostile_files import INJECTED, JOINTS, LONG, write_recording
from support.tools import run as run_tool

FORGED = re.compile(r'(?m)^FORGED|[^\S\n ]|[\x00-\x09\x0b-\x1f\x7f-\x9f]')
OLD = 'old\n'  # text of a file that a tool may replace as a whole, but not in part
GRAVITY = '--gravity number number number'
RECORDED = ('--topic topic', '--joints pair', '--effort-scale number', '--picture output')
WALLS = ('--floor number', '--keep-inside link', '--interpolation interpolation')
LIMITS = ('--velocity-limits limit', '--effort-limits limit', GRAVITY)

TOOLS: dict[str, tuple[str, ...]] = {
    'preflight': (
        'bag --urdf urdf', *RECORDED, '--use use', '--poses whole', '--duration number', GRAVITY,
        '--write output', '--friction yaml',
    ),
    'identify': (
        'bag --urdf urdf', *RECORDED, '--validate bag', GRAVITY, '--force', '--duration number',
        '--links link', '--keep-friction yaml', '--payload link', '--cutoff number',
        '--prior-weight number', '--write-urdf output', '--write-parameters output',
        '--report output', '--without-effort joint', '--total-mass number', '--poses',
        '--effort-delay number', '--picture output',
    ),
    'replay': (
        'bag --urdf urdf', *RECORDED, '--params-file yaml', '-p assignment', '--csv output',
    ),
    'check_trajectory': (
        'yaml --urdf urdf', *LIMITS, '--index whole', '--rate number', '--start limit',
        '--payload link number number number number', '--picture output', '--topic topic', *WALLS,
    ),
    'excite': (
        '--urdf urdf --out output --seconds 0.05', *LIMITS, '--start limit', '--omit joint',
        '--duration number', '--speed number', '--motion yaml', '--after bag', *WALLS[:2],
    ),
    'teach': (
        'bag --urdf urdf --out output', *LIMITS, '--omit joint', '--tolerance number',
        '--speed number', '--seconds number', '--picture output', '--play yaml',
    ),
    'export': (
        '--urdf urdf --out out/c', '--prefix link', '--frame link', '--payload link',
        '--wrench link', '--params-file yaml', GRAVITY, '--float', '--moving-base',
    ),
    'play_joint_states': ('broken --wait 0', '--source-topic topic', '--speed number'),
}
"""For each tool the arguments of every command line, then options: words are kinds below."""

USUAL = {
    'number': ('1', '2.5', '0.1', '-1'), 'whole': ('1', '8', '12'),
    'output': ('out/a', 'out/old'), 'link': ('upper', 'lower'), 'joint': JOINTS,
    'topic': ('/joint_states',), 'pair': ('shoulder=shoulder',), 'use': ('auto', 'still'),
    'urdf': ('arm.urdf',), 'yaml': ('good.yaml', 'parameters.yaml'), 'bag': ('motion', 'poses'),
    'interpolation': ('linear', 'spline'), 'limit': ('2', 'shoulder=1'),
    'assignment': ('rate:=100.0', 'effort_scale:=[1.0]'),
}
"""Words that most tools accept: a bad one ends the tool before the rest is used."""

NUMBERS = ('0', '1e9', '1e300', '1e-300', 'nan', '-inf', '', 'x')
ASSIGNED = ('rate', 'effort_scale', 'gravity', 'mode', 'payload.mass')
UNUSUAL = {
    'number': NUMBERS, 'whole': NUMBERS, 'link': ('base', '', LONG), 'joint': ('x', '', LONG),
    'output': (f'out/{LONG}', 'none/a', 'out', 'good.yaml/a', '/dev/full', 'out/loop', ''),
    'topic': ('/a', '', LONG, 'a b//c'), 'interpolation': ('', 'x'), 'use': ('motion', 'x'),
    'pair': ('shoulder=a', 'elbow=shoulder', '=', 'x', f'{LONG}=a'),
    'limit': tuple(f'{joint}{x}' for joint in ('', 'elbow=', 'x=') for x in NUMBERS),
    'assignment': tuple(
        f'{name}:={value}' for name in ASSIGNED for x in NUMBERS for value in (x, f'[{x},{x},{x}]')
    ),
}
PATHS = (LONG, f'{LONG}.db3', 'none.mcap', 'out', '', '/', '/dev/zero', 'pipe.db3', 'pipe.yaml')


def command_line(random: Random, files: Sequence[str]) -> str:
    """Return the name of a tool and arguments, with files of :mod:`hostile_files`."""
    urdfs, yamls = ([f for f in files if f.endswith(ends)] for ends in (
        ('.urdf', '.xacro'), '.yaml'
    ))
    bags = sorted({*files} - {*urdfs, *yamls})
    broken = [name for name in bags if re.search('void|text|cut|metadata|folder|lost', name)]
    unusual: dict[str, tuple[str, ...]] = UNUSUAL | {
        'urdf': (*urdfs, *PATHS, files[0]), 'yaml': (*yamls, *PATHS, files[0]),
        'bag': (*bags, *PATHS, 'arm.urdf'),
    }

    def drawn(word: str) -> str:
        words = random.choice((USUAL, USUAL, unusual)).get(word, (word,))
        return random.choice(broken if word == 'broken' else words)

    tool = random.choice([*TOOLS, *2 * ['identify', 'preflight', 'replay']])
    fixed, *options = TOOLS[tool]
    line = [tool]
    for option in (fixed, *random.sample(options, min(random.randrange(4), len(options)))):
        words = [drawn(word) for word in option.split(' ')]
        line += ['='.join(words)] if len(words) == 2 and words[0][:2] == '--' else words
    return ' '.join(line)


def run(line: str, folder: Path) -> CompletedProcess[str]:
    """Run a tool in this process, in a folder, as its program does."""
    for word in line.split(' '):
        write_recording(folder, word.rpartition('=')[2])
    return run_tool(line, folder)


def fault(line: str, end: CompletedProcess[str], folder: Path) -> str:
    """Return what is wrong with an end, '' for nothing; empty the folder of written files."""
    tool = line.split(' ')[0]
    try:
        if end.returncode not in (0, 1, 2):
            return f'exit code {end.returncode}: {end.stderr}'
        lines = end.stderr.splitlines()
        if strange := [each for each in lines if not each.startswith(f'{tool}: ')]:
            return f'not a sentence of the tool: {strange[0]}'
        if end.returncode == 2 and not (lines or end.stdout.startswith('undecided')):
            return 'exit code 2 without a reason'
        if any(len(each) > 2500 for each in lines):
            return 'a reason of more than 2500 characters'
        if FORGED.search(end.stdout + end.stderr):
            return 'a control character, or a line of a name'
        return next(filter(None, map(_incomplete, sorted((folder / 'out').rglob('*')))), '')
    finally:
        prepare(folder)


def prepare(folder: Path) -> None:
    """Make the folder for written files as it was."""
    out = folder / 'out'
    out.mkdir(exist_ok=True)
    for path in sorted(out.rglob('*'), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (out / 'old').write_text(OLD)
    (out / 'loop').symlink_to('loop')


def _incomplete(path: Path) -> str:
    """Return what a written file lacks."""
    if path.name.startswith('.'):
        return f'{path.name} is left'
    if path.is_dir() or path.is_symlink():
        return ''
    data = path.read_bytes()
    if data.startswith(b'{'):
        json.loads(data, parse_constant=lambda word: 1 / 0)
    if path.suffix in {'.c', '.h'} and f'*/ {INJECTED}'.encode() in data:
        return f'{path.name} has code of a name'
    complete = data.endswith((b'\n', b'</robot>')) or b'IEND' in data[-12:]  # of a picture
    return '' if complete else f'{path.name} ends with {data[-20:]!r}'
