# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The page that puts the formulations side by side names what there is."""

import ast
import importlib
from pathlib import Path
import re

import pytest

from support.models.robots import ROOT

PAGE = ROOT / 'docs/development/formulations.md'
REFERENCE = ROOT / 'rnea_ros' / 'dynamics' / 'reference'
# [`module.function`](path of the module)
LINKS = sorted(set(re.findall(r'\[`(\w+)\.(\w+)`\]\(([^)]+)\)', PAGE.read_text(encoding='utf-8'))))
# | | `equation` | number | [`module.function`](path of the module) |
EQUATIONS = re.findall(
    r'^\|[^|]*\| `(.+)` \| ([^|]*) \| \[`\w+\.(\w+)`\]\(([^)]+)\) \|$',
    PAGE.read_text(encoding='utf-8').partition('## From equation to line')[2],
    re.MULTILINE,
)


@pytest.mark.parametrize(('module', 'function', 'path'), LINKS)
def test_functions_exist_where_the_page_says(module: str, function: str, path: str) -> None:
    file = (PAGE.parent / path).resolve()
    assert file.is_file()
    assert file.stem == module
    name = '.'.join(file.relative_to(ROOT).with_suffix('').parts)
    assert callable(getattr(importlib.import_module(name), function))


def test_every_link_on_the_page_is_checked() -> None:
    targets = re.findall(r'\]\(([^)]+)\)', PAGE.read_text(encoding='utf-8'))
    assert set(targets) == {path for _, _, path in LINKS}


@pytest.mark.parametrize('path', [
    pytest.param(path, id=path.stem)
    for path in sorted(REFERENCE.glob('*.py')) if path.stem not in ('__init__', 'vectors')
])
def test_every_formulation_is_on_the_page(path: Path) -> None:
    assert path.stem in {module for module, _, _ in LINKS}


@pytest.mark.parametrize(('equation', 'number', 'function', 'path'), EQUATIONS)
def test_equations_stand_beside_code(equation: str, number: str, function: str, path: str) -> None:
    text = (PAGE.parent / path).read_text(encoding='utf-8')
    module = ast.parse(text)
    (found,) = [node for node in module.body if getattr(node, 'name', '') == function]
    source = f'{ast.get_docstring(module)}\n{ast.get_source_segment(text, found)}'
    assert equation.replace(r'\|', '|') in source
    if re.fullmatch(r'\(\d\.\d+\)|table \d\.\d', number):
        assert number.strip('()') in source


def test_there_are_equations() -> None:
    assert len(EQUATIONS) > 20
