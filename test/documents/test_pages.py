# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The documents name what there is, and leave out no page and no word of the log."""

import ast
from pathlib import Path
import re

import pytest

from rnea_ros.feedforward import Reason
from support.models.robots import ROOT

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


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
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


def test_every_module_of_the_api_reference_exists() -> None:
    pages = '\n'.join(text_of(page) for page in (DOCS / 'api').glob('*.rst'))
    names = re.findall(r'^\.\. automodule:: (\S+)$', pages, re.MULTILINE)
    assert names
    for name in names:
        path = ROOT / name.replace('.', '/')
        assert path.with_suffix('.py').is_file() or (path / '__init__.py').is_file(), name


def test_the_table_of_contents_has_every_page() -> None:
    listed = re.findall(r'^[\w/]+$', text_of(INDEX), re.MULTILINE)
    pages = {page.relative_to(DOCS).with_suffix('').as_posix() for page in DOCS.rglob('*.md')}
    assert sorted(listed) == sorted(pages - {'index'})


def test_the_index_links_every_page_where_tables_of_contents_are_not_shown() -> None:
    linked = set(re.findall(r'\]\(([\w/]+\.md)\)', prose_of(INDEX)))
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob('*.md')}
    assert linked == pages - {'index.md'}


@pytest.mark.parametrize('reason', [reason.value for reason in Reason])
def test_troubleshooting_has_cause_and_remedy_of_every_reason(reason: str) -> None:
    by_word = text_of(DOCS / 'troubleshooting.md').partition('## By word')[2]
    rows = re.findall(rf'^\| `{reason}` \| (.+) \| (.*) \|$', by_word, re.MULTILINE)
    assert len(rows) == 1
    (cause, remedy), = rows
    assert cause
    assert remedy
