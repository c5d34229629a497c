# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The parts of docs/performance.md that runs write."""

from __future__ import annotations

from pathlib import Path
import re

from ..robots import ROOT

DOCS = ROOT / 'docs'


def rewrite(name: str, text: str, directory: Path = DOCS) -> None:
    """
    Write one measured part of the page anew.

    :param name: of the part: it lies between ``<!-- name -->`` and ``<!-- end of name -->``
    :param text: Markdown
    :param directory: where the page is
    :raises ValueError: the page has not exactly one such part
    """
    page = directory / 'performance.md'
    part = re.compile(rf'(?<=<!-- {name} -->\n).*?(?=<!-- end of {name} -->)', re.DOTALL)
    whole, count = part.subn(lambda _: f'\n{text}\n\n', page.read_text(encoding='utf-8'))
    if count != 1:
        raise ValueError(f'{page} has {count} parts called {name!r}, not one')
    page.write_text(whole, encoding='utf-8')
