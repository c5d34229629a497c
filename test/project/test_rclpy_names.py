# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the package uses of rclpy exists, in version 3.3 (Humble, not on PyPI) too."""

import ast
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
import os
from pathlib import Path

import pytest

from support.models.robots import ROOT
from support.ros.ros_process import NO_ROS

FILES = [*ROOT.glob('rnea_ros/**/*.py'), *ROOT.glob('examples/*.py')]
HUMBLE = {
    kind: set(listed.split())
    for kind, _, listed in (
        line.partition(':')
        for line in (ROOT / 'test/data/rclpy_3_3.txt').read_text('utf-8').splitlines()[1:]
    )
}
"""Names of each ``module x``, and all ``attributes``."""


def imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield module and name of what is imported of rclpy, and each ``rclpy.name``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or '').split('.')[0] == 'rclpy':
            yield from ((node.module or '', each.name) for each in node.names)
        elif isinstance(node, ast.Attribute) and getattr(node.value, 'id', '') == 'rclpy':
            yield 'rclpy', node.attr


def defined(paths: Iterable[Path]) -> set[str]:
    """Return functions, methods and attributes that modules define."""
    found = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text('utf-8'))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.add(node.name)
            elif isinstance(node, ast.ClassDef):
                found |= {
                    name.id
                    for each in node.body if isinstance(each, (ast.Assign, ast.AnnAssign))
                    for name in ast.walk(each) if isinstance(name, ast.Name)
                }
            elif isinstance(node, ast.Attribute) and getattr(node.value, 'id', '') == 'self':
                found.add(node.attr)
    return found


def too_new(tree: ast.Module, new: set[str]) -> Iterator[str]:
    """Yield what a module uses without asking for it, and rclpy 3.3 does not have."""
    for module, name in imported(tree):
        known = HUMBLE.get(f'module {module}', set())
        if name not in known and f'module {module}.{name}' not in HUMBLE:
            yield f'{module}.{name}'
    asked = {
        getattr(node.args[1], 'value', '')
        for node in ast.walk(tree) if isinstance(node, ast.Call)
        and getattr(node.func, 'id', '') in ('hasattr', 'getattr')
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in new - asked:
            yield f'.{node.attr}'


def test_the_package_uses_what_rclpy_has_here_and_on_humble() -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    from rnea_ros.ros import rclpy_internals

    assert not rclpy_internals.missing()
    spec = find_spec('rclpy')
    assert spec is not None
    assert spec.origin is not None
    here = defined(Path(spec.origin).parent.rglob('*.py'))
    new = {name for name in here - HUMBLE['attributes'] - defined(FILES) if name[0] != '_'}
    # On Humble nothing is newer.
    assert 'add_pre_set_parameters_callback' in new or os.environ.get('ROS_DISTRO') == 'humble'
    for path in FILES:
        tree = ast.parse(path.read_text('utf-8'))
        assert not [*too_new(tree, new)], path.name
        for module, name in imported(tree):
            if not hasattr(import_module(module), name):
                import_module(f'{module}.{name}')
