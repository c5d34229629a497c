# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The demo: its arms, motions, robots and verdict, two arms, and one short run over DDS."""

import os
from pathlib import Path
import re
import sys
from typing import Any

import numpy as np
import pytest

from support.models.demo_arms import ODD_ARM, with_error
from support.models.robots import ROOT, joint, link, robot
from support.ros.ros_process import NO_ROS, isolated, ros_node
from support.tools import Printed

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('mujoco', reason='mujoco is not installed')

from controlled_arm import PERIOD
import teleoperation_demo

from rnea_ros.sim.demo import comparison, session
from rnea_ros.sim.demo.arm import ROBOTS, DemoArm, DemoRun
from rnea_ros.sim.demo.client import Received
from rnea_ros.sim.demo.comparison import LawComparison
from rnea_ros.sim.demo.demo import main, unused_domain
from rnea_ros.sim.demo.session import Phase, Processes

ARM = DemoArm.load('panda_arm', seconds=6.0)
UNITS = robot(link('base'), link('arm', 0.9, inertia=(5400.0, 0, 0, 5400.0, 0, 5400.0)),
              joint('j', 'revolute', 'base', 'arm', axis=(0, 1, 0)))
MOTION = ARM.plan.motion


def phase(title: str, error: float) -> Any:
    """Return a phase whose every joint is off by an error, rad."""
    empty = Phase(title, MOTION, ARM.joints, ARM.unit, Received(), 100.0, 500.0, 3, 0.1)
    return with_error(empty, error)


@pytest.mark.parametrize('name', ROBOTS)
def test_the_motion_stays_within_the_limits_of_every_shipped_robot(name: str) -> None:
    arm = DemoArm.load(name)
    model, m = arm.model, len(arm.joints)
    q, qd, _ = arm.plan.motion.at(np.linspace(0.0, 10.0, 2000))
    assert ((q > model.position_lower[:m]) & (q < model.position_upper[:m])).all()
    assert (np.abs(qd) < model.velocity_limits[:m]).all()
    assert (np.ptp(q, axis=0) > 0.9).all()


@pytest.mark.parametrize(
    ('perfect', 'error', 'code'),
    [(False, 0.019, 0), (False, 0.021, 1), (True, 0.0029, 0), (True, 0.0031, 1)],
)
def test_computed_torque_is_best(
    monkeypatch: pytest.MonkeyPatch, capsys: Printed, perfect: bool, error: float, code: int
) -> None:
    monkeypatch.setattr(comparison, 'draw_comparison', lambda *_: None)
    demo = LawComparison(DemoRun(ARM, 500.0, Path(), real_time=True), perfect_model=perfect)
    errors = {'feedback only': 0.1, 'gravity + feedback': 0.03, 'computed torque': error}
    assert demo.report([phase(*entry) for entry in errors.items()]) == code
    text = capsys.readouterr().out
    assert all(word in text for word in ('100.00 mrad', '30.00 mrad', '500.0 Hz', '10.0 %'))


@pytest.mark.parametrize(('text', 'reason'), [
    (ODD_ARM.replace('type="continuous"', 'type="floating"'), "'pitch' is floating"),
    (robot(link('base', 1.0), name='post'), "'post' has no joint to command"),
    (re.sub('<inertial>.*?</inertial>', '', ODD_ARM), '4 of 4 joints move no mass'),
    (ODD_ARM.replace('effort="100"', 'effort="0.01"'),
     'too weak to carry itself: .* for the weight, more than 60% of its effort limit of 0.01 N'),
    (UNITS, r"too weak to move \(are its masses in kg, its inertias in kg m\^2\?\): joint 'j' "
     r'needs [\d.]+ N m for 2% of the motion with an inertia of 5.4e\+03 kg m\^2, more than 60%'),
    (UNITS.replace('"5400.0', '"-0.5'),
     r"1 of 1 joints have a negative inertia \(-0.5 kg .*'j': correct <inertia>"),
    (ODD_ARM.replace('lower="-3" upper="3"', 'lower="1" upper="-1"'), 'is within its limits'),
    (ODD_ARM, 'viser'), (ODD_ARM, 'matplotlib'),
])
def test_what_cannot_be_shown_ends_in_one_line(
    tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch, text: str, reason: str
) -> None:
    if reason in ('matplotlib', 'viser'):
        monkeypatch.setitem(sys.modules, reason, None)
    (tmp_path / 'odd.urdf').write_text(text)
    arguments = ['--urdf', str(tmp_path / 'odd.urdf'), '--browser', '--output', str(tmp_path)]
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert re.fullmatch(f'demo: .*{reason}.*\n', printed.err), printed.err


@pytest.mark.ros
def test_the_whole_demo_succeeds_over_dds(
    domain_id: int, tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = Processes.start

    def start_patiently(processes: Processes, name: str, module: str, *given: Any) -> None:
        patient = {'simulated_robot': 'support.ros.patient_robot'}  # waits for a stalled node
        start(processes, name, patient.get(name, module), *given)

    monkeypatch.setattr(Processes, 'start', start_patiently)
    monkeypatch.setattr(comparison, 'HOLD', 0.5)
    monkeypatch.setattr(session, 'WAY', 1.0)
    monkeypatch.setattr(session, 'BLEND', 0.25)
    monkeypatch.setenv('PYTHONPATH', f'{ROOT}{os.pathsep}{ROOT / "test"}')
    for name, value in isolated(domain_id).items():
        monkeypatch.setenv(name, value)
    arguments = ['--robot', 'panda_arm', '--rate', '100', '--seconds', '2']
    code = main([*arguments, '--headless', '--output', str(tmp_path)])
    printed = capsys.readouterr()
    assert code == 0, printed.out + printed.err
    assert 'RMS error of computed torque' in printed.out


@pytest.mark.ros
def test_a_demo_shares_no_dds_domain_with_another_process(
    domain_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, 'getpid', lambda: domain_id - 1)
    with ros_node(domain_id):
        assert unused_domain() != domain_id


def test_the_follower_follows_and_the_hand_feels_the_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teleoperation_demo, 'CONTACT', 4.0)
    trial = teleoperation_demo.record(DemoArm.load('panda_arm', None, 2.0), 0.05)
    assert trial.rms == pytest.approx(0.045, rel=0.1)  # by the delay of 50 ms
    contact, felt = trial.forces
    assert contact == pytest.approx(33.6, rel=0.1)
    assert felt == pytest.approx(contact, rel=0.02)
    assert 1.0 < trial.settling < 2.5
    last = trial.wall.contact[round(3.0 / PERIOD) :]
    assert np.ptp(last) < 0.1 * contact  # no oscillation remains
    row = teleoperation_demo.table([trial]).split('\n')[-1]
    assert row.split()[:4] == ['50', 'ms', '1.74', 'rad/s']
