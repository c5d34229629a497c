# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Read YAML within bounds; any fault of it is one sentence with file, line and the way out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from .errors import RneaError, brief, one_line
from .files import read_regular

MAX_BYTES, MAX_DEPTH = 32_000_000, 50
LONG = 'record a long motion as a bag'
MAX_VALUES = 1_000_000  # values of a document, aliases expanded; about 500 MB
MAX_SCALAR = 400  # characters of a number, date or other value that is not text


class YamlError(RneaError):
    """YAML cannot be read."""


def read_yaml(path: Path) -> Iterator[Any]:
    """Yield the documents of a regular YAML file; raise a YamlError if it cannot be read."""
    yield from _documents(_text(path), str(path), several=True)


def read_document(path: Path, most: int = MAX_BYTES, way_out: str = LONG) -> Any:
    """Return the only document of a YAML file, None if it is empty; or raise a YamlError."""
    return parse_yaml(_text(path, most, way_out), str(path))


def parse_yaml(text: str, where: str) -> Any:
    """Return the only document of a text, None if it is empty; errors name it ``where``."""
    return next(_documents(text, where, several=False))


def _text(path: Path, most: int = MAX_BYTES, way_out: str = LONG) -> str:
    try:
        return read_regular(path, most, way_out).decode('utf-8')
    except UnicodeDecodeError as error:
        raise YamlError(f'{path} is not in UTF-8: {one_line(error)}; save it as UTF-8') from error
    except OSError as error:
        raise YamlError(f'{path} cannot be read: {one_line(error)}') from error
    except ValueError as error:
        raise YamlError(f'{path} {one_line(error)}') from error


def _documents(text: str, where: str, *, several: bool) -> Iterator[Any]:
    try:
        import yaml
    except ImportError as error:
        raise YamlError('reading YAML needs PyYAML: pip install pyyaml') from error
    try:
        loader = _loader()(text)
        while several and loader.check_data():
            yield loader.get_data()
        if not several:
            yield loader.get_single_data()
    except yaml.YAMLError as error:
        mark = getattr(error, 'problem_mark', None)  # an invalid character has a position only
        place = f'{where}, line {mark.line + 1}' if mark else where
        fault = getattr(error, 'problem', None) or one_line(error)
        raise YamlError(f'{place} is not usable YAML: {fault}; correct it') from error


@cache
def _loader() -> Any:
    """Return the class of loaders: C reads the events, Python composes, as C has no bounds."""
    import yaml

    in_c = (yaml.composer.Composer, yaml.CSafeLoader) if yaml.__with_libyaml__ else ()

    class Loader(*(in_c or (yaml.SafeLoader,))):  # type: ignore[misc]
        def __init__(self, text: str) -> None:
            (yaml.CSafeLoader if in_c else yaml.SafeLoader).__init__(self, text)
            yaml.composer.Composer.__init__(self)
            self.depth = self.count = 0
            self.counts: dict[str, int] = {}  # of values, by anchor once its value is complete

        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()
            before = self.count if self.depth else 0
            repeated = isinstance(event, yaml.AliasEvent) and event.anchor in self.anchors
            if repeated and event.anchor not in self.counts:
                self.reject(event, f'{brief(event.anchor)} contains itself')
            self.count = before + (self.counts[event.anchor] if repeated else 1)
            self.depth += 1
            if self.depth > MAX_DEPTH:
                self.reject(event, f'it is nested deeper than {MAX_DEPTH} levels')
            if self.count > MAX_VALUES:
                self.reject(event, f'it has over {MAX_VALUES} values, counted at each alias')
            if not repeated:
                self.counts.pop(event.anchor, None)
            node = super().compose_node(parent, index)
            self.depth -= 1
            if not repeated:
                self.counts[event.anchor] = self.count - before
                self.reject_duplicates(node)
            return node

        def reject_duplicates(self, node: Any) -> None:
            pairs = node.value if isinstance(node, yaml.MappingNode) else ()
            keys = set()
            for key in (key for key, _ in pairs if isinstance(key, yaml.ScalarNode)):
                if (key.tag, key.value) in keys:
                    self.reject(key, f'{brief(key.value)} is given twice')
                keys.add((key.tag, key.value))

        def construct_object(self, node: Any, deep: bool = False) -> Any:
            long = isinstance(node, yaml.ScalarNode) and len(node.value) > MAX_SCALAR
            with suppress(ArithmeticError, AttributeError, LookupError, ValueError):
                if not long or node.tag == self.DEFAULT_SCALAR_TAG:
                    return super().construct_object(node, deep)
            kind = node.tag.rpartition(':')[2]
            self.reject(node, f'{brief(node.value)} is not a valid {kind}')

        def reject(self, place: Any, fault: str) -> None:
            raise yaml.composer.ComposerError(None, None, fault, place.start_mark)

    return Loader
