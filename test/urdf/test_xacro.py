# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Files of xacro are expanded, and errors in them have a way out."""

from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
import sys

import pytest

from rnea_ros import RobotModel, UrdfError
from rnea_ros.tools.model import load_model
from rnea_ros.urdf import read_urdf
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


def test_missing_xacro_has_a_way_out(xacro_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'xacro', None)
    with pytest.raises(UrdfError) as caught:
        RobotModel.from_urdf(xacro_file)
    assert 'the package xacro is not installed: install it' in str(caught.value)
    assert f'with `xacro {xacro_file}`' in str(caught.value)
