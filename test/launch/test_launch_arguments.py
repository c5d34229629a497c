# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Where feedforward.launch.py takes parameters from, without a node."""

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import pytest

from rnea_ros.shared_memory import RANGE
from support.models.robots import ROOT

pytest.importorskip('launch_ros', reason='launch_ros (of a ROS 2 installation) is missing')

CONFIG = ROOT / 'config'


@pytest.fixture(scope='module')
def launch_file() -> ModuleType:
    spec = importlib.util.spec_from_file_location('f', ROOT / 'launch/feedforward.launch.py')
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_without_arguments_the_defaults_are_taken(launch_file: ModuleType) -> None:
    files = launch_file.parameter_files('', '', CONFIG)
    assert files == [CONFIG / 'feedforward.yaml']
    assert launch_file.command_topic(files) == 'effort_controller/commands'


def test_a_preset_is_found_by_its_name(launch_file: ModuleType) -> None:
    files = launch_file.parameter_files('universal_robots', '', CONFIG)
    assert files == [CONFIG / 'presets/universal_robots.yaml']
    assert launch_file.command_topic(files) == 'forward_effort_controller/commands'


def test_a_file_counts_before_the_preset(launch_file: ModuleType, tmp_path: Path) -> None:
    own = tmp_path / 'own.yaml'
    own.write_text('/**:\n  ros__parameters:\n    command_topic: mine/commands\n', 'utf-8')
    files = launch_file.parameter_files('franka', str(own), CONFIG)
    assert files == [CONFIG / 'presets/franka.yaml', own]
    assert launch_file.command_topic(files) == 'mine/commands'


def test_a_file_that_says_nothing_of_it_leaves_the_topic_of_the_preset(
    launch_file: ModuleType, tmp_path: Path
) -> None:
    own = tmp_path / 'own.yaml'
    own.write_text('/**:\n  ros__parameters:\n    mode: feedback\n', 'utf-8')
    files = launch_file.parameter_files('universal_robots', str(own), CONFIG)
    assert launch_file.command_topic(files) == 'forward_effort_controller/commands'


@pytest.mark.parametrize('name', ['panda', '../feedforward', 'franka.yaml'])
def test_an_unknown_preset_is_rejected_with_those_that_are_known(
    launch_file: ModuleType, name: str
) -> None:
    with pytest.raises(ValueError, match=f'{name} is unknown; known presets: franka, generic'):
        launch_file.parameter_files(name, '', CONFIG)


def test_enclaves_are_named_only_where_a_root_is_given(launch_file: ModuleType) -> None:
    assert launch_file.enclave('', 'feedforward') == []
    for root in ('/rnea_ros', '/rnea_ros/'):
        named = ['--enclave', '/rnea_ros/feedforward']
        assert launch_file.enclave(root, 'feedforward') == named


def test_a_misspelled_argument_is_named(caplog: pytest.LogCaptureFixture) -> None:
    from launch import LaunchContext
    from launch.logging import get_logger

    from rnea_ros.launch_arguments import values

    context = LaunchContext(argv=['mode:=feedback', 'mod:=gravity', 'viewer:=true', 'model'])
    context.launch_configurations.update(mode='feedback', mod='gravity', modes='of another file')
    get_logger('rnea_ros').addHandler(caplog.handler)
    assert values({'mode': ''}, context) == {'mode': 'feedback'}
    assert caplog.messages == ['mod:= is no argument; did you mean mode:=?']


def test_a_simulation_is_kept_off_the_network_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from launch import LaunchContext

    from rnea_ros.launch_arguments import off_the_network

    monkeypatch.setenv('ROS_DISTRO', 'kilted')
    monkeypatch.setenv(RANGE, 'SUBNET')
    assert off_the_network() == []
    monkeypatch.delenv(RANGE)
    _, set_variable = off_the_network()
    set_variable.execute(LaunchContext())
    assert os.environ[RANGE] == 'LOCALHOST'
