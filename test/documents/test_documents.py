# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The documents can be trusted: their code runs, their commands exist, their links lead on."""

import ast
from collections.abc import Iterable
from functools import cache
import os
from pathlib import Path
import re
import shutil
import subprocess
import sys

import pytest

from rnea_ros.recordings import Kind
from support.documents import (
    DOCUMENTS,
    EXECUTABLES,
    NEEDS,
    SHELL,
    Block,
    anchors,
    blocks,
    blocks_of,
    commands,
    links,
)
from support.models.robots import ROOT, load
from support.recorded.bags import write_bag
from support.recorded.synthetic_recordings import PANDA_ARM, Robot, record
from support.ros.ros_process import isolated, new_domain_id

OF_A_JOINT = re.compile(r'constraints\.\w+\.(trajectory|goal)')
"""Name of a parameter that exists for each joint."""

PATIENCE = 250.0
"""How long a block may take, s: kernels may have to be compiled."""

BLOCKS = [block for path in DOCUMENTS for block in blocks(path)]
RUN_SOMEWHERE = {'ros2'}
"""What some machine that runs tests has of the needs of blocks; the others are never run."""

CODE = [block for block in BLOCKS if block.language in SHELL and {*block.needs} <= RUN_SOMEWHERE]
PYTHON = [path for path in DOCUMENTS if any(b.language == 'python' for b in blocks(path))]
COMMANDS = [(path, command) for path in DOCUMENTS for command in commands(path)]


def named(blocks_or_paths: Iterable[Block | Path]) -> list[str]:
    return [str(x.relative_to(ROOT)) if isinstance(x, Path) else str(x) for x in blocks_or_paths]


FOLDERS = ('config', 'docs', 'examples', 'launch', 'layouts', 'urdf')
"""What a reader finds beside the package."""


def run(command: list[str], folder: Path) -> None:
    """
    Run a command where the repository's files are, and none can be spoilt.

    The package and ``python`` are those of this test, the DDS domain is the command's own.
    """
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name)
    python = folder / '.bin' / 'python'
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    paths = {'PATH': str(python.parent), 'PYTHONPATH': str(ROOT)}
    found = {k: f'{v}{os.pathsep}{os.environ.get(k, "")}'.rstrip(':') for k, v in paths.items()}
    finished = subprocess.run(
        command, cwd=folder, env=os.environ | isolated(new_domain_id()) | found,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr


def skip_what_cannot_run(block: Block) -> None:
    """Skip the test where something is missing that a block needs."""
    if block.needs and not ros2_is_installed():
        pytest.skip(f'needs {NEEDS["ros2"]}')


@cache
def ros2_is_installed() -> bool:
    ros2 = shutil.which('ros2')
    command = [str(ros2), 'pkg', 'prefix', 'rnea_ros']
    return ros2 is not None and subprocess.run(command, capture_output=True).returncode == 0


@pytest.mark.parametrize('document', PYTHON, ids=named(PYTHON))
def test_python_in_the_documents_runs(document: Path, tmp_path: Path) -> None:
    """Blocks of a document go on where the one before ended."""
    python = [block for block in blocks(document) if block.language == 'python']
    assert all({*block.needs} <= RUN_SOMEWHERE for block in python)
    for block in python:
        skip_what_cannot_run(block)
    run([sys.executable, '-c', '\n'.join(block.code for block in python)], tmp_path)


@pytest.mark.parametrize('block', CODE, ids=named(CODE))
def test_shell_in_the_documents_runs(block: Block, tmp_path: Path) -> None:
    skip_what_cannot_run(block)
    (tmp_path / 'robot.urdf').symlink_to(PANDA_ARM)
    if re.search(r'\bBAG\b', block.code):
        model = load(PANDA_ARM)
        heavier = model.with_inertial_parameters(1.05 * model.inertial_parameters)
        recorded = record(Robot(heavier), Kind.MOTION, 1)
        write_bag(tmp_path / 'BAG', recorded.part(recorded.time < 13.0), 'MCAP')
    for other in BLOCKS:
        if other.file and other.document == block.document:
            (tmp_path / other.file).write_text(other.code, encoding='utf-8')
    run(['bash', '-euo', 'pipefail', '-c', '\n'.join(block.commands)], tmp_path)


def test_yaml_in_the_documents_can_be_read_and_names_parameters_that_exist() -> None:
    yaml = pytest.importorskip('yaml')
    known = parameters()
    for block in BLOCKS:
        if block.language != 'yaml':
            continue
        content = yaml.safe_load(block.code)
        assert isinstance(content, dict), str(block)
        for node in ('feedforward', '/**'):
            given = content.get(node, {}).get('ros__parameters', {})
            per_joint = {name for name in given if OF_A_JOINT.fullmatch(name)}
            assert given.keys() <= known | per_joint, f'{block}: {sorted(given.keys() - known)}'


def parameters() -> set[str]:
    text = (ROOT / 'config/feedforward.yaml').read_text(encoding='utf-8')
    return set(re.findall(r'^    ([\w.]+):', text, re.MULTILINE))


def test_what_is_typed_stands_in_a_block_that_says_so() -> None:
    typed = re.compile(r'^(\$ |(ros2|colcon|make|python3?|pip|sudo|source|cd) \w)', re.MULTILINE)
    for block in BLOCKS:
        if block.language in ('', 'text'):
            assert not typed.search(block.code), f'{block} is shell, and does not say so'


def test_programs_that_documents_run_exist() -> None:
    for path, command in COMMANDS:
        if command[:3] == ['ros2', 'run', 'rnea_ros'] and command[3] != '<name>':
            assert command[3] in EXECUTABLES, f'{path.name}: {command}'
        for name in re.findall(r'-m (rnea_ros[\w.]+|benchmark[\w.]*)', ' '.join(command)):
            module = ROOT / name.replace('.', '/')
            assert module.with_suffix('.py').is_file() or (module / '__main__.py').is_file(), name


def test_launch_files_that_documents_start_exist_and_take_the_arguments() -> None:
    seen = 0
    for path, command in COMMANDS:
        if command[:3] == ['ros2', 'launch', 'rnea_ros']:
            seen += 1
            given = {word.partition(':=')[0] for word in command[4:] if ':=' in word}
            assert given <= launch_arguments(command[3]), f'{path.name}: {command}'
    assert seen


def launch_arguments(name: str) -> set[str]:
    """Return the arguments that a launch file declares, read without ROS."""
    found: set[str] = set()
    for statement in ast.parse((ROOT / 'launch' / name).read_text(encoding='utf-8')).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Dict):
            (target,) = statement.targets
            if isinstance(target, ast.Name) and target.id == 'ARGUMENTS':
                found |= {str(ast.literal_eval(key)) for key in statement.value.keys if key}
    assert found, f'{name} has no ARGUMENTS'
    return found


def test_simulations_that_documents_start_stay_off_the_network() -> None:
    starts = re.compile(
        r'^\S+ (run rnea_ros |-m rnea_ros\.sim\.)simulated_robot|^\S+ -m rnea_ros\.node\.'
        r'|^ros2 launch rnea_ros (simulation|gazebo)', re.MULTILINE
    )
    simulations = [b for b in BLOCKS if b.language in SHELL and starts.search(b.code)]
    assert simulations
    for block in simulations:
        first = block.commands[0]
        assert first.startswith('export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST'), str(block)


def test_parameters_that_documents_set_exist() -> None:
    for path, command in COMMANDS:
        if command[:3] == ['ros2', 'param', 'set'] and command[3:4] == ['/feedforward']:
            assert command[4] in parameters(), f'{path.name}: {command}'


def test_targets_that_documents_make_exist() -> None:
    makefile = (ROOT / 'Makefile').read_text(encoding='utf-8')
    for path, command in COMMANDS:
        if command[:1] == ['make']:
            targets = [word for word in command[1:] if '=' not in word and word != '-C']
            for target in targets:
                assert re.search(rf'^{re.escape(target)}:', makefile, re.MULTILINE), path.name


@pytest.mark.parametrize('document', DOCUMENTS, ids=named(DOCUMENTS))
def test_links_lead_to_files_and_headings_that_exist(document: Path) -> None:
    for link in links(document):
        name, _, anchor = link.partition('#')
        target = (document.parent / name).resolve() if name else document
        assert target.is_file(), f'{link}: Sphinx links to files only'
        assert target.is_relative_to(ROOT), f'{link} leaves the repository'
        if anchor:
            assert target.suffix == '.md', f'{link}: only documents have headings'
            assert anchor in anchors(target), f'{link} is none of {sorted(anchors(target))}'


@pytest.mark.parametrize(('text', 'complaint'), [
    ('```fish\nls\n```\n', "x.md:1: 'fish' is none of"),
    ('<!-- needs: luck -->\n```bash\nls\n```\n', r"x.md:2: \('luck',\) is not of"),
    ('<!-- wants: ros2 -->\n```bash\nls\n```\n', "x.md:2: unknown mark 'wants'"),
])
def test_a_block_of_an_unknown_kind_is_rejected(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        blocks_of(text, 'x.md')


def test_marks_blocks_and_continued_lines_are_found() -> None:
    text = 'a\n<!-- needs: ros2 time -->\n```bash\nls \\\n    -l\n```\n```console\n$ ls\nb\n```\n'
    first, second = blocks_of(text, 'x.md')
    assert (first.needs, first.line, first.commands) == (('ros2', 'time'), 3, ['ls      -l'])
    assert (second.needs, second.commands) == ((), ['ls'])
