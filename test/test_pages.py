# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The documents name what there is, and leave out no page and no word of the log."""

from __future__ import annotations

import ast
from functools import cache
import inspect
from pathlib import Path
import re
from typing import Any

import pytest
from robots import ROOT

from rnea_ros.feedforward import Reason

DOCS = ROOT / 'docs'
PAGES = sorted([ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *DOCS.rglob('*.md')])
INDEX = DOCS / 'index.md'
MODULES = sorted((ROOT / 'rnea_ros').rglob('*.py'))
CODE = re.compile(r'^```.*?^```$', re.MULTILINE | re.DOTALL)


def text_of(page: Path) -> str:
    """Return a page's text."""
    return page.read_text(encoding='utf-8')


def prose_of(page: Path) -> str:
    """Return a page's text without its blocks of code."""
    return CODE.sub('', text_of(page))


def named(page: Path) -> Any:
    """Mark a parameter of a test by the page's name."""
    return pytest.param(page, id=page.name)


@pytest.mark.parametrize('page', [named(page) for page in PAGES])
def test_every_module_and_function_that_is_named_exists(page: Path) -> None:
    package = '|'.join({path.parent.name for path in MODULES} - {'rnea_ros'})
    for name in re.findall(rf'(?<![\w/.])((?:{package})/\w+\.py)', text_of(page)):
        assert (ROOT / 'rnea_ros' / name).is_file(), name
    for module, name, path in re.findall(
        r'\[`(\w+)\.(\w+)`\]\(((?:\.\./)+rnea_ros/[^)]+\.py)\)', prose_of(page)
    ):
        file = (page.parent / path).resolve()
        assert file.stem == module
        tree = ast.parse(text_of(file))
        assert name in {getattr(node, 'name', '') for node in tree.body}, name


def test_the_table_of_contents_has_every_page() -> None:
    listed = re.findall(r'^[\w/]+$', text_of(INDEX), re.MULTILINE)
    pages = {page.relative_to(DOCS).with_suffix('').as_posix() for page in DOCS.rglob('*.md')}
    assert sorted(listed) == sorted(pages - {'index'})


def test_the_index_links_every_page_where_tables_of_contents_are_not_shown() -> None:
    linked = set(re.findall(r'\]\(([\w/]+\.md)\)', prose_of(INDEX)))
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob('*.md')}
    assert linked == pages - {'index.md'}


@pytest.mark.parametrize('reason', [reason.value for reason in Reason])
def test_troubleshooting_tells_cause_and_remedy_of_every_reason(reason: str) -> None:
    by_word = text_of(DOCS / 'troubleshooting.md').partition('## By word')[2]
    rows = re.findall(rf'^\| `{reason}` \| (.+) \| (.*) \|$', by_word, re.MULTILINE)
    assert len(rows) == 1
    (cause, remedy), = rows
    assert cause
    assert remedy


@cache
def docutils_settings() -> Any:
    """Return settings of docutils that report nothing; making them takes longer than parsing."""
    from docutils import core

    publisher = core.Publisher()
    publisher.set_components('standalone', 'restructuredtext', 'null')
    return publisher.get_settings(report_level=5, halt_level=5)


@pytest.mark.parametrize('path', [
    pytest.param(path, id=f'{path.parent.name}/{path.stem}') for path in MODULES
])
def test_every_docstring_is_sound_markup(path: Path) -> None:
    docutils = pytest.importorskip('docutils.core', reason='docutils (make docs) is not installed')
    from docutils import nodes

    settings = docutils_settings()
    tree = ast.parse(text_of(path))
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            continue
        docstring = ast.get_docstring(node)
        if docstring is None:
            continue
        # Sphinx's roles, such as :class:, are not docutils' own.
        plain = re.sub(r':(?:\w+):(?=`)', '', docstring)
        document = docutils.publish_doctree(inspect.cleandoc(plain), settings=settings)
        faults = [fault.astext() for fault in document.findall(nodes.problematic)]
        assert not faults, getattr(node, 'name', 'module')
        assert not [*document.findall(nodes.block_quote)], getattr(node, 'name', 'module')
