# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The demo: its motion, its verdict, and one short run of the whole."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
import subprocess
import sys

import numpy as np
import pytest
from robots import ROOT
from ros_process import NO_ROS, new_domain_id

import rnea_ros

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('mujoco', reason='mujoco is not installed')

from rnea_ros.sim.demo.client import Recording
from rnea_ros.sim.demo.demo import ROBOTS, Demo, main
from rnea_ros.sim.demo.motion import Motion, inertias
from rnea_ros.sim.demo.report import Phase, table
from rnea_ros.sim.demo.robot import MODEL_ERROR, realistic, with_model_error
from rnea_ros.sim.start_position import USUAL
from rnea_ros.urdf import parse_urdf

PANDA = rnea_ros.RobotModel.from_urdf(ROOT / 'urdf/panda_arm.urdf')
POSE = np.array([USUAL[name] for name in PANDA.joint_names])
MOTION = Motion.for_robot(PANDA, PANDA.joint_names, POSE, 6.0)


def phase(title: str, error: float) -> Phase:
    """Return a phase whose every joint is off by an error, rad."""
    t = np.linspace(0.0, MOTION.duration, 200)
    positions = list(MOTION.state(t)[0] + error)
    recording = Recording(stamps=list(100.0 + t), positions=positions)
    recording.terms = {'gravity': [(100.0 + time, np.zeros(7)) for time in t]}
    return Phase(title, recording, 100.0, 500.0, 3, 0.1)


@pytest.mark.parametrize('robot', ROBOTS)
def test_the_motion_stays_within_the_limits_of_every_shipped_robot(robot: str) -> None:
    model = rnea_ros.RobotModel.from_urdf(ROOT / f'urdf/{robot}.urdf')
    joints = tuple(name for name in model.joint_names if name in USUAL)
    pose = np.array([USUAL[name] for name in joints])
    q, qd, _ = Motion.for_robot(model, joints, pose, 10.0).state(np.linspace(0.0, 10.0, 2000))
    m = pose.size
    assert ((q > model.position_lower[:m]) & (q < model.position_upper[:m])).all()
    assert (np.abs(qd) < model.velocity_limits[:m]).all()
    assert (np.ptp(q, axis=0) > 0.9).all()


def test_velocity_and_acceleration_are_the_positions_derivatives() -> None:
    h = 1e-5
    t = np.linspace(0.1, 5.9, 500)
    (q0, qd0, _), (_, qd1, qdd1), (q2, qd2, _) = (MOTION.state(t + k * h) for k in (-1, 0, 1))
    np.testing.assert_allclose((q2 - q0) / (2.0 * h), qd1, atol=1e-6)
    np.testing.assert_allclose((qd2 - qd0) / (2.0 * h), qdd1, atol=1e-4)  # third derivative jumps
    assert not MOTION.state(np.array([0.0, 6.0]))[1].any()


def test_inertias_are_the_diagonal_of_the_mass_matrix() -> None:
    pinocchio = pytest.importorskip('pinocchio', reason='Pinocchio is not installed')
    model = pinocchio.buildModelFromUrdf(str(ROOT / 'urdf/panda_arm.urdf'))
    expected = np.diag(pinocchio.crba(model, model.createData(), POSE))
    np.testing.assert_allclose(inertias(PANDA, PANDA.joint_names, POSE), expected, rtol=1e-9)


def test_the_table_has_error_rate_late_ticks_and_cpu() -> None:
    text = table([phase('feedback only', 0.1), phase('computed torque', 0.001)], MOTION)
    assert 'feedback only' in text
    assert '100.00 mrad' in text
    assert '1.00 mrad' in text
    assert '500.0 Hz' in text
    assert '10.0 %' in text


@pytest.mark.parametrize(
    ('perfect', 'error', 'code'),
    [(False, 0.019, 0), (False, 0.021, 1), (True, 0.0029, 0), (True, 0.0031, 1)],
)
def test_computed_torque_has_to_track_better_than_gravity_and_feedback(
    tmp_path: Path, perfect: bool, error: float, code: int
) -> None:
    options = argparse.Namespace(
        robot='panda_arm', urdf=None, rate=500.0, seconds=6.0, headless=True, output=tmp_path,
        perfect_model=perfect,
    )
    errors = {'feedback only': 0.1, 'gravity + feedback': 0.03, 'computed torque': error}
    assert Demo(options).report([phase(*entry) for entry in errors.items()]) == code
    assert (tmp_path / 'demo.png').stat().st_size > 10_000


def test_the_simulated_robot_differs_from_the_model_by_no_more_than_is_said() -> None:
    text = (ROOT / 'urdf/panda_arm.urdf').read_text(encoding='utf-8')
    true = parse_urdf(with_model_error(text, np.random.default_rng(1)))
    for name, link in parse_urdf(text).links.items():
        inertial = true.links[name].inertial
        if link.inertial is None or inertial is None:
            assert link.inertial is inertial
            continue
        ratio = inertial.mass / link.inertial.mass
        assert 0.0 < abs(ratio - 1.0) <= MODEL_ERROR
        np.testing.assert_allclose(inertial.inertia, ratio * np.array(link.inertial.inertia))
        centre, model_centre = np.array(inertial.origin.xyz), np.array(link.inertial.origin.xyz)
        assert (np.abs(centre - model_centre) <= MODEL_ERROR * np.abs(model_centre) + 1e-12).all()


def test_every_shipped_robot_can_be_the_demo_s_robot() -> None:
    for robot in ROBOTS:
        text = (ROOT / f'urdf/{robot}.urdf').read_text(encoding='utf-8')
        model = rnea_ros.RobotModel.from_urdf(text)
        joints = tuple(name for name in model.joint_names if name in USUAL)
        rnea_ros.RobotModel.from_urdf(realistic(text, model, joints, 1).urdf)


def test_a_urdf_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['--urdf', '/nowhere.urdf', '--output', str(tmp_path)]) == 2
    assert '/nowhere.urdf' in capsys.readouterr().err


def test_what_cannot_be_drawn_is_not_begun(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, 'matplotlib', None)
    assert main(['--output', str(tmp_path)]) == 2
    assert 'matplotlib' in capsys.readouterr().err


@pytest.mark.alone
@pytest.mark.ros
def test_the_whole_demo_succeeds(tmp_path: Path) -> None:
    command = [sys.executable, '-m', 'rnea_ros.sim.demo.demo', '--headless', '--seconds', '4']
    result = subprocess.run(
        [*command, '--output', str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {'ROS_DOMAIN_ID': str(new_domain_id())},
        capture_output=True,
        text=True,
        timeout=200.0,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert 'RMS error of computed torque' in result.stdout
    assert (tmp_path / 'demo.png').is_file()
