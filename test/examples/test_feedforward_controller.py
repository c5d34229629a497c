# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The control of the C++ controller, without ROS, beside the node's."""

import ctypes
from pathlib import Path
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.feedforward.limiter import EffortLimiter
from rnea_ros.feedforward.settings import (
    complete_values,
    load_robot,
    make_law,
    resolve,
    settings_from,
)
from rnea_ros.parameters import read_parameter_file
from rnea_ros.tools.export import main as export
from support.control.control_rig import PANDA_POSE
from support.models.robots import ROOT

CONTROL = ROOT / 'examples' / 'feedforward_controller'
LAWS, HARDWARE = ('gravity', 'feedforward', 'computed_torque'), ('gravity', 'friction', 'payload')
LINK = 'fer_link7'
MASS, COM, INERTIA = [1.5], [0.01, -0.02, 0.1], [0.01, 0.001, 0.0, 0.012, 0.0, 0.008]
DT, TICKS = 1e-3, 10_000

PARAMETERS = """
/**:
  ros__parameters:
    friction.model: parameters
    friction.viscous: [1.0, 2.0, 3.0, 1.0, 0.5, 0.4, 0.3]
    friction.coulomb: [1.5, 1.0, 2.0, 1.0, 0.5, 0.4, 0.3]
    friction.load: [0.05]
    friction.offset: [0.1, -0.1, 0.2, 0.0, 0.0, 0.0, 0.0]
    friction.shared_joints: [fer_joint5, fer_joint6]
    friction.shared_ratio: -1.0
    friction.shared_coulomb: 0.6
    spring.stiffness: [0.0, 20.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    armature: [0.1, 0.2, 0.3, 0.1, 0.05, 0.04, 0.03]
    compensate_coriolis: true
    ramp_duration: 0.3
"""

PROGRAM = """
#include "control.hpp"
using namespace feedforward_controller;
extern "C" bool run(
  Law law, const Hardware * hardware, const Joints * gains_and_limits, const double * payload,
  const State * measured, const Reference * references, int ticks, Joints * commands)
{
  const auto * g = gains_and_limits;
  Settings settings{law, g[0], g[1], g[2], g[3], 0.3, true, *hardware, {}};
  std::copy_n(payload, 10, reinterpret_cast<double *>(&settings.payload));
  Control control;
  control.start(settings, Joints{});
  for (int k = 0; k < ticks; ++k) {
    if (!control.step(measured[k], references[k], 1e-3)) {return false;}
    commands[k] = control.command();
  }
  Joints lost{};
  lost[0] = NAN;  // gravity torques do not depend on a vertical joint's position
  return !control.step({lost, {}}, references[0], 1e-3) &&
         !control.step({{}, lost}, references[0], 1e-3) && finite(control.command());
}
"""


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a Panda with a continuous wrist, and its control in control.so."""
    folder = tmp_path_factory.mktemp('arm')
    urdf = (ROOT / 'urdf' / 'panda_arm.urdf').read_text()
    joint = 'name="fer_joint7" type='
    (folder / 'arm.urdf').write_text(urdf.replace(f'{joint}"revolute"', f'{joint}"continuous"'))
    (folder / 'node.yaml').write_text(PARAMETERS)
    (folder / 'program.cpp').write_text(PROGRAM)
    assert export([
        '--urdf', str(folder / 'arm.urdf'), '--prefix', 'arm', '--out', str(folder),
        '--payload', LINK, '--params-file', str(folder / 'node.yaml'),
    ]) == 0
    flags = f'-O2 -fPIC -Wall -Wextra -Werror -I. -I{CONTROL}'.split()
    for command in (
        ['gcc', '-std=c99', *flags, '-c', 'arm.c'],
        ['g++', '-std=c++17', *flags, '-shared', 'program.cpp', 'arm.o', '-o', 'control.so'],
    ):
        subprocess.run(command, cwd=folder, check=True)
    return folder


def swings(rng: np.random.Generator, n: int) -> Any:
    """Return position, velocity and acceleration of joints that swing, shape (TICKS, 3, n)."""
    t, w = DT * np.arange(TICKS)[:, np.newaxis], rng.uniform(0.5, 4.0, n)
    size, phase = rng.uniform(0.1, 0.6, n), rng.uniform(0.0, 6.0, n)
    sine, cosine = np.sin(w * t + phase), np.cos(w * t + phase)
    motion = [np.array(PANDA_POSE) + size * sine, size * w * cosine, -size * w**2 * sine]
    return np.stack(motion, axis=1)


@pytest.mark.skipif(not (shutil.which('gcc') and shutil.which('g++')), reason='needs gcc and g++')
@pytest.mark.parametrize(('mode', 'adds'), [
    ('gravity', ['none']), ('gravity', ['payload']), ('feedforward', ['gravity', 'payload']),
    ('computed_torque', ['gravity', 'friction']),
], ids=str)  # fmt: skip
def test_the_controller_commands_what_the_node_does(
    folder: Path, mode: str, adds: list[str]
) -> None:
    model, rng = RobotModel.from_urdf(folder / 'arm.urdf'), np.random.default_rng(3)
    n = model.nv
    settings = resolve(settings_from(complete_values({
        **read_parameter_file(folder / 'node.yaml'), 'mode': mode, 'hardware_compensates': adds,
        'gains.kp': rng.uniform(10.0, 60.0, n).tolist(),
        'gains.kd': rng.uniform(2.0, 12.0, n).tolist(), 'payload.link': [LINK],
        'payload.mass': MASS, 'payload.com': COM, 'payload.inertia': INERTIA,
    }), model.joint_names), model)
    limits = settings.effort_limits, settings.effort_rate_limit
    measured, motion = swings(rng, n), swings(rng, n)
    motion[:, 0, 6] += 6.0 * np.pi  # the wrist is continuous
    motion[5000:6000, :, 2] = np.nan
    efforts = rng.normal(size=(1, n)).repeat(TICKS, axis=0)
    efforts[:2000, 3] = np.nan

    law, limiter = make_law(settings, load_robot(model, settings)), EffortLimiter(*limits)
    limiter.start(np.zeros(n))
    limiter.ramp(settings.ramp_duration)
    follows = mode != 'gravity'
    expected = np.empty((TICKS, n))
    for k, ((q, qd, _), reference) in enumerate(zip(measured, motion, strict=True)):
        if follows and k in (0, 2000, 5000, 6000):
            limiter.blend(settings.ramp_duration)
        known = follows and np.isfinite(reference).all()
        effort = law.effort(q, qd, tuple(reference) if known else None)
        if known and k >= 2000:
            effort = effort + efforts[k]
        expected[k] = limiter.limit(effort, DT * k, DT)

    commands = np.empty((TICKS, n))
    arrays = [
        np.array([each in adds for each in HARDWARE]),
        np.array([settings.kp, settings.kd, *limits]), np.array([*MASS, *COM, *INERTIA]),
        np.ascontiguousarray(measured[:, :2]), np.append(motion, efforts[:, np.newaxis], axis=1),
    ]
    run = ctypes.CDLL(str(folder / 'control.so')).run
    run.restype = ctypes.c_bool
    pointers = [ctypes.c_void_p(each.ctypes.data) for each in (*arrays, commands)]
    assert run(LAWS.index(mode), *pointers[:5], TICKS, pointers[5])
    np.testing.assert_allclose(commands, expected, rtol=0.0, atol=1e-9)
    assert (np.abs(commands).max(axis=0)[1:4] > 10.0).all()
