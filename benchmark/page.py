# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The parts of the page that benchmarks write."""

from __future__ import annotations

from pathlib import Path
import re

from .robots import ROOT

DOCS = ROOT / 'docs'
PAGE = Path('development', 'benchmarks.md')
"""Method, targets and all figures; its path below the directory of the documents."""


def part_of(page: Path, name: str) -> str:
    """
    Return one measured part of a page.

    :param page: path of the page
    :param name: of the part: it lies between ``<!-- name -->`` and ``<!-- end of name -->``
    :raises ValueError: the page has not exactly one such part
    """
    found: list[str] = _pattern(name).findall(page.read_text(encoding='utf-8'))
    if len(found) != 1:
        raise ValueError(f'{page} has {len(found)} parts called {name!r}, not one')
    return found[0]


def rewrite(name: str, text: str, directory: Path = DOCS) -> None:
    """
    Replace one measured part of the page.

    :param name: of the part, as for :func:`part_of`
    :param text: Markdown
    :param directory: of the documents
    :raises ValueError: the page has not exactly one such part
    """
    path = directory / PAGE
    part_of(path, name)
    whole = path.read_text(encoding='utf-8')
    path.write_text(_pattern(name).sub(lambda _: f'\n{text}\n\n', whole), encoding='utf-8')


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf'(?<=<!-- {name} -->\n).*?(?=<!-- end of {name} -->)', re.DOTALL)
