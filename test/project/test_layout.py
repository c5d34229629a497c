# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The layout of the package: small modules, small folders, imports through each package's face."""

from __future__ import annotations

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


@pytest.mark.parametrize('folder', FOLDERS, ids=[str(p.relative_to(ROOT)) for p in FOLDERS])
def test_a_folder_holds_few_modules(folder: Path) -> None:
    modules = [path for path in folder.glob('*.py') if path.name != '__init__.py']
    assert len(modules) <= MAX_MODULES


def test_the_page_of_the_architecture_draws_the_layers_of_the_import_contract() -> None:
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
