# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Files of xacro are expanded, and errors in them have a way out."""

from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
import sys

import pytest

from rnea_ros import RobotModel, UrdfError
from rnea_ros.tools.arguments import load_model
from rnea_ros.urdf import disabled_pairs, read_urdf, source
from support.cases import each
from support.models.robots import ARM, load

NAMESPACE = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'

needs_xacro = pytest.mark.skipif(find_spec('xacro') is None, reason='xacro is not installed')


@pytest.fixture
def xacro_file(tmp_path: Path) -> Path:
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
    expected = load(ARM).description
    assert RobotModel.from_urdf(str(xacro_file)).description == expected
    assert load_model('a tool', xacro_file, (0, 0, -9.81)).description == expected
    with ThreadPoolExecutor(8) as pool:
        expanded = [*pool.map(read_urdf, 8 * [xacro_file])]
    assert expanded == 8 * [read_urdf(xacro_file)]


@needs_xacro
@each(('content', 'reason'), [
    ('<xacro:property name="a" value="${1 / 0}"/>${a}', 'zero'),
    ('<xacro:include filename="no.xacro"/>', 'no.xacro'),
    ('<link name="$(arg prefix)a"/>', 'NAME:=VALUE'),
    ('<link', 'not well-formed'),
    ('<xacro:include filename="$(find no_such)/a"/>', 'Try `xacro'),
    ('<xacro:include filename="arm.xacro"/>', 'recursion'),
    ('<link name="$(find no_such)"/>', 'no_such is neither in the ROS environment (source its'),
    ("<link name=\"${'a' * 10**10}\"/>", 'MemoryError'),
    ("<link name=\"${'a' * 2**24}\"/>", 'its URDF has over 16777216 bytes. Try'),
    ('<link name="$(env NO)"/>', ".xacro: environment variable 'NO' is not set. Try"),
    ('<xacro:include filename="no"/>', ".xacro: [Errno 2] No such file or directory: '"),
])
def test_a_xacro_file_with_an_error_is_rejected(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / 'arm.xacro'
    path.write_text(f'<robot name="a" {NAMESPACE}>{content}</robot>', encoding='utf-8')
    with pytest.raises(UrdfError, match=f'xacro cannot expand {path}') as caught:
        RobotModel.from_urdf(path)
    assert reason in str(caught.value)
    path.write_text(f'<!DOCTYPE robot [<!ENTITY name "arm">]>{ARM}', encoding='utf-8')
    with pytest.raises(UrdfError, match='DTD'):
        RobotModel.from_urdf(path)
    path.write_text(ARM, encoding='utf-8')
    assert RobotModel.from_urdf(path).name == 'robot'


@needs_xacro
def test_an_expansion_without_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, 'SECONDS', 1)
    path = tmp_path / 'arm.xacro'
    path.write_text(f'<robot name="a" {NAMESPACE}><link name="${{9**9**9}}"/></robot>')
    with pytest.raises(UrdfError, match=r'arm\.xacro: it takes over 1 s\. Try `xacro'):
        read_urdf(str(path))


@needs_xacro
def test_a_file_that_only_defines_macros_is_named(tmp_path: Path) -> None:
    path = tmp_path / 'arm_macro.xacro'
    macro = '<xacro:macro name="{}" params="p"><link name="${{p}}"/></xacro:macro>'
    path.write_text(f'<robot {NAMESPACE}>{macro.format("arm")}{macro.format("hand")}</robot>')
    with pytest.raises(UrdfError, match=r'_macro\.xacro only defines macros \(arm, hand\): use a'):
        read_urdf(path)
    call = f'<xacro:include filename="{path}"/><xacro:hand p="palm"/>'
    path = tmp_path / 'arm.xacro'
    path.write_text(f'<robot name="a" {NAMESPACE}>{call}</robot>')
    assert RobotModel.from_urdf(path).link_names == ('palm',)
    path = tmp_path / 'arm.srdf.xacro'
    pair = '<disable_collisions link1="a" link2="b"/>'
    macro = f'<xacro:macro name="near">{pair}</xacro:macro><xacro:near/>'
    path.write_text(f'<robot name="a" {NAMESPACE}>{macro}</robot>')
    assert disabled_pairs(path) == {frozenset('ab')}
    path.write_text('<robot name="a"')
    with pytest.raises(UrdfError, match=r'^SRDF: xacro cannot expand'):
        disabled_pairs(path)


@needs_xacro
@each('folder', ['arm', 'share/arm', 'share/tool'])
def test_packages_are_found_in_the_environment_and_above_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    found, path = tmp_path / 'ws' / folder, tmp_path / 'ws/arm/urdf/arm.xacro'
    name = found.name
    (path.parent / name).mkdir(parents=True, exist_ok=True)  # no package
    found.mkdir(parents=True, exist_ok=True)
    (found / 'package.xml').write_text('', encoding='utf-8')
    path.write_text(f'<robot name="a" {NAMESPACE}><link name="$(find {name})"/></robot>')
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path / 'ws'))
    assert RobotModel.from_urdf(path).link_names == (str(found),)


def test_missing_xacro_has_a_way_out(xacro_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'xacro', None)
    with pytest.raises(UrdfError) as caught:
        RobotModel.from_urdf(xacro_file)
    assert 'the package xacro is not installed: install it' in str(caught.value)
    assert f'with `xacro {xacro_file}`' in str(caught.value)
