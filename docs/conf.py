# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Sphinx: these pages and the API reference as HTML, by ``make docs``."""

from __future__ import annotations

import os
from pathlib import Path
import re
import sys
from typing import Any
import xml.etree.ElementTree as ElementTree

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ['RNEA_ROS_PURE_PYTHON'] = '1'  # compiled functions have no signatures to show

project = 'rnea_ros'
author = 'The rnea_ros authors'
copyright = '2026 The rnea_ros authors'  # noqa: A001
version = release = ElementTree.parse(ROOT / 'package.xml').getroot().findtext('version') or ''

extensions = ['myst_parser', 'sphinx.ext.autodoc', 'sphinx_copybutton']
exclude_patterns = ['_build']
html_theme = 'furo'
html_static_path = ['_static']
html_css_files = ['wide.css']
html_title = f'rnea_ros {version}'

highlight_language = 'none'
myst_heading_anchors = 4

toc_object_entries = False
autodoc_member_order = 'bysource'
autodoc_typehints = 'description'
autodoc_typehints_description_target = 'documented'
autodoc_type_aliases = {'ArrayLike': 'ArrayLike', 'Array': 'Array'}
autodoc_default_options = {'members': True}

PAGES = {
    ROOT / 'README.md': ROOT / 'docs/index.md',
    ROOT / 'CONTRIBUTING.md': ROOT / 'docs/contributing.md',
    ROOT / 'examples/README.md': ROOT / 'docs/examples.md',
}
"""Pages of the repository, and where they appear as HTML."""


def moved_links(text: str, folder: Path, to: Path) -> str:
    """Return a page of one folder with its links as seen from another."""

    def moved(link: re.Match[str]) -> str:
        target = (folder / link[1]).resolve()
        if not target.exists():  # code in brackets, or a broken link, which Sphinx names
            return link[0]
        return f']({os.path.relpath(PAGES.get(target, target), to)}'

    return re.sub(r'\]\((?!\w+:|#)([^)#]+)', moved, text)


def complete_page(_: Any, name: str, source: list[str]) -> None:
    """Replace the text above the first section by the repository's page that belongs here."""
    page = ROOT / 'docs' / f'{name}.md'
    text = moved_links(source[0], page.parent, page.parent)
    for file in (file for file, place in PAGES.items() if place == page):
        body = moved_links(file.read_text(encoding='utf-8'), file.parent, page.parent)
        text = body + ''.join(text.partition('\n## ')[1:])
    source[0] = text


def setup(app: Any) -> None:
    """Connect the pages of the repository."""
    app.connect('source-read', complete_page)
