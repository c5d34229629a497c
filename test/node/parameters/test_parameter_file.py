# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameter files are read without ROS as the node reads them."""

import math
from pathlib import Path
from typing import Any

import pytest

from rnea_ros.errors import InputError
from rnea_ros.feedforward.settings import NodeSettings, all_declarations, complete_values
from rnea_ros.parameters import parse_assignment, read_parameter_file
from rnea_ros.yaml_files import YamlError
from support.models.robots import PARAMETER_FILES

pytest.importorskip('yaml', reason='PyYAML is not installed')


def test_what_is_not_given_has_its_default() -> None:
    defaults = {name: each.default for name, each in all_declarations((), ()).items()}
    of_every_node = {'use_sim_time': True, 'qos_overrides./joint_states.subscription.depth': 3}
    assert complete_values(of_every_node) == defaults
    assert complete_values({'rate': 100.0}) == defaults | {'rate': 100.0}


@pytest.mark.parametrize('path', PARAMETER_FILES, ids=lambda path: path.stem)
def test_every_parameter_file_is_read_whole(path: Path) -> None:
    given = read_parameter_file(path)
    assert given
    assert given.items() <= complete_values(given).items()


@pytest.mark.parametrize('section', ['/**', '/feedforward', 'feedforward'])
def test_own_sections_count_and_nested_names_are_joined(tmp_path: Path, section: str) -> None:
    file = tmp_path / 'some.yaml'
    file.write_text(
        f'{section}:\n  ros__parameters:\n    gains: {{kp: [1.0], kd: [2.0]}}\n'
        'other:\n  ros__parameters:\n    rate: 7.0\n'
    )
    assert read_parameter_file(file) == {'gains.kp': [1.0], 'gains.kd': [2.0]}


def test_a_sensor_and_a_joint_that_are_named_have_their_parameters() -> None:
    topic = {'wrench_inputs.flange.topic': '/wrench'}
    values = complete_values({'wrench_inputs.names': ['flange'], **topic})
    assert values['wrench_inputs.flange.topic'] == '/wrench'
    assert values['wrench_inputs.flange.placement'] == 'contact'
    with pytest.raises(InputError, match='no such parameter'):
        complete_values(topic)
    values = complete_values({'constraints.elbow.goal': 0.1, 'constraints.goal_time': 2.0})
    limits = NodeSettings.of(values).tolerances(('shoulder', 'elbow'))
    assert limits.goal.tolist() == [[math.inf, 0.1], [0.01, 0.01]]
    assert limits.goal_time == 2.0
    with pytest.raises(InputError, match=r'constraints\.elbow: not one of the commanded joints'):
        NodeSettings.of(values).tolerances(('shoulder',))


@pytest.mark.parametrize(('name', 'value'), [
    ('rate', 500), ('rate', '500'), ('rate', [500.0]), ('rate', 0.5), ('rate', float('nan')),
    ('gains.kp', 1.0), ('gains.kp', [1]), ('gains.kp', []), ('autostart', 1),
    ('realtime.priority', True), ('mode', 'dance'), ('speed', 1.0),
    ('wrench_inputs.names', 'flange'), ('constraints.elbow.goal', -0.1),
])
def test_a_value_that_the_node_would_reject_is_rejected_by_name(name: str, value: Any) -> None:
    with pytest.raises(InputError) as rejection:
        complete_values({name: value})
    assert rejection.value.argument == name


def test_an_invalid_parameter_file_or_assignment_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / 'some.yaml'
    foreign = 'other:\n  ros__parameters: {rate: 7.0}'
    for text in ('', '7', '[', foreign, '/**: {rate: 7.0}', '/**: 3'):
        file.write_text(text)
        with pytest.raises(YamlError, match=r'some\.yaml') as rejection:
            read_parameter_file(file)
        assert '\n' not in str(rejection.value)
    for path in (tmp_path / 'none.yaml', tmp_path):
        with pytest.raises(YamlError, match='cannot be read'):
            read_parameter_file(path)
    for text in ('rate', ':=1', 'rate=1'):
        with pytest.raises(YamlError, match='NAME:=VALUE'):
            parse_assignment(text)
    assert parse_assignment('gains.kp:=[1.0, 2.0]') == ('gains.kp', [1.0, 2.0])
    assert parse_assignment('mode:=gravity') == ('mode', 'gravity')
