# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The demo: its motion, its verdict, and one short run of the whole."""

from __future__ import annotations

from pathlib import Path
import re
import sys

import numpy as np
import pytest

import rnea_ros
from support.models.robots import ROOT
from support.ros.ros_process import NO_ROS, new_domain_id

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('mujoco', reason='mujoco is not installed')

from rnea_ros.recordings import Sample
from rnea_ros.sim.demo import comparison, motion, session
from rnea_ros.sim.demo.arm import ROBOTS, DemoArm
from rnea_ros.sim.demo.client import Received
from rnea_ros.sim.demo.comparison import LawComparison
from rnea_ros.sim.demo.demo import main
from rnea_ros.sim.demo.motion import sine_motion
from rnea_ros.sim.demo.reports import comparison_table
from rnea_ros.sim.demo.robot import (
    GOOD_MODEL,
    POOR_MODEL,
    ModelMismatch,
    realistic,
    with_model_error,
)
from rnea_ros.sim.demo.session import DemoRun, Phase
from rnea_ros.urdf import parse_urdf

ARM = DemoArm.load('panda_arm')
MOTION = sine_motion(ARM.model, ARM.joints, ARM.pose, 6.0)


def phase(title: str, error: float) -> Phase:
    """Return a phase whose every joint is off by an error, rad."""
    t = np.linspace(0.0, MOTION.duration, 200)
    states = [
        Sample(100.0 + time, ARM.joints, position, (), ())
        for time, position in zip(t, MOTION.at(t)[0] + error, strict=True)
    ]
    terms = {'gravity': [(100.0 + time, np.zeros(7)) for time in t]}
    return Phase(title, MOTION, ARM.joints, Received(states, terms=terms), 100.0, 500.0, 3, 0.1)


@pytest.mark.parametrize('robot', ROBOTS)
def test_the_motion_stays_within_the_limits_of_every_shipped_robot(robot: str) -> None:
    arm = DemoArm.load(robot)
    model, m = arm.model, arm.pose.size
    moves = sine_motion(model, arm.joints, arm.pose, 10.0)
    q, qd, _ = moves.at(np.linspace(0.0, 10.0, 2000))
    assert ((q > model.position_lower[:m]) & (q < model.position_upper[:m])).all()
    assert (np.abs(qd) < model.velocity_limits[:m]).all()
    assert (np.ptp(q, axis=0) > 0.9).all()


def test_velocity_and_acceleration_are_the_positions_derivatives() -> None:
    h = 1e-5
    t = np.linspace(0.1, 5.9, 500)
    (q0, qd0, _), (_, qd1, qdd1), (q2, qd2, _) = (MOTION.at(t + k * h) for k in (-1, 0, 1))
    np.testing.assert_allclose((q2 - q0) / (2.0 * h), qd1, atol=1e-6)
    np.testing.assert_allclose((qd2 - qd0) / (2.0 * h), qdd1, atol=1e-4)  # third derivative jumps
    assert not MOTION.velocities[[0, -1]].any()


def test_the_table_has_error_rate_late_ticks_and_cpu() -> None:
    text = comparison_table([phase('feedback only', 0.1), phase('computed torque', 0.001)])
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
    comparison = LawComparison(DemoRun(ARM, MOTION, 500.0, tmp_path), perfect_model=perfect)
    errors = {'feedback only': 0.1, 'gravity + feedback': 0.03, 'computed torque': error}
    assert comparison.report([phase(*entry) for entry in errors.items()]) == code
    assert (tmp_path / 'demo.png').stat().st_size > 10_000


@pytest.mark.parametrize('errors', [GOOD_MODEL, POOR_MODEL], ids=['good', 'poor'])
def test_the_simulated_robot_differs_from_the_model_by_as_much_as_is_said(
    errors: ModelMismatch,
) -> None:
    least, greatest = errors.inertial
    text = (ROOT / 'urdf/panda_arm.urdf').read_text(encoding='utf-8')
    true = parse_urdf(with_model_error(text, errors.inertial, np.random.default_rng(1)))
    for name, link in parse_urdf(text).links.items():
        inertial = true.links[name].inertial
        if link.inertial is None or inertial is None:
            assert link.inertial is inertial
            continue
        ratio = inertial.mass / link.inertial.mass
        assert least < abs(ratio - 1.0) < greatest
        np.testing.assert_allclose(inertial.inertia, ratio * np.array(link.inertial.inertia))
        centre, model_centre = np.array(inertial.origin.xyz), np.array(link.inertial.origin.xyz)
        shift, length = np.abs(centre - model_centre), np.abs(model_centre)
        assert ((least * length <= shift) & (shift <= greatest * length)).all()


@pytest.mark.parametrize('robot', ROBOTS)
def test_every_shipped_robot_can_be_the_demo_s_robot(robot: str) -> None:
    arm = DemoArm.load(robot)
    for errors in (GOOD_MODEL, POOR_MODEL):
        true = realistic(arm.urdf, arm.model, arm.joints, errors, 1)
        rnea_ros.RobotModel.from_urdf(true.urdf)
        least, greatest = errors.friction
        for name, values in true.simulation.items():
            if name in ('extra_friction', 'extra_damping', 'armature'):
                known = {'extra_friction': 'friction.coulomb', 'extra_damping': 'friction.viscous'}
                ratio = np.array(values) / np.array(true.control[known.get(name, name)])
                assert ((least <= np.abs(ratio - 1.0)) & (np.abs(ratio - 1.0) <= greatest)).all()


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
def test_the_whole_demo_succeeds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('ROS_DOMAIN_ID', str(new_domain_id()))
    # Shorter than usual: holding the pose, the way to it, and the motion.
    monkeypatch.setattr(comparison, 'HOLD', 1.0)
    monkeypatch.setattr(session, 'WAY', 1.5)
    code = main(['--headless', '--seconds', '3', '--output', str(tmp_path)])
    printed = capsys.readouterr()
    assert code == 0, printed.out + printed.err
    assert 'held by gravity compensation for 1 s' in printed.out
    assert 'RMS error of computed torque' in printed.out
    assert (tmp_path / 'demo.png').is_file()


@pytest.mark.ros
def test_the_identified_model_tracks_and_holds_better(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('ROS_DOMAIN_ID', str(new_domain_id()))
    # A shorter motion and search than usual.
    monkeypatch.setattr(motion, 'EXCITATION', 6.0)
    monkeypatch.setattr(motion, 'SEARCH', 2.0)
    short = ['--identify', '--headless', '--rate', '250', '--seconds', '2']
    code = main([*short, '--output', str(tmp_path)])
    printed = capsys.readouterr()
    assert code == 0, printed.out + printed.err
    row = r'^{}.* ([\d.]+) mrad +([\d.]+) mrad'
    ratios = {
        name: float(found[1]) / float(found[2])
        for name in ('drift', 'RMS')
        if (found := re.search(row.format(name), printed.out, re.MULTILINE))
    }
    assert ratios['RMS'] >= 5.0
    assert ratios['drift'] >= 10.0
    for name in ('identified.urdf', 'identified.yaml', 'identify_demo.png'):
        assert (tmp_path / name).is_file()
    assert list((tmp_path / 'exciting_motion').glob('*.db3'))
