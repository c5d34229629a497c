# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The docstrings of the package are sound reST, from which the API reference is made."""

import ast
from functools import cache
import inspect
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
    settings = docutils_settings()
    tree = ast.parse(path.read_text(encoding='utf-8'))
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            continue
        docstring = ast.get_docstring(node)
        if docstring is None:
            continue
        # Sphinx's roles, such as :class:, are not docutils' own.
        plain = re.sub(r':(?:\w+):(?=`)', '', docstring)
        document = core.publish_doctree(inspect.cleandoc(plain), settings=settings)
        faults = [fault.astext() for fault in document.findall(nodes.problematic)]
        assert not faults, getattr(node, 'name', 'module')
        assert not [*document.findall(nodes.block_quote)], getattr(node, 'name', 'module')
