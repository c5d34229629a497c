# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Layout of package and tests: small modules, small folders, imports through packages' faces."""

import ast
from collections.abc import Iterator
from pathlib import Path
import re

import pytest

from support.models.robots import ROOT

PACKAGE = ROOT / 'rnea_ros'
MODULES = sorted(PACKAGE.rglob('*.py'))
FOLDERS = sorted({path.parent for path in MODULES})

MAX_LINES = 350
MAX_MODULES = 15


def dotted(path: Path) -> tuple[str, ...]:
    """Return a module as a tuple of names; a package by its own name."""
    names = path.relative_to(ROOT).with_suffix('').parts
    return names[:-1] if names[-1] == '__init__' else names


def imported(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield the modules and packages of this project that a module imports from."""
    name = dotted(path)
    package = name if path.name == '__init__.py' else name[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.ImportFrom) and node.level:
            parent = package[: len(package) - node.level + 1]
            yield (*parent, *(node.module.split('.') if node.module else ()))


@pytest.mark.parametrize('path', MODULES, ids=[str(p.relative_to(PACKAGE)) for p in MODULES])
def test_a_module_is_short_and_imports_only_faces_of_other_packages(path: Path) -> None:
    """A module may import its neighbours, modules above it, and packages; nothing inside these."""
    assert len(path.read_text(encoding='utf-8').splitlines()) <= MAX_LINES
    name = dotted(path)
    for target in imported(path):
        is_package = ROOT.joinpath(*target, '__init__.py').exists()
        assert is_package or name[: len(target) - 1] == target[:-1], '.'.join(target)


def test_two_modules_use_what_numba_does_not_promise() -> None:
    users = [
        path.name for path in MODULES
        if re.search(r'llvmlite|numba\.(?!extending|types)\w+\.|_nrt', path.read_text('utf-8'))
    ]
    assert users == ['numba_internals.py', 'straight_line.py']


@pytest.mark.parametrize('folder', FOLDERS, ids=[str(p.relative_to(ROOT)) for p in FOLDERS])
def test_a_folder_holds_few_modules(folder: Path) -> None:
    modules = [path for path in folder.glob('*.py') if path.name != '__init__.py']
    assert len(modules) <= MAX_MODULES


def test_the_architecture_page_draws_the_layers_of_the_import_contract() -> None:
    contract = (ROOT / 'pyproject.toml').read_text(encoding='utf-8')
    first = contract[contract.index("name = 'imports run one way'") :]
    layers = [
        re.findall(r'rnea_ros\.(\w+)', line)
        for line in first[: first.index(']\n')].splitlines()
        if 'rnea_ros.' in line
    ]
    page = (ROOT / 'docs/development/architecture.md').read_text(encoding='utf-8')
    drawn = page[page.index('```\n') + 4 :].split('```', 1)[0]
    assert [re.split(r'  +', line)[0].split(', ') for line in drawn.splitlines()] == layers


TESTS = ROOT / 'test'
TEST_FOLDERS = sorted({path.parent for path in TESTS.rglob('*.py')})
MAX_FILES = 16
MAX_TEST_LINES = 60
MAX_NAME = 70


@pytest.mark.parametrize('folder', TEST_FOLDERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_test_folder_holds_few_files(folder: Path) -> None:
    files = [path for path in folder.iterdir() if path.is_file()]
    assert len(files) <= MAX_FILES


def test_tests_are_short_and_so_are_their_names() -> None:
    """The name states the rule; ``told``, ``who`` and ``nobody`` are words for persons."""
    tests = [
        (path.relative_to(TESTS), node)
        for path in TESTS.rglob('test_*.py')
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8')))
        if isinstance(node, ast.FunctionDef) and node.name.startswith('test_')
    ]
    assert len(tests) > 1000
    long = [
        f'{path}: {test.name}'
        for path, test in tests
        if (test.end_lineno or 0) - test.lineno >= MAX_TEST_LINES or len(test.name) > MAX_NAME
    ]
    assert not long
    persons = re.compile(r'_(told|tells|who|whoever|nobody|somebody|everybody)(_|$)')
    assert not [f'{path}: {test.name}' for path, test in tests if persons.search(test.name)]
