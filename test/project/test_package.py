# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What is shipped: one version, dependencies, everything in the wheel, parameter files."""

import ast
import email
from importlib.metadata import version
from pathlib import Path
import re
import shutil
import subprocess
import sys
from typing import Any
import xml.etree.ElementTree as ElementTree
import zipfile

import pytest

from rnea_ros.resources import ResourceError, share_path
from support.models.robots import PARAMETER_FILES, ROOT
from support.ros.ros_process import NO_ROS

SETUP = (ROOT / 'setup.py').read_text(encoding='utf-8')
EXECUTABLES = re.findall(r"'(\w+)': 'rnea_ros(?:\.\w+)+'", SETUP)
PACKAGE = ElementTree.parse(ROOT / 'package.xml').getroot()
SHIPPED = (
    'config', 'config/presets', 'examples', 'examples/feedforward_controller',
    'examples/own_motors', 'launch', 'layouts', 'urdf',
)
PAGES = ('docs/control.md', 'docs/troubleshooting.md')
"""Their words are shown by the panel."""

KEYS = {
    'numpy': 'python3-numpy', 'numba': 'python3-numba', 'llvmlite': 'python3-numba',
    'matplotlib': 'python3-matplotlib', 'scipy': 'python3-scipy', 'yaml': 'python3-yaml',
    'urdf_parser_py': 'urdfdom_py',
}
"""rosdep's keys for what is imported, where they have another name."""

FROM_PIP = {'mujoco', 'pyarrow', 'rosbags', 'ruckig', 'trimesh', 'viser', 'websockets'}
"""Have keys for pip alone, which a released package may not depend on."""


def test_the_version_is_the_same_everywhere() -> None:
    version = PACKAGE.findtext('version') or ''
    assert re.fullmatch(r'\d+\.\d+\.\d+', version)
    assert f"version='{version}'" in SETUP
    changelog = (ROOT / 'CHANGELOG.rst').read_text(encoding='utf-8')
    assert re.search(rf'^{re.escape(version)} \(', changelog, re.MULTILINE)


def test_package_xml_names_what_the_code_imports_and_nothing_else() -> None:
    imported = set()
    for path in [*(ROOT / 'rnea_ros').rglob('*.py'), *(ROOT / 'launch').rglob('*.py')]:
        for part in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(part, ast.Import):
                imported |= {alias.name.partition('.')[0] for alias in part.names}
            elif isinstance(part, ast.ImportFrom) and part.level == 0:
                imported.add((part.module or '').partition('.')[0])
    others = imported - sys.stdlib_module_names - {'rnea_ros'}
    assert others >= FROM_PIP
    keys = {KEYS.get(name, name) for name in others - FROM_PIP}
    named = {e.text for e in PACKAGE.findall('exec_depend') if not e.get('condition')}
    assert named == keys | {'lifecycle_msgs'}  # of rclpy's lifecycle nodes, and of its services
    from_pip = re.sub(r"'(test|lint|docs)': \[[^]]*\]", '', SETUP)
    assert all(f"'{name}" in from_pip for name in ('xacro', *FROM_PIP))


def test_minimum_versions_are_the_same_for_pip_and_rosdep_and_are_tested() -> None:
    for_pip = dict(re.findall(r"'([\w-]+)>=([\d.]+)'", SETUP))
    for_rosdep = {
        (element.text or '').removeprefix('python3-'): element.get('version_gte')
        for element in PACKAGE.findall('exec_depend')
        if element.get('version_gte')
    }
    assert for_rosdep.keys() == {'numpy', 'numba', 'matplotlib', 'scipy'}
    assert for_rosdep.items() <= for_pip.items()
    oldest = (ROOT / 'constraints/ubuntu-22.04.txt').read_text(encoding='utf-8')
    tested = dict(re.findall(r'^([\w-]+)==(\S+)$', oldest, re.MULTILINE))
    assert {name: tested[name] for name in for_pip} == for_pip


def test_the_wheel_has_what_ros_looks_for(tmp_path: Path) -> None:
    pytest.importorskip('pip', reason='the wheel is built by pip, which is missing')
    if [int(number) for number in version('setuptools').split('.')[:2]] < [70, 1]:
        pytest.skip('setuptools before 70.1 builds no wheel')
    # A copy: setuptools leaves its build directory in the sources.
    source = tmp_path / 'source'
    source.mkdir()
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, source)
    without = shutil.ignore_patterns('__pycache__')
    for name in ('rnea_ros', 'resource', *{each.partition('/')[0] for each in SHIPPED}):
        shutil.copytree(ROOT / name, source / name, ignore=without)
    (source / 'docs').mkdir()
    for page in PAGES:
        shutil.copy(ROOT / page, source / page)
    command = [sys.executable, '-m', 'pip', 'wheel', '-qq', '--no-deps', '--no-build-isolation']
    command += ['-w', str(tmp_path), '.']
    subprocess.run(command, cwd=source, check=True)
    expected = {'share/ament_index/resource_index/packages/rnea_ros', 'share/rnea_ros/package.xml',
                *(f'share/rnea_ros/{page}' for page in PAGES)}
    for directory in SHIPPED:
        files = [path.name for path in (ROOT / directory).iterdir() if path.is_file()]
        assert files
        expected |= {f'share/rnea_ros/{directory}/{name}' for name in files}
    expected |= {f'lib/rnea_ros/{name}' for name in EXECUTABLES}
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / 'rnea_ros').rglob('*.py')}
    (path,) = tmp_path.glob('*.whl')
    with zipfile.ZipFile(path) as wheel:
        data = {
            name.split('.data/data/', 1)[1]: wheel.getinfo(name).external_attr >> 16
            for name in wheel.namelist() if '.data/data/' in name
        }
        assert data.keys() == expected
        assert all(data[f'lib/rnea_ros/{name}'] & 0o100 for name in EXECUTABLES)  # programs
        assert modules | {'rnea_ros/py.typed'} <= {*wheel.namelist()}
        (name,) = (name for name in wheel.namelist() if name.endswith('.dist-info/METADATA'))
        metadata = email.message_from_bytes(wheel.read(name))
    assert metadata['Version'] == PACKAGE.findtext('version')
    assert metadata['License'] == PACKAGE.findtext('license')
    urls = {each.get('type'): each.text for each in PACKAGE.findall('url')}
    assert metadata.get_all('Project-URL') == [f'{name}, {url}' for name, url in urls.items()]
    readme = str(metadata.get_payload())
    assert f'git clone {urls["repository"]} ' in readme
    assert f'({urls["bugtracker"]})' in readme


def test_parameter_files_are_accepted_and_one_has_every_default() -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    import yaml

    from rnea_ros.feedforward.settings import all_declarations, complete_values

    for path in PARAMETER_FILES:
        given = yaml.safe_load(path.read_text(encoding='utf-8'))['/**']['ros__parameters']
        assert given.items() <= complete_values(given).items(), path.name
    text = (ROOT / 'config/feedforward.yaml').read_text(encoding='utf-8')
    values: dict[str, Any] = yaml.safe_load(text)['/**']['ros__parameters']
    table = all_declarations((), ())
    defaults = {name: declared.default for name, declared in table.items()}
    del defaults['robot_description']
    assert values == defaults
    marked = set(re.findall(r'^    ([\w.]+):[^#\n]*# \(active\)', text, re.MULTILINE))
    assert marked == {name for name, declared in table.items() if declared.while_active}


def test_a_file_of_the_package_is_found_and_a_missing_one_named() -> None:
    assert share_path('urdf/panda.urdf').samefile(ROOT / 'urdf/panda.urdf')
    with pytest.raises(ResourceError, match=r'urdf/none\.urdf'):
        share_path('urdf/none.urdf')
