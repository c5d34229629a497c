# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The demo: its arms, motions, robots and verdict, and one short run over DDS."""

from contextlib import ExitStack
import os
from pathlib import Path
import re
import sys
from typing import Any

import numpy as np
import pytest

import rnea_ros
from support.models.demo_arms import ODD_ARM, with_error
from support.models.robots import ROOT, link, robot
from support.ros.ros_process import NO_ROS, isolated, ros_node
from support.tools import Printed

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('mujoco', reason='mujoco is not installed')

from rnea_ros.sim.demo import comparison, session
from rnea_ros.sim.demo.arm import ROBOTS, DemoArm, DemoRun
from rnea_ros.sim.demo.client import Received
from rnea_ros.sim.demo.comparison import LawComparison
from rnea_ros.sim.demo.demo import main, unused_domain
from rnea_ros.sim.demo.processes import Processes
from rnea_ros.sim.demo.reports import comparison_table
from rnea_ros.sim.demo.robot import (
    GOOD_MODEL,
    POOR_MODEL,
    ModelMismatch,
    realistic,
    with_model_error,
)
from rnea_ros.sim.demo.session import Phase
from rnea_ros.urdf import parse_urdf

ARM = DemoArm.load('panda_arm', seconds=6.0)
MOTION = ARM.plan.motion


def phase(title: str, error: float) -> Phase:
    """Return a phase whose every joint is off by an error, rad."""
    empty = Phase(title, MOTION, ARM.joints, ARM.unit, Received(), 100.0, 500.0, 3, 0.1)
    made: Phase = with_error(empty, error)
    return made


@pytest.mark.parametrize('name', ROBOTS)
def test_the_motion_stays_within_the_limits_of_every_shipped_robot(name: str) -> None:
    arm = DemoArm.load(name)
    model, m = arm.model, len(arm.joints)
    q, qd, _ = arm.plan.motion.at(np.linspace(0.0, 10.0, 2000))
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


def test_the_table_has_errors_and_in_real_time_rate_late_ticks_and_cpu() -> None:
    phases = [phase('feedback only', 0.1), phase('computed torque', 0.001)]
    for timing in (False, True):
        text = comparison_table(phases, timing=timing)
        assert all(word in text for word in ('feedback only', '100.00 mrad', '1.00 mrad'))
        assert all((word in text) == timing for word in ('500.0 Hz', '10.0 %'))


@pytest.mark.parametrize(
    ('perfect', 'error', 'code'),
    [(False, 0.019, 0), (False, 0.021, 1), (True, 0.0029, 0), (True, 0.0031, 1)],
)
def test_computed_torque_is_best(
    monkeypatch: pytest.MonkeyPatch, perfect: bool, error: float, code: int
) -> None:
    monkeypatch.setattr(comparison, 'draw_comparison', lambda *_: None)
    demo = LawComparison(DemoRun(ARM, 500.0, Path()), perfect_model=perfect)
    errors = {'feedback only': 0.1, 'gravity + feedback': 0.03, 'computed torque': error}
    assert demo.report([phase(*entry) for entry in errors.items()]) == code


@pytest.mark.parametrize('errors', [GOOD_MODEL, POOR_MODEL], ids=['good', 'poor'])
def test_the_simulated_robot_differs_from_the_model_by_what_is_said(errors: ModelMismatch) -> None:
    least, greatest = errors.inertial
    text = (ROOT / 'urdf/panda_arm.urdf').read_text(encoding='utf-8')
    true = parse_urdf(with_model_error(text, errors.inertial, np.random.default_rng(1)))
    for name, known in parse_urdf(text).links.items():
        inertial = true.links[name].inertial
        if known.inertial is None or inertial is None:
            assert known.inertial is inertial
            continue
        ratio = inertial.mass / known.inertial.mass
        assert least < abs(ratio - 1.0) < greatest
        np.testing.assert_allclose(inertial.inertia, ratio * np.array(known.inertial.inertia))
        centre, model_centre = np.array(inertial.origin.xyz), np.array(known.inertial.origin.xyz)
        shift, length = np.abs(centre - model_centre), np.abs(model_centre)
        assert ((least * length <= shift) & (shift <= greatest * length)).all()


@pytest.mark.parametrize('name', ROBOTS)
def test_every_shipped_robot_can_be_the_demo_s_robot(name: str) -> None:
    arm = DemoArm.load(name)
    for errors in (GOOD_MODEL, POOR_MODEL):
        true = realistic(arm, errors, 1)
        rnea_ros.RobotModel.from_urdf(true.urdf)
        least, greatest = errors.friction
        for option, values in true.simulation.items():
            if option in ('extra_friction', 'extra_damping', 'armature'):
                known = {'extra_friction': 'friction.coulomb', 'extra_damping': 'friction.viscous'}
                ratio = np.array(values) / np.array(true.control[known.get(option, option)])
                assert ((least <= np.abs(ratio - 1.0)) & (np.abs(ratio - 1.0) <= greatest)).all()


@pytest.mark.parametrize(('text', 'reason'), [
    (ODD_ARM.replace('type="continuous"', 'type="floating"'), "'pitch' is floating"),
    (ODD_ARM.replace('<parent link="base"/>', '<parent link="nowhere"/>'), 'does not exist'),
    (ODD_ARM.replace('</robot>', '<link name="b"/></robot>'), "2 root links: 'base', 'b'"),
    (robot(link('base', 1.0), name='post'), "'post' has no joint to command"),
    (re.sub('<inertial>.*?</inertial>', '', ODD_ARM), '4 of 4 joints move no mass'),
    (ODD_ARM.replace('effort="100"', 'effort="0.01"'), '60% of its effort limit of 0.01 N'),
    (ODD_ARM.replace('lower="-3" upper="3"', 'lower="1" upper="-1"'), 'is within its limits'),
    (ODD_ARM, 'the viewer needs a display'), (ODD_ARM, 'matplotlib'),
])
def test_what_cannot_be_shown_ends_in_one_line(
    tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch, text: str, reason: str
) -> None:
    for variable in ('DISPLAY', 'WAYLAND_DISPLAY'):
        monkeypatch.delenv(variable, raising=False)
    if reason == 'matplotlib':
        monkeypatch.setitem(sys.modules, 'matplotlib', None)
    (tmp_path / 'odd.urdf').write_text(text)
    arguments = ['--urdf', str(tmp_path / 'odd.urdf'), '--viewer', '--output', str(tmp_path)]
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert re.fullmatch(f'demo: .*{reason}.*\n', printed.err), printed.err


def test_a_heavy_joint_is_stiff_and_keeps_off_its_limits(tmp_path: Path) -> None:
    (tmp_path / 'odd.urdf').write_text(ODD_ARM)
    arm = DemoArm.load('', str(tmp_path / 'odd.urdf'))
    plan, model = arm.plan, arm.model
    q = plan.motion.at(np.linspace(0.0, 10.0, 2000))[0]
    sag = np.abs(model.gravity_torques_batch(q)).max(axis=0) / (plan.kp * plan.inertia)
    assert sag.max() < 0.3
    assert ((q - sag > model.position_lower) & (q + sag < model.position_upper)).all()
    efforts = model.inverse_dynamics_batch(*plan.motion.at(plan.motion.times))
    assert (np.abs(efforts) < model.effort_limits).all()
    assert np.ptp(q, axis=0).min() > 0.01


class PatientProcesses(Processes):
    """Processes with a simulated robot that waits for a stalled node."""

    def start(self, name: str, module: str, *given: Any) -> None:
        patient = {'simulated_robot': 'support.ros.patient_robot'}
        super().start(name, patient.get(name, module), *given)


@pytest.mark.ros
def test_the_whole_demo_succeeds_over_dds(
    domain_id: int, tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, 'Processes', PatientProcesses)
    monkeypatch.setattr(comparison, 'HOLD', 0.5)
    monkeypatch.setattr(session, 'WAY', 1.0)
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
    with ExitStack() as later:
        with ros_node(domain_id, 'first'):
            later.enter_context(ros_node(domain_id, 'second'))
            assert unused_domain() != domain_id
        assert unused_domain() != domain_id  # the second one is left
