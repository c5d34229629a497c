# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Xacro: files are expanded, raw text is rejected with the way out."""

from importlib.util import find_spec
from pathlib import Path
import sys
import threading

import pytest

from rnea_ros import RobotModel, UrdfError
from rnea_ros.tools.model import load_model
from rnea_ros.urdf import parse_urdf, read_urdf
from support.cases import each
from support.models.robots import ARM, load

NAMESPACE = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
WAY_OUT = 'this is xacro: expand it with `xacro FILE`'

needs_xacro = pytest.mark.skipif(find_spec('xacro') is None, reason='xacro is not installed')


@each('text', [
    ARM.replace('<link', f'<xacro:arg {NAMESPACE} name="mass" default="1.0"/><link', 1),
    ARM.replace('<axis', '<xacro:insert_block name="b"/><axis'),
    ARM.replace('<joint ', '<joint xacro:a="b" '), ARM.replace('"base"', '"${prefix}base"'),
    ARM.replace('"arm"', '"$(arg prefix)arm"'), ARM.replace('value="1.0"', 'value="${2 * m}"'),
    ARM.replace('name="robot"', 'name="$(arg robot)"'),
    *(f'<robot name="a"><{tag} name="b"/>{ARM[20:]}' for tag in (
        'include', 'macro', 'if', 'unless')),
    f'<macros {NAMESPACE}><xacro:macro name="a"/></macros>',
])
def test_raw_xacro_is_rejected_with_the_way_out(text: str, tmp_path: Path) -> None:
    path = tmp_path / 'arm.urdf'
    path.write_text(text, encoding='utf-8')
    with pytest.raises(UrdfError) as caught:
        RobotModel.from_urdf(path)
    assert WAY_OUT in caught.value.reason


@each(('before', 'after'), [
    ('<robot ', f'<robot {NAMESPACE} '), ('<joint', '<!-- <xacro:arm/> ${x} --><joint'),
    ('<inertial>', '<visual><geometry><mesh filename="$(find a)/b.dae"/></geometry></visual>'
     '<inertial>'),
    ('</robot>', '<gazebo><p x="${HOME}">$(find a)</p></gazebo></robot>'),
])
def test_remains_of_xacro_that_mean_nothing_are_left_out(before: str, after: str) -> None:
    text = ARM.replace(before, after, 1)
    assert text != ARM
    assert parse_urdf(text) == parse_urdf(ARM)


@pytest.fixture
def xacro_file(tmp_path: Path) -> Path:
    """Return a robot whose mass comes from another file; its name is in capitals."""
    (tmp_path / 'numbers.xacro').write_text(
        f'<robot {NAMESPACE}><xacro:property name="half" value="0.5"/></robot>', encoding='utf-8'
    )
    include = f'<robot name="robot" {NAMESPACE}><xacro:include filename="numbers.xacro"/>'
    text = ARM.replace('<robot name="robot">', include)
    path = tmp_path / 'ARM.XACRO'
    path.write_text(text.replace('value="1.0"', 'value="${2 * half}"'), encoding='utf-8')
    return path


@needs_xacro
def test_a_xacro_file_is_expanded_also_by_several_threads(xacro_file: Path) -> None:
    for source in (xacro_file, str(xacro_file)):
        assert RobotModel.from_urdf(source).description == load(ARM).description
        assert load_model('a tool', source, (0, 0, -9.81)).description == load(ARM).description
    expanded: list[str] = []
    threads = [
        threading.Thread(target=lambda: expanded.append(read_urdf(xacro_file))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert expanded == 8 * [read_urdf(xacro_file)]


@needs_xacro
@each(('content', 'reason'), [
    ('<xacro:property name="a" value="${1 / 0}"/>${a}', 'zero'),
    ('<xacro:include filename="no.xacro"/>', 'no.xacro'),
    ('<link name="$(arg prefix)a"/>', 'NAME:=VALUE'),
    ('<xacro:no_such_macro/>', 'no_such_macro'), ('<link', 'not well-formed'),
    ('<xacro:include filename="$(find no_such)/a"/>', 'Try `xacro'),
    ('<xacro:include filename="arm.xacro"/>', 'recursion'),
])
def test_a_xacro_file_with_an_error_is_rejected(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / 'arm.xacro'
    path.write_text(f'<robot name="a" {NAMESPACE}>{content}</robot>', encoding='utf-8')
    with pytest.raises(UrdfError, match=f'xacro cannot expand {path}') as caught:
        RobotModel.from_urdf(path)
    assert reason in str(caught.value)
    path.write_text(ARM, encoding='utf-8')
    assert RobotModel.from_urdf(path).name == 'robot'


@each('name', ['no_such.xacro', 'folder.xacro', 'binary.xacro'])
def test_a_xacro_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / 'folder.xacro').mkdir(exist_ok=True)
    (tmp_path / 'binary.xacro').write_bytes(b'\xff\xfe')
    with pytest.raises(UrdfError, match=f'cannot read .*{name}'):
        RobotModel.from_urdf(tmp_path / name)


def test_missing_xacro_has_a_way_out(xacro_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'xacro', None)
    with pytest.raises(UrdfError) as caught:
        RobotModel.from_urdf(xacro_file)
    assert 'the package xacro is not installed: install it' in str(caught.value)
    assert f'with `xacro {xacro_file}`' in str(caught.value)


@needs_xacro
def test_a_document_type_from_xacro_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / 'arm.urdf.xacro'
    path.write_text(f'<!DOCTYPE robot [<!ENTITY name "arm">]>{ARM}', encoding='utf-8')
    with pytest.raises(UrdfError, match='DTD'):
        RobotModel.from_urdf(path)
