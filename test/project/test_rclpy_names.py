# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
What the package uses of rclpy exists in version 3.3 (Humble) too, which is not on PyPI.

``test/data/rclpy_3_3.txt`` has the names of that version.
"""

import ast
from collections.abc import Iterator
import functools
from importlib.util import find_spec
import os
from pathlib import Path

import pytest

from support.models.robots import ROOT
from support.ros.rclpy_names import ANY, Names, names
from support.ros.ros_process import NO_ROS

FILES = [*ROOT.glob('rnea_ros/**/*.py'), *ROOT.glob('examples/*.py')]
CALLS = ('create_', 'declare_', 'destroy_', 'get_')
"""Beginnings of rclpy's functions whose keywords are checked, as are those of its classes."""


@functools.cache
def humble() -> Names:
    modules, parameters = {}, {}
    attributes: set[str] = set()
    for line in (ROOT / 'test/data/rclpy_3_3.txt').read_text('utf-8').splitlines()[1:]:
        kind, _, listed = line.partition(':')
        if kind == 'attributes':
            attributes = set(listed.split())
        elif kind.startswith('module '):
            modules[kind.removeprefix('module ')] = set(listed.split())
        else:
            parameters[kind] = set(listed.split())
    return Names(modules, attributes, parameters)


def installed() -> Names:
    pytest.importorskip('rclpy', reason=NO_ROS)
    spec = find_spec('rclpy')
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).parent
    return names(
        ('.'.join(path.relative_to(root.parent).with_suffix('').parts), path.read_text('utf-8'))
        for path in root.rglob('*.py')
    )


def imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield module and name of what is imported of rclpy, and each ``rclpy.name``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or '').split('.')[0] == 'rclpy':
            yield from ((node.module or '', each.name) for each in node.names)
        elif isinstance(node, ast.Attribute) and getattr(node.value, 'id', '') == 'rclpy':
            yield 'rclpy', node.attr


def asked_for(tree: ast.Module) -> set[str]:
    """Return the names that a module asks for by hasattr or getattr before it uses them."""
    return {
        str(node.args[1].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        and node.func.id in ('hasattr', 'getattr') and isinstance(node.args[1], ast.Constant)
    }


def newer(text: str, new: set[str]) -> list[str]:
    """Return what a module uses unconditionally and rclpy 3.3 does not have."""
    tree, old = ast.parse(text), humble()
    classes = {name for _, name in imported(tree)}
    unconditional = new - asked_for(tree)
    found = [
        f'{module}.{name}'
        for module, name in imported(tree)
        if name not in old.modules.get(module, ()) and f'{module}.{name}' not in old.modules
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in unconditional:
            found.append(f'.{node.attr}')
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, 'attr', getattr(node.func, 'id', ''))
        known = old.parameters.get(name, {ANY})
        if name in classes or name.startswith(CALLS):
            found += [
                f'{name}({each.arg}=)' for each in node.keywords
                if each.arg is not None and ANY not in known and each.arg not in known
            ]
    return found


@pytest.mark.parametrize(('text', 'found'), [
    ('from rclpy.node import Node', []),
    ('from rclpy.experimental import AsyncNode', ['rclpy.experimental.AsyncNode']),
    ('rclpy.init(args=[])', []),
    ('node.create_timer(1.0, f, autostart=False)', ['create_timer(autostart=)']),
    ('node.create_timer(1.0, f, clock=c)', []),
    ('subscription.set_on_new_message_callback(f)', ['.set_on_new_message_callback']),
    ("hasattr(s, 'set_on_new_message_callback') and s.set_on_new_message_callback", []),
])
def test_newer_names_and_keywords_are_found(text: str, found: list[str]) -> None:
    assert newer(text, {'set_on_new_message_callback'}) == found


def test_no_module_uses_what_humble_lacks() -> None:
    texts = {str(path.relative_to(ROOT)): path.read_text('utf-8') for path in FILES}
    own = names(texts.items()).attributes
    new = {name for name in installed().attributes - humble().attributes - own if name[0] != '_'}
    # On Humble nothing is newer.
    assert 'add_pre_set_parameters_callback' in new or os.environ.get('ROS_DISTRO') == 'humble'
    assert not {path: found for path, text in texts.items() if (found := newer(text, new))}
