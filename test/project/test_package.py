# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What is shipped: one version, everything in the wheel, documents that say what the code does."""

import ast
from collections.abc import Iterator
import email
import importlib.util
from pathlib import Path
import re
import shutil
import subprocess
import sys
import tarfile
from typing import Any
import xml.etree.ElementTree as ElementTree
import zipfile

import pytest

from rnea_ros.errors import RneaError
from rnea_ros.feedforward import Reason, State
from rnea_ros.feedforward.settings import StaleAction
from rnea_ros.feedforward.trajectory import TrajectoryReason
from rnea_ros.resources import ResourceError, share_path
from support.documents import EXECUTABLES, SETUP
from support.models.robots import PARAMETER_FILES, ROOT
from support.ros.ros_process import NO_ROS, new_domain_id, ros_node


def test_the_version_is_the_same_everywhere() -> None:
    declared = ElementTree.parse(ROOT / 'package.xml').getroot().findtext('version')
    assert re.fullmatch(r'\d+\.\d+\.\d+', declared or '')
    assert f"version='{declared}'" in SETUP
    changelog = (ROOT / 'CHANGELOG.rst').read_text(encoding='utf-8')
    assert re.search(rf'^{re.escape(declared or "")} \(', changelog, re.MULTILINE)


KEYS = {
    'numpy': 'python3-numpy', 'numba': 'python3-numba', 'llvmlite': 'python3-numba',
    'matplotlib': 'python3-matplotlib', 'scipy': 'python3-scipy', 'yaml': 'python3-yaml',
    'urdf_parser_py': 'urdfdom_py',
}
"""rosdep's keys for what is imported, where they have another name."""

FROM_PIP = {'mujoco', 'rosbags'}
"""Have keys for pip alone, which a released package may not depend on."""


def test_package_xml_names_what_the_code_imports_and_nothing_else() -> None:
    imported = set()
    for directory in ('rnea_ros', 'launch'):
        for path in (ROOT / directory).rglob('*.py'):
            for part in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
                if isinstance(part, ast.Import):
                    imported |= {alias.name.partition('.')[0] for alias in part.names}
                elif isinstance(part, ast.ImportFrom) and part.level == 0:
                    imported.add((part.module or '').partition('.')[0])
    others = imported - sys.stdlib_module_names - {'rnea_ros'}
    assert others >= FROM_PIP
    keys = {KEYS.get(name, name) for name in others - FROM_PIP}
    package = ElementTree.parse(ROOT / 'package.xml').getroot()
    named = {element.text for element in package.findall('exec_depend')}
    assert named == keys | {'lifecycle_msgs'}  # of rclpy's lifecycle nodes, and of its services


def test_minimum_versions_are_the_same_for_pip_and_rosdep_and_are_tested() -> None:
    for_pip = dict(re.findall(r"'([\w-]+)>=([\d.]+)'", SETUP))
    names = {f'python3-{name}': name for name in ('numpy', 'numba', 'matplotlib', 'scipy')}
    package = ElementTree.parse(ROOT / 'package.xml').getroot()
    for_rosdep = {
        names[element.text or '']: element.get('version_gte')
        for element in package.findall('exec_depend')
        if element.get('version_gte')
    }
    assert for_rosdep.keys() == set(names.values())
    assert for_rosdep.items() <= for_pip.items()
    oldest = (ROOT / 'constraints/ubuntu-22.04.txt').read_text(encoding='utf-8')
    tested = dict(re.findall(r'^([\w-]+)==(\S+)$', oldest, re.MULTILINE))
    assert {name: tested[name] for name in for_pip} == for_pip


@pytest.fixture(scope='module')
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which('git') is None:
        pytest.skip('git is not installed')
    # A copy: setuptools leaves its build directory in the sources.
    source = tmp_path_factory.mktemp('source')
    listed = subprocess.run(
        ['git', 'ls-files', '-co', '--exclude-standard'], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode != 0:
        pytest.skip('the wheel is built from a git checkout')
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    return source


@pytest.fixture(scope='module')
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    pytest.importorskip('pip', reason='the wheel is built by pip, which is missing')
    target = tmp_path_factory.mktemp('wheel')
    command = [sys.executable, '-m', 'pip', 'wheel', '-qq', '--no-deps', '-w', str(target), '.']
    subprocess.run(command, cwd=source, check=True)
    (path,) = target.glob('*.whl')
    with zipfile.ZipFile(path) as archive:
        yield archive


def test_the_wheel_has_what_ros_looks_for(wheel: zipfile.ZipFile) -> None:
    data = {
        name.split('.data/data/', 1)[1]: wheel.getinfo(name)
        for name in wheel.namelist()
        if '.data/data/' in name
    }
    expected = {'share/ament_index/resource_index/packages/rnea_ros', 'share/rnea_ros/package.xml'}
    for directory in (
        'config', 'config/presets', 'examples', 'examples/gravity_controller',
        'examples/own_motors', 'launch', 'layouts', 'urdf',
    ):
        files = [path for path in (ROOT / directory).iterdir() if path.is_file()]
        assert files
        expected |= {f'share/rnea_ros/{directory}/{path.name}' for path in files}
    expected |= {f'lib/rnea_ros/{name}' for name in EXECUTABLES}
    assert set(data) == expected
    for name in EXECUTABLES:
        assert data[f'lib/rnea_ros/{name}'].external_attr >> 16 & 0o100, f'{name} is no program'
    assert 'rnea_ros/py.typed' in wheel.namelist()
    assert not [name for name in wheel.namelist() if name.startswith('test')]


def test_metadata_name_licence_summary_page_and_tested_pythons(wheel: zipfile.ZipFile) -> None:
    (path,) = (name for name in wheel.namelist() if name.endswith('.dist-info/METADATA'))
    metadata = email.message_from_bytes(wheel.read(path))
    package = ElementTree.parse(ROOT / 'package.xml').getroot()
    assert metadata['Version'] == package.findtext('version')
    assert metadata['Maintainer-email'] == package.find('maintainer').get('email')  # type: ignore[union-attr]
    assert metadata['License'] == package.findtext('license')
    classifiers = metadata.get_all('Classifier', [])
    assert metadata['Summary']
    assert (ROOT / 'README.md').read_text('utf-8').splitlines()[0] in metadata.as_string()
    for constraints in (ROOT / 'constraints').glob('*.txt'):
        python = re.findall(r'^# Python (3\.\d+)$', constraints.read_text('utf-8'), re.MULTILINE)
        assert f'Programming Language :: Python :: {python[0]}' in classifiers


def test_sdist_builds_the_same_wheel(source: Path, wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    if importlib.util.find_spec('setuptools') is None:
        pytest.skip('setuptools is not installed')
    command = [sys.executable, 'setup.py', '-q', 'sdist', '--dist-dir', str(tmp_path)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (sdist,) = tmp_path.glob('*.tar.gz')
    command = [sys.executable, '-m', 'pip', 'wheel', '-qq', '--no-deps', str(sdist)]
    subprocess.run(command, cwd=tmp_path, check=True)
    (built,) = tmp_path.glob('*.whl')
    with zipfile.ZipFile(built) as archive:
        assert sorted(archive.namelist()) == sorted(wheel.namelist())
    with tarfile.open(sdist) as archive:
        names = {name.partition('/')[2] for name in archive.getnames()}
    assert {'CHANGELOG.rst', 'LICENSE', 'README.md', 'package.xml', 'resource/rnea_ros'} <= names


def test_the_parameter_file_holds_every_parameter_with_its_default() -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    import yaml

    from rnea_ros.node.parameters import PARAMETERS

    text = (ROOT / 'config/feedforward.yaml').read_text(encoding='utf-8')
    values: dict[str, Any] = yaml.safe_load(text)['/**']['ros__parameters']
    defaults = {name: declaration.default for name, declaration in PARAMETERS.items()}
    del defaults['robot_description']
    assert values == defaults
    while_active = {name for name, declared in PARAMETERS.items() if declared.while_active}
    marked = set(re.findall(r'^    ([\w.]+):[^#\n]*# \(active\)', text, re.MULTILINE))
    assert marked == while_active


@pytest.mark.ros
@pytest.mark.parametrize('path', PARAMETER_FILES, ids=lambda path: path.stem)
def test_every_parameter_file_is_accepted_whole(path: Path) -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    import yaml

    from rnea_ros.node.node_parameters import NodeParameters

    given = yaml.safe_load(path.read_text(encoding='utf-8'))['/**']['ros__parameters']
    arguments = ['--ros-args', '--params-file', str(path)]
    with ros_node(new_domain_id(), 'feedforward', cli_args=arguments) as node:
        assert given.items() <= NodeParameters(node).values().items()


@pytest.mark.parametrize('words', [State, StaleAction, Reason, TrajectoryReason])
def test_the_documents_explain_every_word_of_the_log(words: Any) -> None:
    documents = ('docs/control.md', 'docs/trajectories.md', 'docs/troubleshooting.md')
    text = '\n'.join((ROOT / name).read_text(encoding='utf-8') for name in documents)
    # Two that cannot come from a message: the node takes a cancel apart, and checks itself.
    unseen = {'no_points', 'start_not_finite'}
    missing = [word.value for word in words if f'`{word.value}`' not in text]
    assert set(missing) <= unseen


def test_the_watchdog_page_has_its_states_and_actions() -> None:
    pytest.importorskip('rclpy', reason=NO_ROS)
    from rnea_ros.watchdog.parameters import Action
    from rnea_ros.watchdog.silence import WatchState

    text = (ROOT / 'docs/watchdog.md').read_text(encoding='utf-8')
    assert all(f'`{word.value}`' in text for word in (*WatchState, *Action))


def test_a_file_of_the_package_is_found_and_a_missing_one_named() -> None:
    assert share_path('urdf/panda.urdf').samefile(ROOT / 'urdf/panda.urdf')
    with pytest.raises(ResourceError, match=r'urdf/none\.urdf'):
        share_path('urdf/none.urdf')
    assert issubclass(ResourceError, RneaError)


def test_every_source_file_states_its_licence() -> None:
    header = '# Copyright 2026 The rnea_ros authors\n# SPDX-License-Identifier: Apache-2.0\n'
    sources = [
        path
        for directory in ('rnea_ros', 'test', 'launch')
        for path in (ROOT / directory).rglob('*.py')
    ]
    assert len(sources) > 50
    without = [str(path) for path in sources if not path.read_text('utf-8').startswith(header)]
    assert not without


@pytest.mark.parametrize('name', ['rules_and_tests.md', 'rules_and_tests_tools.md'])
def test_each_rule_of_the_ledgers_has_a_test_file(name: str) -> None:
    page = (ROOT / 'docs/development' / name).read_text(encoding='utf-8')
    rules = [line for line in page.splitlines() if re.match(r'\| (?!rule )', line)]
    assert len(rules) >= 40
    without = [rule for rule in rules if not re.search(r'\]\(\.\./\.\./test/\S+\.py\)', rule)]
    assert not without


def test_the_test_files_that_documents_name_exist() -> None:
    missing = []
    pages = [ROOT / 'CONTRIBUTING.md', *(ROOT / 'docs').rglob('*.md')]
    for page in pages:
        text = page.read_text(encoding='utf-8')
        named = {page.parent / path for path in re.findall(r'\]\(([\w./]+test_\w+\.py)\)', text)}
        named |= {ROOT / path for path in re.findall(r'`(test/[\w/]+\.py)`', text)}
        missing += [f'{page.name}: {path}' for path in named if not path.is_file()]
    assert not missing
