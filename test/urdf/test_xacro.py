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
MACRO = (
    f'<robot name="robot" {NAMESPACE}><link name="base"/><xacro:arg name="mass" default="1.0"/>'
    '<xacro:macro name="arm" params="name"><link name="${name}"/></xacro:macro>'
    f'<xacro:arm name="arm"/>{ARM[ARM.index("<joint") :]}'
)

needs_xacro = pytest.mark.skipif(find_spec('xacro') is None, reason='xacro is not installed')


@each('text', [
    pytest.param(MACRO, id='macro'),
    pytest.param(f'<robot name="a" {NAMESPACE}><link name="a"/><xacro:b/></robot>', id='call'),
    pytest.param(ARM.replace('<axis', '<xacro:insert_block name="b"/><axis'), id='in-a-joint'),
    pytest.param(ARM.replace('<joint ', '<joint xacro:a="b" '), id='attribute'),
    pytest.param(ARM.replace('"base"', '"${prefix}base"'), id='property-in-names'),
    pytest.param(ARM.replace('"arm"', '"$(arg prefix)arm"'), id='argument-in-a-name'),
    pytest.param(ARM.replace('value="1.0"', 'value="${2 * m}"'), id='property-in-a-number'),
    pytest.param(ARM.replace('name="robot"', 'name="$(arg robot)"'), id='robot-name'),
    pytest.param(f'<robot name="a"><include filename="b"/>{ARM[20:]}', id='old-include'),
    pytest.param('<robot><link name="a"/><macro name="b"/></robot>', id='old-macro'),
    pytest.param(f'<macros {NAMESPACE}><xacro:macro name="a"/></macros>', id='other-root'),
])
def test_raw_xacro_is_rejected_with_the_way_out(text: str) -> None:
    with pytest.raises(UrdfError) as caught:
        parse_urdf(text)
    assert WAY_OUT in caught.value.reason


@each(('before', 'after'), [
    pytest.param('<robot ', f'<robot {NAMESPACE} ', id='declared-prefix'),
    pytest.param('<joint', '<!-- <xacro:arm/> ${x} --><joint', id='comment'),
    pytest.param('<inertial>', '<visual><geometry><mesh filename="$(find a)/b.dae"/>'
                 '</geometry></visual><inertial>', id='mesh'),
    pytest.param('</robot>', '<gazebo><p x="${HOME}">$(find a)</p></gazebo></robot>', id='plugin'),
])
def test_remains_of_xacro_that_mean_nothing_are_left_out(before: str, after: str) -> None:
    text = ARM.replace(before, after, 1)
    assert text != ARM
    assert parse_urdf(text) == parse_urdf(ARM)


def test_raw_xacro_in_a_file_of_another_name_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / 'arm.urdf'
    path.write_text(MACRO, encoding='utf-8')
    with pytest.raises(UrdfError, match=WAY_OUT):
        RobotModel.from_urdf(path)


@pytest.fixture
def xacro_file(tmp_path: Path) -> Path:
    """Return a robot whose mass comes from another file."""
    (tmp_path / 'numbers.xacro').write_text(
        f'<robot {NAMESPACE}><xacro:property name="half" value="0.5"/></robot>', encoding='utf-8'
    )
    include = f'<robot name="robot" {NAMESPACE}><xacro:include filename="numbers.xacro"/>'
    text = ARM.replace('<robot name="robot">', include)
    path = tmp_path / 'arm.urdf.xacro'
    path.write_text(text.replace('value="1.0"', 'value="${2 * half}"'), encoding='utf-8')
    return path


@needs_xacro
def test_a_xacro_file_is_expanded(xacro_file: Path) -> None:
    loud = xacro_file.rename(xacro_file.with_name('ARM.XACRO'))
    for source in (loud, str(loud)):
        assert RobotModel.from_urdf(source).description == load(ARM).description
        assert load_model('a tool', source, (0, 0, -9.81)).description == load(ARM).description
        assert '${' not in read_urdf(source)


@needs_xacro
def test_threads_expand_one_file_after_the_other(xacro_file: Path) -> None:
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(read_urdf(xacro_file))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == 8 * [read_urdf(xacro_file)]


@needs_xacro
@each(('content', 'reason'), [
    pytest.param('<xacro:property name="a" value="${1 / 0}"/>${a}', 'zero', id='expression'),
    pytest.param('<xacro:include filename="no.xacro"/>', 'no.xacro', id='include'),
    pytest.param('<link name="$(arg prefix)a"/>', 'NAME:=VALUE', id='argument'),
    pytest.param('<xacro:no_such_macro/>', 'no_such_macro', id='macro'),
    pytest.param('<xacro:include filename="$(find no_such)/a"/>', 'Try `xacro', id='find'),
    pytest.param('<xacro:include filename="arm.xacro"/>', 'recursion', id='endless'),
    pytest.param('<link', 'not well-formed', id='xml'),
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
