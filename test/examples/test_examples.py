# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The examples run, and do what their page says."""

from collections.abc import Callable
from importlib import import_module
from itertools import count
import json
from pathlib import Path
import runpy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rnea_ros import Wrench
from rnea_ros.feedforward import State
from support.models.robots import ROOT, load

EXAMPLES = ROOT / 'examples'
WITH_ROS = {
    'cartesian_impedance', 'cartesian_target', 'payload_at_run_time', 'read_terms', 'send_goal',
    'send_trajectory', 'stream_positions',
}
"""Tested with the node in ``test_examples_with_ros.py``."""

DEMOS = {'arms_in_browser', 'controlled_arm', 'teach_and_play', 'teleoperation_demo', 'two_arms'}
"""Tested in ``test/sim/demo``."""

CHECKS: dict[str, Callable[[Any], bool]] = {
    'batch_over_data': lambda largest: bool(largest[1] > 50.0),
    'computed_torque': lambda errors: errors[1] < 0.03 < 5.0 * errors[1] < errors[0],
    'custom_loop': lambda result: result[0] < 1e-3 and result[1] is State.FAULT,
    'four_bar': lambda result: np.allclose(result, (20.30, 57.32, 20.0), atol=5e-3),
    'gravity_compensation': lambda moved: moved < 1e-9,
    'identify_from_arrays': lambda fit: bool(
        np.all(fit.comparison.percent(fit.comparison.identified) < 5.0)
    ),
}
"""What the result of each example's ``main`` must be."""


def test_every_example_is_tested_and_on_the_page() -> None:
    names = {path.stem for path in EXAMPLES.glob('*.py')}
    assert names == {*CHECKS, *WITH_ROS, *DEMOS, 'batch_on_dask', 'trajectory_lqr'}
    page = (EXAMPLES / 'README.md').read_text(encoding='utf-8')
    assert all(f']({name}.py)' in page for name in names)


@pytest.mark.parametrize('name', CHECKS)
def test_an_example_without_ros_does_what_the_page_says(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')
    pytest.importorskip('scipy', reason='scipy is not installed')
    monkeypatch.chdir(tmp_path)
    example = import_module(name)
    monkeypatch.setattr(example, 'SECONDS', 10.0, raising=False)  # of a recording: 20
    result = example.main()
    assert CHECKS[name](result), result


def test_cells_of_the_notebook_print_what_is_stored(capsys: pytest.CaptureFixture[str]) -> None:
    pyplot = pytest.importorskip('matplotlib.pyplot', reason='matplotlib is not installed')
    pyplot.switch_backend('Agg')
    notebook = json.loads((EXAMPLES / 'rnea.ipynb').read_text(encoding='utf-8'))
    names: dict[str, Any] = {}
    cells = [cell for cell in notebook['cells'] if cell['cell_type'] == 'code']
    with np.printoptions():
        for cell in cells:
            exec(''.join(cell['source']), names)
            printed = ''.join(''.join(output.get('text', '')) for output in cell['outputs'])
            assert capsys.readouterr().out == printed
    pyplot.close('all')
    assert len(cells) == 8


def test_the_regulator_brings_the_arm_back_to_its_trajectory() -> None:
    pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')
    example = import_module('trajectory_lqr')
    alone, regulated = example.errors(regulated=False), example.errors(regulated=True)
    start = np.abs(example.OFFSET).max()
    np.testing.assert_allclose([alone[0], regulated[0]], start, rtol=1e-12)
    assert alone[-1] > 1.0
    assert regulated[-1] < 1e-3
    assert regulated.max() < 1.5 * start


@pytest.mark.parametrize('axis', range(3))
def test_the_cartesian_impedance_has_its_stiffness_and_does_not_overshoot(axis: int) -> None:
    pytest.importorskip('rclpy', reason='rclpy is not installed')
    physics = pytest.importorskip('rnea_ros.sim.physics', reason='MuJoCo is not installed')
    example = import_module('cartesian_impedance')
    urdf = ROOT / 'urdf/panda_arm.urdf'
    model, pose = load(urdf), np.array([0.0, -0.8, 0.0, -2.2, 0.0, 1.6, 0.8])
    arm = physics.SimulatedRobot(urdf.read_text(), initial_positions=pose, timestep=0.004)
    law = example.CartesianImpedance(model, pose)
    arm.apply_push(example.LINK, Wrench(force=10.0 * np.eye(3)[axis], frame='fer_link0'))
    moved = []
    for _ in range(500):
        q, qd, _ = arm.state()
        arm.step(model.gravity_torques(q) + law.efforts(q, qd))
        moved.append(model.forward_kinematics(q, example.LINK)[:3, 3] - law.target[:3, 3])
    np.testing.assert_allclose(moved[-1], 10.0 / 400.0 * np.eye(3)[axis], atol=1e-4)
    assert np.max(moved, axis=0)[axis] < 1.01 * moved[-1][axis]


@pytest.mark.parametrize(('nodes', 'times', 'ends'), [
    (['robot', 'robot'], 0, 'two robots on one domain'),
    (['robot', 'other'], 10, 'a does not turn: .*mode gravity follows no trajectory'),
    (['_NODE_NAME_UNKNOWN_', '_NODE_NAME_UNKNOWN_'], 10, 'a does not turn'),
])
def test_a_trajectory_is_sent_ten_times_and_never_to_two_robots_of_one_name(
    nodes: list[str], times: int, ends: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rclpy = pytest.importorskip('rclpy', reason='rclpy is not installed')
    from rclpy.time import Time
    from sensor_msgs.msg import JointState

    def spin(*_: Any, **__: Any) -> None:
        state = JointState(name=['a'], position=[0.0])
        state.header.stamp = Time(nanoseconds=100_000_000 * next(ticks)).to_msg()
        callbacks['joint_states'](state)

    ticks = count()
    sent: list[Any] = []
    callbacks: dict[str, Any] = {}
    publisher = SimpleNamespace(publish=sent.append, get_subscription_count=lambda: 1)
    node = SimpleNamespace(
        create_publisher=lambda *_: publisher,
        create_subscription=lambda _, topic, callback, __: callbacks.update({topic: callback}),
        get_publishers_info_by_topic=lambda _: [
            SimpleNamespace(node_namespace='/', node_name=name) for name in nodes
        ],
        get_subscriptions_info_by_topic=lambda _: [],
    )
    monkeypatch.setattr(rclpy, 'create_node', lambda _: node)
    monkeypatch.setattr(rclpy, 'spin_once', spin)
    example = runpy.run_path(str(ROOT / 'examples/send_trajectory.py'))
    with pytest.raises(AssertionError, match=ends):
        example['send'](None, lambda: False)
    assert len(sent) == times
    with pytest.raises(KeyboardInterrupt):
        example['send'](None, lambda: True)


def test_the_help_of_the_sender_needs_no_robot(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip('rclpy', reason='rclpy is not installed')
    monkeypatch.setattr('sys.argv', ['send_trajectory', '--help'])
    with pytest.raises(SystemExit, match='0'):
        runpy.run_path(str(ROOT / 'examples/send_trajectory.py'))['main']()
    assert '[joint]' in capsys.readouterr().out
