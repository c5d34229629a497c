# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Random command lines of the tools, and what is wrong with the end of one."""

from collections.abc import Sequence
import json
from pathlib import Path
import re
from subprocess import CompletedProcess

from hypothesis import strategies as st

from support.fuzz.hostile_files import JOINTS, LONG, write_recording
from support.tools import run as run_tool

OLD = 'old\n'  # text of a file that a tool may replace as a whole, but not in part
GRAVITY = '--gravity number number number'
RECORDED = ('--topic topic', '--joints pair', '--effort-scale number', '--picture output')
LIMITS = ('--velocity-limits limit', '--effort-limits limit', GRAVITY)

TOOLS: dict[str, tuple[str, ...]] = {
    'preflight': (
        'bag --urdf urdf', *RECORDED, '--use use', '--poses whole', '--duration number', GRAVITY,
        '--write output',
    ),
    'identify': (
        'bag --urdf urdf', *RECORDED, '--validate bag', GRAVITY, '--force', '--duration number',
        '--links link', '--keep-friction yaml', '--payload link', '--cutoff number',
        '--prior-weight number', '--write-urdf output', '--write-parameters output',
        '--report output',
    ),
    'replay': (
        'bag --urdf urdf', *RECORDED, '--params-file yaml', '-p assignment', '--csv output',
    ),
    'check_trajectory': (
        'yaml --urdf urdf', *LIMITS, '--index whole', '--rate number', '--start limit',
        '--payload link number number number number', '--picture output',
    ),
    'excite': (
        '--urdf urdf --out output --seconds 0.05', *LIMITS, '--start limit', '--omit joint',
        '--floor number', '--duration number', '--speed number', '--motion yaml',
    ),
    'teach': (
        'bag --urdf urdf --out output', *LIMITS, '--omit joint', '--tolerance number',
        '--speed number', '--seconds number', '--picture output', '--play yaml',
    ),
    'export': (
        '--urdf urdf --out out/c', '--prefix link', '--frame link', '--payload link',
        '--wrench link', '--params-file yaml', '--gravity number number number', '--float',
    ),
    'play_joint_states': ('broken --wait 0', '--source-topic topic', '--speed number'),
}
"""For each tool the arguments of every command line, then options: words are kinds below."""

USUAL = {
    'number': ('1', '2.5', '0.1', '-1'), 'whole': ('1', '8', '12'),
    'output': ('out/a', 'out/old'), 'link': ('upper', 'lower'), 'joint': JOINTS,
    'topic': ('/joint_states',), 'pair': ('shoulder=shoulder',), 'use': ('auto', 'still'),
    'urdf': ('arm.urdf',), 'yaml': ('good.yaml', 'parameters.yaml'), 'bag': ('motion', 'poses'),
    'limit': ('2', 'shoulder=1'), 'assignment': ('rate:=100.0', 'effort_scale:=[1.0]'),
}
"""Words that most tools accept: a bad one ends the tool before the rest is used."""

NUMBERS = ('0', '1e9', '1e300', '1e-300', 'nan', '-inf', '', 'x')
ASSIGNED = ('rate', 'effort_scale', 'gravity', 'mode', 'payload.mass')
UNUSUAL = {
    'number': NUMBERS, 'whole': NUMBERS, 'link': ('base', '', LONG), 'joint': ('x', '', LONG),
    'output': (f'out/{LONG}', 'none/a', 'out', 'good.yaml/a', '/dev/full', 'out/loop', ''),
    'topic': ('/a', '', LONG, 'a b//c'), 'use': ('motion', 'x'),
    'pair': ('shoulder=a', 'elbow=shoulder', '=', 'x', f'{LONG}=a'),
    'limit': tuple(f'{joint}{x}' for joint in ('', 'elbow=', 'x=') for x in NUMBERS),
    'assignment': tuple(
        f'{name}:={value}' for name in ASSIGNED for x in NUMBERS for value in (x, f'[{x},{x},{x}]')
    ),
}
PATHS = (LONG, f'{LONG}.db3', 'none.mcap', 'out', '', '/', '/dev/null')


def _words(files: Sequence[str]) -> dict[str, st.SearchStrategy[str]]:
    """Return the words of each kind."""
    urdfs, yamls = ([f for f in files if f.endswith(suffix)] for suffix in ('.urdf', '.yaml'))
    unusual = UNUSUAL | {
        'urdf': (*urdfs, *PATHS, files[0]), 'yaml': (*yamls, *PATHS, files[0]),
        'bag': (*sorted({*files} - {*urdfs, *yamls}), *PATHS, 'arm.urdf'),
    }
    usual = {kind: st.sampled_from(words) for kind, words in USUAL.items()}
    broken = re.compile('void|text|cut|metadata|folder|lost')
    return {
        'broken': st.sampled_from([name for name in files if broken.search(name)]),
        **{kind: st.one_of(usual[kind], usual[kind], st.sampled_from(words))
           for kind, words in unusual.items()},
    }


@st.composite
def command_lines(draw: st.DrawFn, files: Sequence[str]) -> str:
    """Draw the name of a tool and arguments, with files of :mod:`hostile_files`."""
    words = _words(files)
    tool = draw(st.sampled_from([*TOOLS, *2 * ['identify', 'preflight', 'replay']]))
    fixed, *options = TOOLS[tool]
    line = [tool]
    for option in (fixed, *draw(st.lists(st.sampled_from(options), max_size=3, unique=True))):
        drawn = [draw(words.get(word, st.just(word))) for word in option.split(' ')]
        line += [f'{drawn[0]}={drawn[1]}'] if len(drawn) == 2 else drawn
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
        if end.returncode == 2 and not lines:
            return 'exit code 2 without a reason'
        if any(len(each) > 2500 for each in lines):
            return 'a reason of more than 2500 characters'
        return next(filter(None, map(_incomplete, sorted((folder / 'out').iterdir()))), '')
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
    complete = data.endswith((b'\n', b'</robot>')) or b'IEND' in data[-12:]  # of a picture
    return '' if complete else f'{path.name} ends with {data[-20:]!r}'
