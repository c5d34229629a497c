# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Random command lines of the tools, and what is wrong with the end of one."""

from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
import io
import json
import os
from pathlib import Path
import random
import re
import signal
import sys
import traceback
import warnings
from xml.etree import ElementTree

from support.fuzz.hostile_files import JOINTS, LONG, write_recording

NUMBERS = (
    '0', '-0.0', '1', '-1', '2.5', '0.1', '1e-9', '1e9', '1e300', '-1e300', '1e-300', '5e-324',
    'nan', 'inf', '-inf', '1_0', '', 'x', '1e999', '123456789012345678901234567890',
)  # fmt: skip
WHOLE = (*NUMBERS, '3', '12')

OUTPUTS = (
    f'out/{LONG}', f'out/{240 * "y"}', 'none/a', 'out', 'good.yaml/a', '/dev/null', '/dev/full',
    '/proc/a', f'{LONG}/a', 'out/loop', '', '/',
)  # fmt: skip

OLD = 'old\n'
"""Text of a file that a tool may replace as a whole, but not in part."""

Option = tuple[str, tuple[str, ...]]
"""Name of an option, and the kinds of its words."""

TOOLS: dict[str, tuple[str, tuple[str, ...], tuple[Option, ...]]] = {
    'preflight': (
        'preflight',
        ('bag', '--urdf', 'urdf'),
        (
            ('--topic', ('topic',)), ('--joints', ('pair',)), ('--effort-scale', ('number',)),
            ('--use', ('use',)), ('--poses', ('whole',)), ('--duration', ('number',)),
            ('--gravity', ('number', 'number', 'number')), ('--gravity', ('0', '0', '0')),
            ('--picture', ('output',)), ('--write', ('output',)),
        ),
    ),
    'identify': (
        'identify',
        ('bag', '--urdf', 'urdf'),
        (
            ('--validate', ('bag',)), ('--gravity', ('number', 'number', 'number')),
            ('--joints', ('pair',)), ('--effort-scale', ('number',)),
            ('--effort-scale', ('number', 'number')), ('--topic', ('topic',)),
            ('--duration', ('number',)), ('--links', ('link',)),
            ('--keep-friction', ('parameters',)), ('--payload', ('link',)),
            ('--cutoff', ('number',)), ('--prior-weight', ('number',)),
            ('--write-urdf', ('output',)), ('--write-parameters', ('output',)),
            ('--report', ('output',)), ('--picture', ('output',)), ('--force', ()),
        ),
    ),
    'replay': (
        'replay',
        ('bag', '--urdf', 'urdf'),
        (
            ('--topic', ('topic',)), ('--params-file', ('parameters',)), ('-p', ('assignment',)),
            ('--joints', ('pair',)), ('--effort-scale', ('number',)), ('--picture', ('output',)),
            ('--csv', ('output',)),
        ),
    ),
    'check_trajectory': (
        'check_trajectory',
        ('trajectory', '--urdf', 'urdf'),
        (
            ('--topic', ('topic',)), ('--index', ('whole',)), ('--timeout', ('number',)),
            ('--rate', ('number',)), ('--start', ('position',)),
            ('--velocity-limits', ('limit',)), ('--acceleration-limits', ('limit',)),
            ('--effort-limits', ('limit',)),
            ('--payload', ('link', 'number', 'number', 'number', 'number')),
            ('--gravity', ('number', 'number', 'number')), ('--picture', ('output',)),
        ),
    ),
    'excite': (
        'excite',
        ('--urdf', 'urdf', '--out', 'output', '--seconds', '0.05'),
        (
            ('--start', ('position',)), ('--joints', ('joint',)), ('--omit', ('joint',)),
            ('--floor', ('number',)), ('--box', 6 * ('number',)), ('--keep-inside', ('link',)),
            ('--velocity-limits', ('limit',)), ('--effort-limits', ('limit',)),
            ('--duration', ('number',)), ('--speed', ('number',)),
            ('--gravity', ('number', 'number', 'number')),
            ('--record', ('output',)), ('--motion', ('trajectory',)),
        ),
    ),
    'teach': (
        'teach',
        ('bag', '--urdf', 'urdf', '--out', 'output'),
        (
            ('--joints', ('joint',)), ('--omit', ('joint',)), ('--tolerance', ('number',)),
            ('--velocity-limits', ('limit',)), ('--acceleration-limits', ('limit',)),
            ('--effort-limits', ('limit',)), ('--speed', ('number',)), ('--seconds', ('number',)),
            ('--gravity', ('number', 'number', 'number')), ('--picture', ('output',)),
            ('--repeat', ('whole',)), ('--node', ('topic',)), ('--keep-mode', ()),
            ('--play', ('trajectory',)),
        ),
    ),
    'play_joint_states': (
        'play_joint_states',
        ('broken', '--wait', '0'),
        (
            ('--source-topic', ('topic',)), ('--urdf', ('urdf',)), ('--speed', ('number',)),
            ('--wait', ('number',)),
        ),
    ),
    'activate_controller': (
        'activate_controller', ('--no-such-option',),
        (('--timeout', ('number',)), ('--node', ('topic',))),
    ),
}  # fmt: skip

WORDS: dict[str, tuple[str, ...]] = {
    'number': NUMBERS, 'whole': WHOLE, 'output': OUTPUTS,
    'topic': ('/joint_states', 'joint_states', '/feedforward', '/a', '', LONG, 'a b//c'),
    'pair': ('shoulder=a', 'shoulder=shoulder', 'elbow=shoulder', 'a=b', '=', 'x', LONG + '=a'),
    'use': ('auto', 'still', 'motion', 'x'), 'link': ('upper', 'lower', 'base', '', LONG),
    'joint': (*JOINTS, 'x', '', LONG),
}

USUAL: dict[str, tuple[str, ...]] = {
    'number': ('1', '2.5', '0.1', '-1'), 'output': ('out/a', 'out/old'),
    'link': ('upper', 'lower'), 'joint': JOINTS, 'topic': ('/joint_states',),
    'pair': ('shoulder=shoulder',),
}
"""Words that most tools accept; most words are such."""

GOOD: dict[str, tuple[float, tuple[str, ...]]] = {
    'urdf': (0.7, ('arm.urdf',)), 'parameters': (0.5, ('parameters.yaml',)),
    'trajectory': (0.5, ('good.yaml',)), 'bag': (0.3, ('motion', 'poses')),
}
"""Share of good files, and their names; a tenth of the files are of another kind."""

BROKEN = re.compile('void|text|cut|metadata|folder|lost')

TIME = 240
"""Longest processor time of a command line, s; the fuzz fails if one takes longer."""


@dataclass(frozen=True)
class End:
    """
    The end of a command line.

    :param code: exit code; None for an exception
    :param out: standard output
    :param err: standard error, with the traceback of an exception
    """

    code: int | None
    out: str
    err: str


def command_line(seed: int, files: Sequence[str]) -> tuple[str, list[str]]:
    """
    Return the name of a tool and random arguments.

    Most words are good ones: a bad one ends the tool before the rest is used.

    :param seed: of the choice
    :param files: names of the files of ``hostile_files``
    """
    chance = random.Random(seed)
    tool = chance.choice([*TOOLS, *2 * ['identify', 'preflight', 'replay']])
    _, fixed, options = TOOLS[tool]
    arguments = [_word(kind, chance, files) for kind in fixed]
    for name, kinds in chance.sample(options, min(chance.choice((0, 1, 1, 2, 3)), len(options))):
        words = [_word(kind, chance, files) for kind in kinds]
        arguments += [f'{name}={words[0]}'] if len(words) == 1 else [name, *words]
    return tool, arguments


def _word(kind: str, chance: random.Random, files: Sequence[str]) -> str:
    if kind in ('limit', 'position'):
        number = chance.choice(NUMBERS)
        return chance.choice((number, f'shoulder={number}', f'elbow={number}', f'x={number}'))
    if kind == 'assignment':
        parameters = ('rate', 'effort_scale', 'gravity', 'mode', 'joint_states_timeout',
                      'friction.viscous', 'payload.mass', 'effort_rate_limit', 'x')
        number = chance.choice(NUMBERS)
        value = chance.choice((number, f'[{number}]', f'[{number}, {number}, {number}]'))
        return f'{chance.choice(parameters)}:={value}'
    if kind in ('bag', 'broken', 'parameters', 'trajectory', 'urdf'):
        return _file(kind, chance, files)
    if kind in USUAL and chance.random() < 0.7:
        return chance.choice(USUAL[kind])
    return chance.choice(WORDS.get(kind, (kind,)))


def _file(kind: str, chance: random.Random, files: Sequence[str]) -> str:
    chosen = {
        'urdf': [name for name in files if name.endswith('.urdf')],
        'parameters': [name for name in files if name.endswith('.yaml')],
        'trajectory': [name for name in files if name.endswith('.yaml')],
        'bag': [name for name in files if not name.endswith(('.urdf', '.yaml'))],
        'broken': [name for name in files if BROKEN.search(name)],
    }[kind]
    other = (LONG, f'{LONG}.db3', 'none.mcap', 'out', '', '/', '/dev/null', chance.choice(files))
    number = chance.random()
    share, good = GOOD.get(kind, (0.0, ()))
    if number < share:
        return chance.choice(good)
    return chance.choice(chosen if number < 0.9 or kind == 'broken' else other)


def run(tool: str, arguments: list[str], folder: Path) -> End:
    """Run a tool in this process, in a folder, as its program does."""
    main = import_module(f'rnea_ros.tools.{TOOLS[tool][0]}').main
    out, err = io.StringIO(), io.StringIO()
    before = Path.cwd()
    for word in arguments:
        write_recording(folder, word.rpartition('=')[2])
    old = signal.signal(signal.SIGVTALRM, _too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, TIME)
    code: int | None
    try:
        os.chdir(folder)
        with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
            warnings.resetwarnings()
            warnings.simplefilter('default')
            warnings.showwarning = _show
            try:
                code = int(main(arguments))
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else None
            except BaseException:
                code = None
                traceback.print_exc(file=err)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, old)
        os.chdir(before)
    return End(code, out.getvalue(), err.getvalue())


def _show(
    message: Warning | str, category: type[Warning], filename: str, lineno: int,
    file: object = None, line: str | None = None,
) -> None:
    print(f'{filename}:{lineno}: {category.__name__}: {message}', file=sys.stderr)


def _too_long(*_: object) -> None:
    raise TimeoutError(f'longer than {TIME} s')


def fault(tool: str, end: End, folder: Path) -> str:
    """Return what is wrong with an end, '' for nothing; empty the folder of written files."""
    try:
        if end.code not in (0, 1, 2):
            return f'exit code {end.code}'
        lines = end.err.splitlines()
        if strange := [line for line in lines if not line.startswith(f'{tool}: ')]:
            return f'not a sentence of the tool: {strange[0]}'
        if end.code == 2 and not lines:
            return 'exit code 2 without a reason'
        if any(len(line) > 2500 for line in lines):
            return 'a reason of more than 2500 characters'
        return next(filter(None, map(_incomplete, sorted((folder / 'out').iterdir()))), '')
    finally:
        prepare(folder)


def prepare(folder: Path) -> None:
    """Make the folder for written files as it was."""
    out = folder / 'out'
    out.mkdir(exist_ok=True)
    for path in out.iterdir():
        path.unlink()
    (out / 'old').write_text(OLD)
    (out / 'loop').symlink_to('loop')


def _incomplete(path: Path) -> str:
    """Return what a written file lacks."""
    if path.name.startswith('.'):
        return f'{path.name} is left'
    if path.name == 'loop' and path.is_symlink():
        return ''
    data = path.read_bytes()
    if data.startswith(b'\x89PNG'):
        return '' if b'IEND' in data[-12:] else f'{path.name} is half a picture'
    text = data.decode()
    if text == OLD:
        return ''
    if not text.endswith('\n') and '</robot>' not in text[-20:]:
        return f'{path.name} ends with {text[-20:]!r}'
    if text.startswith('<'):
        ElementTree.fromstring(text)
    if text.startswith('{'):
        json.loads(text, parse_constant=lambda word: 1 / 0)
    return ''
