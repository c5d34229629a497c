# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The files that ``identify`` writes, of real and simulated arms, judged by an independent program.

Pinocchio reads the URDF, yaml the parameters; filter, friction and errors are computed here.
"""

from dataclasses import replace
from pathlib import Path
import re
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.signal import butter, sosfiltfilt

from rnea_ros import RobotModel, identification
from rnea_ros.arrays import Array
from rnea_ros.parameters import parameter_file_text
from rnea_ros.recordings import Recording, read_joint_states
from rnea_ros.tools import identify
from support.models.oracles import Pinocchio, mimic_rules
from support.models.robots import (
    LIMIT,
    SHIPPED,
    description,
    joint,
    link,
    load,
    robot,
    vendor_robots,
)
from support.recorded.bags import recording, write_bag
from support.recorded.simulated_arms import THREE_JOINTS, Arm, arm_unlike, motion, record

pinocchio = pytest.importorskip('pinocchio', reason='Pinocchio (pin) is not installed')
yaml = pytest.importorskip('yaml')

FITTED = 0.7  # share of the time
RATE = 200.0  # of the grid of the judgement, Hz
UR10 = vendor_robots('ur10_robot')[0].values[0]  # None if they are not installed

CASES = {
    'panda': (SHIPPED[1], 5.0, 0.25, 0.5, (44.0, 1.7, 2.3, 1.7, 11.0, 7.5, 19.0)),
    'ur10': (UR10, 10.0, 0.0, 1.5, (6.5, 3.6, 5.3, 7.6, 10.0, 8.0)),
}
"""URDF, cutoff in Hz, start in s, factor of all masses, greatest errors of the joints, percent."""


def held_out(
    bag: Path, joints: list[str], cutoff: float, start: float
) -> tuple[Array, Array, Array, Array]:
    """Return motion and efforts of the last part of a recording, filtered, shape (N, n)."""
    samples = [s for s in read_joint_states(bag) if s.time >= start]
    order = [samples[0].names.index(joint) for joint in joints]
    t = np.array([s.time for s in samples])
    q = np.array([s.position for s in samples])[:, order]
    effort = np.array([s.effort for s in samples])[:, order]
    fresh = np.append([True], np.any(np.diff(q, axis=0) != 0.0, axis=1))
    t, q, effort = t[fresh], q[fresh], effort[fresh]
    # The samples were taken at even intervals; the stamps of the Panda jitter.
    t = np.linspace(t[0], t[-1], len(t))
    grid = np.arange(t[0], t[-1], 1.0 / RATE)
    low_pass = butter(4, cutoff, fs=RATE, output='sos')
    q, effort = (sosfiltfilt(low_pass, CubicSpline(t, each)(grid), axis=0) for each in (q, effort))
    qd = np.gradient(q, 1.0 / RATE, axis=0)
    qdd = np.gradient(qd, 1.0 / RATE, axis=0)
    edge = grid[[0, -1]] + [0.5, -0.5]
    last = (grid > edge[0] + FITTED * (edge[1] - edge[0])) & (grid < edge[1])
    return q[last], qd[last], qdd[last], effort[last]


def predicted(values: dict[str, Any], rigid: Array, q: Array, qd: Array, qdd: Array) -> Array:
    """Return the efforts that the node commands with these parameters, shape (N, n)."""
    share = np.tanh(qd / values['friction.smoothing_velocity'])
    forwards = np.array(values['friction.coulomb'])
    backwards = np.array(values.get('friction.coulomb_negative', forwards))
    coulomb = np.where(qd > 0.0, forwards, backwards)
    if 'spring.stiffness' in values:
        rigid = rigid + values['spring.stiffness'] * (q - values['spring.rest_position'])
    load_friction = np.array(values.get('friction.load', [0.0])) * np.abs(rigid)
    total: Array = rigid + values['armature'] * qdd + values['friction.viscous'] * qd
    total += share * (coulomb + load_friction) + values.get('friction.offset', 0.0)
    if 'friction.shared_joints' in values:
        a, b = map(values['joints'].index, values['friction.shared_joints'])
        r = values['friction.shared_ratio']
        w = qd[:, a] + r * qd[:, b]
        both = values['friction.shared_viscous'] * w
        both += values['friction.shared_coulomb'] * np.tanh(
            w / values['friction.smoothing_velocity'][b]
        )
        total[:, a] += both
        total[:, b] += r * both
    return total


def percent(values: Array, truth: Array) -> Array:
    """Return the RMS errors of the joints over their RMS effort."""
    return np.asarray(100.0 * np.sqrt(((truth - values) ** 2).mean(0) / (truth**2).mean(0)))


def assert_predicted(folder: Path, model: RobotModel, arm: Arm) -> dict[str, Any]:
    """Check the files b.urdf and b.yaml to 3 % on another motion; return the parameters."""
    values: dict[str, Any] = yaml.safe_load((folder / 'b.yaml').read_text())['/**'][
        'ros__parameters'
    ]
    assert values['joints'] == [*model.joint_names]
    oracle = Pinocchio((folder / 'b.urdf').read_text(encoding='utf-8'), model.joint_names)
    _, q, qd, qdd = (each[::10] for each in motion(model, seed=3, duration=10.0))
    rigid = np.array([oracle.inverse_dynamics(*each) for each in zip(q, qd, qdd, strict=True)])
    errors = percent(predicted(values, rigid, q, qd, qdd), arm.efforts(q, qd, qdd))
    assert (errors < 3.0).all(), errors
    return values


@pytest.mark.oracle
@pytest.mark.parametrize('name', CASES)
def test_written_files_predict_unfitted_efforts(name: str, tmp_path: Path) -> None:
    original, cutoff, start, factor, ceilings = CASES[name]
    if original is None:
        pytest.skip('the vendor robots (pip install example-robot-data) are not installed')
    source, urdf, parameters = (tmp_path / each for each in ('a.urdf', 'b.urdf', 'b.yaml'))
    text = original.read_text(encoding='utf-8')
    source.write_text(re.sub(
        '<mass value="([^"]+)"', lambda found: f'<mass value="{factor * float(found[1])}"', text
    ), encoding='utf-8')
    bag = recording(f'{name}_exciting_trajectory.db3')
    arguments = [
        str(bag), '--urdf', str(source), '--cutoff', str(cutoff),
        '--write-urdf', str(urdf), '--write-parameters', str(parameters),
    ]  # fmt: skip
    assert identify.main(arguments) == 0
    model = pinocchio.buildModelFromXML(urdf.read_text(encoding='utf-8'))
    values = yaml.safe_load(parameters.read_text(encoding='utf-8'))['/**']['ros__parameters']
    joints = [*model.names][1:]
    assert joints == values['joints']
    q, qd, qdd, effort = held_out(bag, joints, cutoff, start)
    data = model.createData()
    rigid = np.array([pinocchio.rnea(model, data, *each) for each in zip(q, qd, qdd, strict=True)])
    errors = percent(predicted(values, rigid, q, qd, qdd), effort)
    assert (errors <= ceilings).all(), errors
    for body in range(1, model.njoints):
        # The pseudo-inertia is positive definite if mass and second moments about its centre are.
        inertia = model.inertias[body].inertia
        assert model.inertias[body].mass > 0.0
        assert np.linalg.eigvalsh(0.5 * np.trace(inertia) * np.eye(3) - inertia)[0] > 0.0


def box(name: str, mass: float, com: tuple[float, ...]) -> str:
    return link(name, mass, com, inertia=(0.02, 0.0, 0.0, 0.03, 0.0, 0.02))


PALLETISER = robot(
    link('base'), box('turret', 4.0, (0.05, 0.01, 0.05)), box('upper', 3.5, (0.12, 0.0, 0.12)),
    box('fore', 2.0, (0.1, 0.01, -0.05)), link('flange'), box('tool', 0.8, (0.05, 0.02, -0.1)),
    joint('turn', 'revolute', 'base', 'turret'),
    joint('shoulder', 'revolute', 'turret', 'upper', xyz=(0, 0, 0.3), axis=(0, 1, 0)),
    joint('elbow', 'revolute', 'upper', 'fore', xyz=(0.4, 0, 0), axis=(0, 1, 0),
          more='<mimic joint="shoulder" multiplier="-0.5" offset="0.3"/>'),
    joint('slide', 'prismatic', 'fore', 'flange', xyz=(0.4, 0, 0), axis=(1, 0, 0)).replace(
        LIMIT, '<limit lower="-0.2" upper="0.2" velocity="2" effort="200"/>'),
    joint('tilt', 'revolute', 'flange', 'tool', axis=(0, 1, 0)),
)
"""With a prismatic joint, one that follows another, and a body without mass."""


def test_written_files_of_prismatic_and_mimic_joints_and_springs_are_right(tmp_path: Path) -> None:
    model = load(PALLETISER)
    arm = arm_unlike(model, seed=1)
    names = model.joint_names
    arm = replace(
        arm, offset=np.zeros(model.nv), noise=0.3 * arm.noise,
        stiffness=np.where(np.isin(names, ('shoulder', 'slide')), 40.0, 0.0), rest_position=0.1
    )
    recorded = record(arm, 1)
    # Drivers also report the joints that follow.
    others = list(mimic_rules(PALLETISER))
    position, velocity, effort = (
        np.pad(each, ((0, 0), (0, len(others))))
        for each in (recorded.position, recorded.velocity, recorded.effort)
    )
    recorded = Recording((*recorded.names, *others), recorded.time, position, velocity, effort)
    run, springs = identification.run_from(recorded, model), ('shoulder', 'slide')
    fit = identification.identify(model, run, springs=springs)
    fit.write_urdf(tmp_path / 'b.urdf')
    fit.write_parameters(tmp_path / 'b.yaml')
    assert_predicted(tmp_path, model, arm)


def test_kept_friction_and_springs_are_not_fitted_and_written_as_given(tmp_path: Path) -> None:
    model, arm = THREE_JOINTS, arm_unlike(THREE_JOINTS, seed=2)
    arm = replace(arm, stiffness=np.array([0.0, 30.0, 10.0]), rest_position=0.2)
    arm = replace(arm, shared=0.2, ratio=-1.0)
    given, bag, urdf = tmp_path / 'given.yaml', tmp_path / 'bag', tmp_path / 'a.urdf'
    urdf.write_text(description(model).text, encoding='utf-8')
    write_bag(bag, record(arm, 2, duration=20.0), 'MCAP')
    order = [2, 0, 1]  # the parameter file may have another order than the URDF
    values = {
        'joints': [model.joint_names[k] for k in order], 'friction.model': 'parameters',
        'friction.viscous': arm.viscous[order].tolist(),
        'friction.coulomb': arm.coulomb[order].tolist(), 'friction.load': arm.load[order].tolist(),
        'friction.smoothing_velocity': arm.smoothing[order].tolist(),
        'spring.stiffness': [10.0, 0.0, 30.0], 'spring.rest_position': [0.2],
        'friction.shared_joints': [*model.joint_names[1:]], 'friction.shared_ratio': -1.0,
        'friction.shared_viscous': 0.2, 'friction.shared_coulomb': 0.2,
    }
    given.write_text(parameter_file_text(values, []), encoding='utf-8')
    arguments = [
        str(bag), '--urdf', str(urdf), '--keep-friction', str(given),
        '--write-urdf', str(tmp_path / 'b.urdf'), '--write-parameters', str(tmp_path / 'b.yaml'),
    ]  # fmt: skip
    assert identify.main(arguments) == 0
    written = assert_predicted(tmp_path, model, arm)
    arguments[3:5] = '--spring', 'lift', 'elbow', '--shared-friction', 'lift', 'elbow', '-1'
    arguments[-1] = str(tmp_path / 'c.yaml')
    assert identify.main(arguments) == 0
    values = yaml.safe_load((tmp_path / 'c.yaml').read_text())['/**']['ros__parameters']
    assert values['spring.stiffness'] == pytest.approx([0.0, 30.0, 10.0], rel=0.05)
    assert values['friction.shared_joints'] == ['lift', 'elbow']
    assert values['friction.shared_ratio'] == -1.0
    assert values['friction.shared_coulomb'] == pytest.approx(0.2, rel=0.2)
    for name in ('viscous', 'coulomb', 'load'):
        np.testing.assert_allclose(
            written[f'friction.{name}'], getattr(arm, name), rtol=1e-5, err_msg=name
        )
    assert 'friction.coulomb_negative' not in written
    assert written['spring.stiffness'] == [0.0, 30.0, 10.0]
    assert written['spring.rest_position'] == 3 * [0.2]
    assert written['friction.shared_viscous'] == 0.2
