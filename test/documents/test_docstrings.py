# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The docstrings of the package are sound reST, from which the API reference is made."""

import ast
from functools import cache
from pathlib import Path
import re
from typing import Any

import pytest

from support.models.robots import ROOT

pytest.importorskip('docutils', reason='docutils is not installed')

from docutils import core, nodes

MODULES = sorted((ROOT / 'rnea_ros').rglob('*.py'))


@cache
def docutils_settings() -> Any:
    """Return settings of docutils that report nothing; making them takes longer than parsing."""
    publisher = core.Publisher()
    publisher.set_components('standalone', 'restructuredtext', 'null')
    return publisher.get_settings(report_level=5, halt_level=5)


@pytest.mark.parametrize('path', [
    pytest.param(path, id=f'{path.parent.name}/{path.stem}') for path in MODULES
])
def test_every_docstring_is_sound_markup(path: Path) -> None:
    docstrings = [
        ast.get_docstring(node) or ''
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8')))
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
    ]
    # Sphinx's roles, such as :class:, are not docutils' own.
    plain = re.sub(r':(?:\w+):(?=`)', '', '\n\n'.join(docstrings))
    document = core.publish_doctree(plain, settings=docutils_settings())
    assert not [fault.parent.astext() for fault in document.findall(nodes.problematic)]
    assert not [quote.astext() for quote in document.findall(nodes.block_quote)]
