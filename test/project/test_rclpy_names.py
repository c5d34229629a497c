# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the package uses of rclpy exists, in version 3.3 (Humble, not on PyPI) too."""

import ast
from collections.abc import Iterable, Iterator
from importlib import import_module
import os
from pathlib import Path

import pytest

from support.models.robots import ROOT
from support.ros.ros_process import NO_ROS

FILES = [*ROOT.glob('rnea_ros/**/*.py'), *ROOT.glob('examples/*.py')]
CALLS = ('create_', 'declare_', 'destroy_', 'get_')
"""Beginnings of rclpy's functions whose keywords are checked, as are those of its classes."""

HUMBLE = {
    kind: set(listed.split())
    for kind, _, listed in (
        line.partition(':')
        for line in (ROOT / 'test/data/rclpy_3_3.txt').read_text('utf-8').splitlines()[1:]
    )
}
"""Names of each ``module x``, all ``attributes``, and keywords by function; ``**`` is any."""


def imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield module and name of what is imported of rclpy, and each ``rclpy.name``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or '').split('.')[0] == 'rclpy':
            yield from ((node.module or '', each.name) for each in node.names)
        elif isinstance(node, ast.Attribute) and getattr(node.value, 'id', '') == 'rclpy':
            yield 'rclpy', node.attr


def defined(trees: Iterable[ast.Module]) -> set[str]:
    """Return functions, methods and attributes that modules define."""
    found = set()
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            fields = [each for each in node.body if isinstance(each, (ast.Assign, ast.AnnAssign))]
            names = [name for each in fields for name in ast.walk(each)]
            found |= {name.id for name in names if isinstance(name, ast.Name)}
        elif isinstance(node, ast.Attribute) and getattr(node.value, 'id', '') == 'self':
            found.add(node.attr)
    return found


def too_new(tree: ast.Module, new: set[str]) -> Iterator[str]:
    """Yield what a module uses without asking for it, and rclpy 3.3 does not have."""
    classes = set()
    for module, name in imported(tree):
        classes.add(name)
        known = HUMBLE.get(f'module {module}', set())
        if name not in known and f'module {module}.{name}' not in HUMBLE:
            yield f'{module}.{name}'
    nodes = [*ast.walk(tree)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    asked = {
        getattr(node.args[1], 'value', '')
        for node in calls if getattr(node.func, 'id', '') in ('hasattr', 'getattr')
    }
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in new and node.attr not in asked:
            yield f'.{node.attr}'
    for node in calls:
        name = getattr(node.func, 'attr', getattr(node.func, 'id', ''))
        known = HUMBLE.get(name, {'**'})
        if '**' not in known and (name.startswith(CALLS) or name in classes):
            yield from (f'{name}({x.arg}=)' for x in node.keywords if x.arg not in {*known, None})


def test_the_package_uses_what_rclpy_has_here_and_on_humble() -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    from rnea_ros.ros import rclpy_internals

    assert not rclpy_internals.missing()
    trees = {path: ast.parse(path.read_text('utf-8')) for path in FILES}
    modules = Path(import_module('rclpy').__file__ or '').parent.rglob('*.py')
    here = defined(ast.parse(path.read_text('utf-8')) for path in modules)
    new = {x for x in here - HUMBLE['attributes'] - defined(trees.values()) if x[0] != '_'}
    # On Humble nothing is newer.
    assert 'add_pre_set_parameters_callback' in new or os.environ.get('ROS_DISTRO') == 'humble'
    for path, tree in trees.items():
        assert not [*too_new(tree, new)], path.name
        for module, name in imported(tree):
            if not hasattr(import_module(module), name):
                import_module(f'{module}.{name}')
