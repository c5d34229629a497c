# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The names that a version of rclpy defines, read from its source."""

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

ANY = '**'
"""Stands for every keyword."""


class Names(NamedTuple):
    """
    The names of a version.

    :param modules: what each module defines or imports
    :param attributes: methods, properties, attributes and functions
    :param parameters: parameters by the name of a function or class
    """

    modules: dict[str, set[str]]
    attributes: set[str]
    parameters: dict[str, set[str]]


def names(sources: Iterable[tuple[str, str]]) -> Names:
    """
    Return the names that source files define.

    :param sources: name and text of each module
    """
    found = Names({}, set(), {})
    for module, text in sources:
        tree = ast.parse(text)
        found.modules[module] = {name for node in tree.body for name in _defined(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found.attributes.update(name for each in node.body for name in _defined(each))
                for each in node.body:
                    if isinstance(each, ast.FunctionDef) and each.name == '__init__':
                        found.parameters.setdefault(node.name, set()).update(_parameters(each))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.attributes.add(node.name)
                found.parameters.setdefault(node.name, set()).update(_parameters(node))
            elif isinstance(node, ast.Attribute) and getattr(node.value, 'id', '') == 'self':
                found.attributes.add(node.attr)
    return found


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((each.asname or each.name).split('.')[0] for each in node.names)
    elif isinstance(node, ast.If | ast.Try):
        for each in node.body:
            yield from _defined(each)
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        yield from (each.id for each in ast.walk(node) if isinstance(each, ast.Name)
                    and isinstance(each.ctx, ast.Store))


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    arguments = function.args
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        yield each.arg
    if arguments.kwarg is not None:
        yield ANY
