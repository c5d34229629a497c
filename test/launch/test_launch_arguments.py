# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Arguments of the launch files, without launch: their values, files, choices, and mistakes."""

from collections.abc import Callable
from pathlib import Path
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from rnea_ros import UrdfError
from rnea_ros.launch_arguments import (
    MODES,
    TRUE_OR_FALSE,
    command_topic,
    enclave,
    existing_file,
    is_true,
    launch_description,
    number,
    off_the_network,
    parameter_files,
    parameter_in,
    urdf_text,
    words,
)
from rnea_ros.shared_memory import LOOPBACK_NOTICE, RANGE
from support.models.robots import ROOT

pytest.importorskip('yaml', reason='PyYAML is not installed')

CONFIG = ROOT / 'config'
PRESET = CONFIG / 'presets/universal_robots.yaml'
GENERIC = CONFIG / 'presets/generic.yaml'


@pytest.mark.parametrize(('preset', 'own', 'files', 'topic'), [
    ('', '', [CONFIG / 'feedforward.yaml'], 'effort_controller/commands'),
    ('universal_robots', '', [PRESET], 'forward_effort_controller/commands'),
    ('universal_robots', 'command_topic: mine/commands', [PRESET], 'mine/commands'),
    ('universal_robots', 'mode: feedback', [PRESET], 'forward_effort_controller/commands'),
    ('', 'mode: feedback', [], 'effort_controller/commands'),
    ('generic', 'rest_pose: [0.5, 1.0]', [GENERIC], 'effort_controller/commands'),
])
def test_a_parameter_file_counts_before_the_preset_and_that_before_the_defaults(
    tmp_path: Path, preset: str, own: str, files: list[Path], topic: str
) -> None:
    path = tmp_path / 'own.yaml'
    path.write_text(f'/**:\n  ros__parameters:\n    {own}\n', 'utf-8')
    found = parameter_files(preset, str(path) if own else '', CONFIG)
    assert found == files + [path] * bool(own)
    assert command_topic(found) == topic
    assert parameter_in(found[1:], 'rest_pose') == ([0.5, 1.0] if 'rest' in own else None)


@pytest.mark.parametrize(('read', 'error', 'reason'), [
    (lambda: parameter_files('panda', '', CONFIG), ValueError,
     'preset:=panda is unknown; known presets: franka, generic'),
    (lambda: parameter_files('', 'none.yaml', CONFIG), FileNotFoundError,
     "params_file: 'none.yaml' is not a file"),
    (lambda: existing_file('urdf', ROOT), FileNotFoundError, 'urdf: .* is not a file'),
    (lambda: number('rate', 'fast'), ValueError, "rate: 'fast' is not a number"),
    (lambda: urdf_text(ROOT / 'urdf/panda.urdf', 'mass=2'), ValueError,
     "xacro_arguments: 'mass=2' is not name:=value"),
])
def test_a_value_that_cannot_be_used_is_named_with_its_argument(
    read: Callable[[], object], error: type[Exception], reason: str
) -> None:
    with pytest.raises(error, match=reason):
        read()


def test_values_have_their_types(tmp_path: Path) -> None:
    assert number('rate', '5e2') == 500.0
    assert {text: is_true(text) for text in TRUE_OR_FALSE} == {
        'true': True, 'True': True, 'false': False, 'False': False
    }
    assert words('a, b c,d') == ['a', 'b', 'c', 'd']
    assert enclave('', 'feedforward') == []
    for root in ('/rnea_ros', '/rnea_ros/'):
        assert enclave(root, 'feedforward') == ['--enclave', '/rnea_ros/feedforward']
    assert urdf_text(ROOT / 'urdf/panda.urdf') == (ROOT / 'urdf/panda.urdf').read_text('utf-8')
    path = tmp_path / 'arm.urdf'
    path.write_bytes(b'<?xml version="1.0" encoding="ISO-8859-1"?><robot name="\xe4"/>')
    assert '<robot name="ä"/>' in urdf_text(path)
    path.write_bytes(b'\xff')
    with pytest.raises(UrdfError, match=f"cannot read '{path}'"):
        urdf_text(path)
    pytest.importorskip('xacro', reason='xacro is not installed')
    path = tmp_path / 'arm.urdf.xacro'
    path.write_text(
        '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:arg name="tool" default="one"/><link name="$(arg tool)"/></robot>'
    )
    assert '<link name="one"' in urdf_text(path)
    assert '<link name="two"' in urdf_text(path, 'tool:=two')


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Put stand-ins in the place of launch; return the list of warnings."""
    warnings: list[str] = []

    def action(*values: Any, **options: Any) -> Any:
        return SimpleNamespace(values=values, **options)

    def perform(name: str) -> Any:
        return SimpleNamespace(perform=lambda context: context.values[name])

    actions = ('DeclareLaunchArgument', 'LogInfo', 'OpaqueFunction', 'SetEnvironmentVariable')
    modules: dict[str, dict[str, Any]] = {
        'ament_index_python': {},
        'ament_index_python.packages': {'get_package_share_directory': lambda name: f'/{name}'},
        'launch': {'LaunchDescription': list}, 'launch.actions': dict.fromkeys(actions, action),
        'launch.substitutions': {'LaunchConfiguration': perform},
        'launch.logging': {'get_logger': lambda _: SimpleNamespace(warning=warnings.append)},
    }
    for name, content in modules.items():
        module = ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    return warnings


def test_arguments_are_declared_and_a_misspelled_one_is_named(logged: list[str]) -> None:
    arguments = {'mode': ('gravity', 'law'), 'urdf': ('', 'file'), 'gui': ('false', 'window')}
    mode, urdf, gui, opaque = launch_description(
        arguments, {'mode': MODES}, lambda *made: list(made)
    )
    assert (mode.values, mode.default_value, mode.description) == (('mode',), 'gravity', 'law')
    assert (urdf.default_value, urdf.choices) == ('', None)
    assert (mode.choices, gui.choices) == (list(MODES), list(TRUE_OR_FALSE))
    given = {'mode': 'feedback', 'urdf': '', 'gui': 'true'}
    argv = ['mode:=feedback', 'mod:=gravity', 'colour:=true', 'model']
    context = SimpleNamespace(argv=argv, values=given | {'mod': 'gravity'})
    assert opaque.function(context) == [given, Path('/rnea_ros')]
    assert logged == ['mod:= is no argument; did you mean mode:=?']


def test_a_simulation_is_kept_off_the_network_and_says_so(
    logged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('ROS_DISTRO', 'kilted')
    monkeypatch.setenv(RANGE, 'SUBNET')
    assert off_the_network() == []
    monkeypatch.delenv(RANGE)
    notice, variable = off_the_network()
    assert notice.msg == LOOPBACK_NOTICE
    assert variable.values == (RANGE, 'LOCALHOST')
