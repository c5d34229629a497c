# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""YAML is read within bounds, and rejected with file, line, fault and the way out."""

from collections.abc import Iterator
import os
from pathlib import Path
import re

import pytest

from rnea_ros import yaml_files
from rnea_ros.launch_arguments import command_topic
from rnea_ros.yaml_files import YamlError, parse_yaml, read_document, read_yaml
from support.fuzz.hostile_files import bomb

yaml = pytest.importorskip('yaml', reason='PyYAML is not installed')

TOO_MANY = r'line \d+ is .* over 1000000 values'


@pytest.fixture(params=[True, False], ids=['libyaml', 'python'], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Read with PyYAML's parser in C, then with its parser in Python."""
    monkeypatch.setattr(yaml, '__with_libyaml__', request.param and yaml.__with_libyaml__)
    yaml_files._loader.cache_clear()
    yield
    yaml_files._loader.cache_clear()


@pytest.mark.parametrize(('text', 'fault'), [
    (40_000 * '[', 'line 1 is not usable YAML: it is nested deeper than 50 levels'),
    ('\n'.join(f'{k * " "}a:' for k in range(60)), 'line 50 is .* nested deeper'),
    (bomb('{<<: [%s]}'), TOO_MANY), (bomb('[%s]'), TOO_MANY), (bomb('{? [%s] : 1}'), TOO_MANY),
    ('a: 1\nb: 2\na: 3\n', "line 3 is not usable YAML: 'a' is given twice; correct it"),
    ('a: 1\nb: &b\n  c: [*b]\n', "line 3 is not usable YAML: 'b' contains itself; correct it"),
    ('--- &a 1\n--- &a [*a]\n', "line 2 is .* 'a' contains itself"),
    ('a:\n  2001-99-99\n', "line 2 is not usable YAML: '2001-99-99' is not a valid timestamp"),
    (f'a: {5000 * "9"}', "line 1 is .* '9+...9+' is not a valid int"),
    (f'a: {":".join(100_000 * "1")}', 'is not a valid int'), ('a: !!bool x', 'not a valid bool'),
    ('a: !!int ""', "line 1 is .* '' is not a valid int"), ('a: !!python/tuple [1]', 'python/tup'),
    ('a: [1\n', 'line 2 is not usable YAML: .*; correct it'), ('a: \x1b', 'not allowed.*; corr'),
    ('*a', "undefined alias 'a'"), ('? [1]\n: 2', 'unhashable key'), ('<<: 1', 'for merging'),
])  # fmt: skip
def test_a_fault_is_one_sentence_with_its_line(text: str, fault: str, tmp_path: Path) -> None:
    (tmp_path / 'some.yaml').write_text(text, encoding='utf-8')
    with pytest.raises(YamlError) as rejection:
        list(read_yaml(tmp_path / 'some.yaml'))
    assert re.fullmatch(rf'.*/some\.yaml.*{fault}.*', str(rejection.value))


def test_usual_yaml_is_read_as_by_pyyaml() -> None:
    text = 'a: &a {x: 1, "y": [1e-3, .inf]}\nb: {<<: *a, x: 2}\nc: [*a, *a]\n1: 2001-01-01\n'
    assert parse_yaml(text, 'text') == yaml.safe_load(text)
    assert parse_yaml('', 'text') is None
    with pytest.raises(YamlError, match=r'^text, line \d is .* found another document'):
        parse_yaml('a: 1\n---\na: 2', 'text')


def test_only_regular_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / 'pipe')
    monkeypatch.setattr(Path, 'is_file', lambda _: True)  # when it opens, it became a pipe
    (tmp_path / 'binary').write_bytes(b'a: \xff')
    for name, fault in (
        ('pipe', 'is a pipe or device: save'), ('/dev/zero', 'a pipe'), ('none', 'No such file'),
        ('', 'Is a directory'), ('binary', 'is not in UTF-8: .*; save it as UTF-8'),
    ):
        for read in (read_document, lambda path: command_topic([path])):
            with pytest.raises(YamlError, match=fault):
                read(tmp_path / name)


def test_a_large_file_is_rejected(tmp_path: Path) -> None:
    (tmp_path / 'some.yaml').write_text('a: 1234567')
    assert read_document(tmp_path / 'some.yaml', 10) == {'a': 1234567}
    (tmp_path / 'some.yaml').write_text('a: 12345678')
    with pytest.raises(YamlError, match='over 10 bytes; record a long motion as a bag'):
        read_document(tmp_path / 'some.yaml', 10)
