# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``identify``: what it writes and when, exit codes, live topics."""

from dataclasses import replace
from functools import partial
import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward.settings import complete_values
from rnea_ros.identification import Identification
from rnea_ros.parameters import parameter_file_text, read_parameter_file
from rnea_ros.recordings import Kind, Recorded
from rnea_ros.tools import identify
from support.models.robots import description, load
from support.recorded.bags import write_bag
from support.recorded.known_result import ARM, identified
from support.recorded.synthetic_recordings import Robot, record
from support.ros.virtual_live import replace_live_node
from support.tools import finished


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Replace reading and fitting; return the result to give and the arguments that were given."""
    given: dict[str, Any] = {'result': identified(), 'loaded': []}

    def read(bag: Path, model: object, topic: str | None, table: object) -> list[Recorded]:
        given['loaded'].append((bag, {'topic': topic, 'table': table}))
        return [Recorded(bag.name, record(Robot(load(ARM)), Kind.MOTION, 1), {})]

    def prepared(recording: object, model: object, **options: object) -> object:
        given['loaded'][-1][1].update(options)
        return given['result'].comparison.held_out[0]

    def fit(model: object, runs: object, **options: object) -> Identification:
        given.update(options, model=model, runs=runs)
        result: Identification = given['result']
        return result

    monkeypatch.setattr(identify, 'read_recordings', read)
    monkeypatch.setattr(identify, 'run_from', prepared)
    monkeypatch.setattr(identify, 'identify', fit)
    return given


def run(*arguments: str | Path) -> CompletedProcess[str]:
    return finished(identify.main, 'a_bag', '--urdf', ARM, *arguments)


def test_all_files_are_written(calls: dict[str, Any], tmp_path: Path) -> None:
    urdf, parameters, report, picture = (
        tmp_path / name for name in ('a.urdf', 'a.yaml', 'a.json', 'a.png')
    )
    ended = run('--write-urdf', urdf, '--write-parameters', parameters, '--report', report,
                '--picture', picture)
    assert ended.returncode == 0
    assert ended.stdout.startswith('a_bag: 10 s of motion\nfitting 10 s\n\nbetter: ')
    assert ended.stdout.endswith(f'{urdf} is written\n{parameters} is written\n')
    inertial = load(urdf).inertial_parameters
    np.testing.assert_allclose(inertial, calls['result'].parameters, rtol=1e-7, atol=1e-8)
    comments = [line for line in parameters.read_text().splitlines() if line.startswith('#')]
    assert 'Identified by rnea_ros identify, 20' in comments[0]
    assert any('my_bag, 0.0 to 10.0 s' in line for line in comments)
    assert any(str(urdf) in line and str(ARM) in line for line in comments)
    complete_values(read_parameter_file(parameters))
    assert json.loads(report.read_text())['better'] is True
    assert picture.read_bytes().startswith(b'\x89PNG')


def test_seconds_of_motion_are_without_rest_and_gaps(
    calls: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = calls['result'].comparison.held_out[0]
    half = np.arange(len(moved.time)) < 250
    rests = replace(moved, qd=np.where(half[:, np.newaxis], moved.qd, 0.0),
                    time=moved.time + np.where(half, 0.0, 100.0))
    still = replace(moved, qd=0.0 * moved.qd)
    for recorded, words in ((rests, '5 s of motion'), (still, '500 poses')):
        given = partial(lambda each, *_, **__: each, recorded)
        monkeypatch.setattr(identify, 'run_from', given)
        assert run().stdout.startswith(f'a_bag: {words}\nfitting {words.split(" of")[0]}\n')


def test_a_worse_model_needs_force(calls: dict[str, Any], tmp_path: Path) -> None:
    result = identified()
    compared = result.comparison
    swapped = replace(compared, urdf=compared.identified, identified=compared.urdf)
    calls['result'] = replace(result, comparison=swapped)
    urdf, report = tmp_path / 'a.urdf', tmp_path / 'a.json'
    urdf.write_text('old')
    arguments = ('--write-urdf', urdf, '--report', report)
    ended = run(*arguments)
    assert ended.returncode == 1
    assert urdf.read_text() == 'old'
    assert f'{urdf} is not written, as the model is not better' in ended.stdout
    assert json.loads(report.read_text())['better'] is False
    assert run(*arguments, '--force').returncode == 1
    assert '<robot' in urdf.read_text()


def test_options_reach_the_fit(calls: dict[str, Any], tmp_path: Path) -> None:
    friction = tmp_path / 'friction.yaml'
    values: dict[str, Any] = {'friction.model': 'parameters', 'friction.viscous': [2.5]}
    friction.write_text(parameter_file_text(values, []))
    assert run(
        '--validate', 'c_bag', 'b_bag', '--validate', 'd_bag', '--links', 'fer_link7',
        '--prior-weight', '0.1', '--keep-friction', friction, '--cutoff', '7',
        '--topic', '/states', '--effort-scale', *6 * ['1'], '-1', '--joints', 'fer_joint1=elbow',
        '--effort-delay', '0.02', '--without-effort', 'fer_joint3', '--force',
        '--total-mass', '16', '--poses', '--gravity', '9.81', '0', '0',
        '--table', 'rate=100', 'position=q1..q7',
    ).returncode == 0  # fmt: skip
    assert [str(bag) for bag, _ in calls['loaded']] == ['a_bag', 'b_bag', 'c_bag', 'd_bag']
    assert calls['loaded'][0][1] == {
        'joints': {'fer_joint1': 'elbow'}, 'topic': '/states', 'cutoff': 7.0,
        'effort_scale': [*6 * [1.0], -1.0], 'effort_delay': 0.02,
        'without_effort': ['fer_joint3'], 'poses': True, 'name': 'a_bag',
        'table': {'rate': 100, 'position': 'q1..q7'},
    }  # fmt: skip
    assert len(calls['runs']) == len(calls['validate']) == 2
    assert (calls['links'], calls['prior_weight']) == (['fer_link7'], 0.1)
    assert (calls['accept_faults'], calls['total_mass']) == (True, 16.0)
    assert calls['model'].gravity.tolist() == [9.81, 0.0, 0.0]
    np.testing.assert_allclose(calls['keep_friction'].viscous, 2.5)


@pytest.mark.usefixtures('calls')
def test_the_scale_of_efforts_is_written_for_the_node(tmp_path: Path) -> None:
    path = tmp_path / 'a.yaml'
    for given, written in ((['1'], [1.0]), (['-2'], 7 * [-2.0])):
        assert run('--write-parameters', path, '--effort-scale', *given).returncode == 0
        assert complete_values(read_parameter_file(path))['effort_scale'] == written


def test_a_payload_is_weighed_and_written_for_the_node(tmp_path: Path) -> None:
    robot = Robot(load(ARM), mass=2.0, com=(0.03, -0.02, 0.1), noise=0.05)
    write_bag(tmp_path / 'bag', record(robot, Kind.MOTION, 1), 'MCAP')
    payload, report = tmp_path / 'b.yaml', tmp_path / 'b.json'
    ended = finished(
        identify.main, tmp_path / 'bag', '--urdf', ARM, '--payload', 'fer_link7',
        '--write-parameters', payload, '--report', report,
    )
    assert ended.returncode == 0
    written = complete_values(read_parameter_file(payload))
    assert written['payload.link'] == ['fer_link7']
    assert written['payload.mass'] == pytest.approx([2.0], rel=0.03)
    np.testing.assert_allclose(written['payload.com'], robot.com, atol=0.01)
    assert json.loads(report.read_text())['mass'][0] == pytest.approx(2.0, rel=0.03)


def test_a_live_motion_is_identified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arm, urdf = load(ARM), tmp_path / 'a.urdf'
    robot = Robot(arm.with_inertial_parameters(1.3 * arm.inertial_parameters))
    live = replace_live_node(monkeypatch)
    live.play(record(robot, Kind.MOTION, 4), description(arm).text)
    ended = finished(identify.main, '--duration', '10', '--write-urdf', urdf)
    assert ended.returncode == 0
    assert 'better: the identified model' in ended.stdout
    assert '10 of 10 s' in ended.stdout
    assert live.now == pytest.approx(110.0, abs=0.2)
    masses = load(urdf).inertial_parameters.reshape(-1, 10)[:, 0]
    assert masses.sum() == pytest.approx(1.3 * arm.inertial_parameters[::10].sum(), rel=0.2)
