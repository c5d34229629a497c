# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The control of the C++ controller, without ROS, beside the node's."""

import ctypes
from pathlib import Path
import shutil
import subprocess
from typing import Any

import numpy as np
from numpy.typing import NDArray
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
LAWS = ('gravity', 'feedforward', 'computed_torque')
LINK = 'fer_link7'
PAYLOAD = [1.5, 0.01, -0.02, 0.1, 0.01, 0.001, 0.0, 0.012, 0.0, 0.008]  # mass, com, inertia
DT, TICKS = 1e-3, 10_000
DOUBLES = ctypes.POINTER(ctypes.c_double)
Array = NDArray[np.float64]

PARAMETERS = """
/**:
  ros__parameters:
    friction.model: parameters
    friction.viscous: [1.0, 2.0, 3.0, 1.0, 0.5, 0.4, 0.3]
    friction.coulomb: [1.5, 1.0, 2.0, 1.0, 0.5, 0.4, 0.3]
    friction.load: [0.05]
    friction.offset: [0.1, -0.1, 0.2, 0.0, 0.0, 0.0, 0.0]
    armature: [0.1, 0.2, 0.3, 0.1, 0.05, 0.04, 0.03]
"""

PROGRAM = """
#include "control.hpp"
using namespace feedforward_controller;
static Control control;
static Settings settings;
static Joints joints(const double * from) {Joints j; std::copy_n(from, N, j.begin()); return j;}
extern "C" void start(
  int law, const double * gains, const double * limits, double ramp, const double * payload,
  const bool * hardware)
{
  settings.law = static_cast<Law>(law);
  settings.compensate_coriolis = true;
  settings.hardware = {hardware[0], hardware[1], hardware[2]};
  settings.kp = joints(gains); settings.kd = joints(gains + N);
  settings.effort_limits = joints(limits); settings.effort_rate_limit = joints(limits + N);
  settings.ramp_duration = ramp;
  std::copy_n(payload, 10, reinterpret_cast<double *>(&settings.payload));
  control.start(settings, Joints{});
}
extern "C" void step(
  const double * q, const double * qd, const double * motion, double dt, double * command)
{
  const Reference reference{joints(motion), joints(motion + N), joints(motion + 2 * N), Joints{}};
  if (control.step({joints(q), joints(qd)}, reference, dt)) {
    std::copy(control.command().begin(), control.command().end(), command);
  }
}
"""

needs_compiler = pytest.mark.skipif(
    not (shutil.which('gcc') and shutil.which('g++')), reason='needs gcc and g++'
)


@pytest.fixture(scope='module')
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """Return the C++ control of a Panda with a continuous wrist, and the folder of its files."""
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
    flags = ['-O2', '-fPIC', '-Wall', '-Wextra', '-Werror']
    subprocess.run(['gcc', '-std=c99', *flags, '-c', folder / 'arm.c', '-o', folder / 'arm.o'],
                   check=True)  # fmt: skip
    library = folder / 'control.so'
    subprocess.run([
        'g++', '-std=c++17', *flags, '-shared', '-I', CONTROL, '-I', folder,
        folder / 'program.cpp', folder / 'arm.o', '-o', library,
    ], check=True)  # fmt: skip
    return ctypes.CDLL(str(library)), folder


def doubles(*values: Any) -> Any:
    """Return numbers as a C array."""
    flat = np.concatenate([np.ravel(value) for value in values]).astype(np.float64)
    return (ctypes.c_double * flat.size)(*flat)


def swings(rng: np.random.Generator, n: int) -> Array:
    """Return position, velocity and acceleration of joints that swing, shape (3, TICKS, n)."""
    t, w = DT * np.arange(TICKS)[:, np.newaxis], rng.uniform(0.5, 4.0, n)
    size, phase = rng.uniform(0.1, 0.6, n), rng.uniform(0.0, 6.0, n)
    return np.array([
        np.array(PANDA_POSE) + size * np.sin(w * t + phase), size * w * np.cos(w * t + phase),
        -size * w**2 * np.sin(w * t + phase),
    ])


@needs_compiler
@pytest.mark.parametrize(('mode', 'adds'), [
    ('gravity', ['none']), ('gravity', ['payload']), ('feedforward', ['gravity', 'payload']),
    ('computed_torque', ['gravity', 'friction']),
], ids=str)  # fmt: skip
def test_the_controller_commands_what_the_node_does(
    compiled: tuple[Any, Path], mode: str, adds: list[str]
) -> None:
    library, folder = compiled
    model = RobotModel.from_urdf(folder / 'arm.urdf')
    rng = np.random.default_rng(3)
    n = model.nv
    values = complete_values({
        **read_parameter_file(folder / 'node.yaml'), 'mode': mode, 'ramp_duration': 0.3,
        'hardware_compensates': adds, 'compensate_coriolis': True,
        'gains.kp': rng.uniform(10.0, 60.0, n).tolist(),
        'gains.kd': rng.uniform(2.0, 12.0, n).tolist(), 'payload.link': [LINK],
        'payload.mass': [PAYLOAD[0]], 'payload.com': PAYLOAD[1:4], 'payload.inertia': PAYLOAD[4:],
    })
    settings = resolve(settings_from(values, model.joint_names), model)
    law = make_law(settings, load_robot(model, settings))
    limiter = EffortLimiter(settings.effort_limits, settings.effort_rate_limit)
    limiter.start(np.zeros(n))
    limiter.ramp(settings.ramp_duration)
    library.start(LAWS.index(mode), doubles(settings.kp, settings.kd), doubles(
        settings.effort_limits, settings.effort_rate_limit
    ), ctypes.c_double(settings.ramp_duration), doubles(PAYLOAD), (ctypes.c_bool * 3)(*(
        each in adds for each in ('gravity', 'friction', 'payload')
    )))
    follows = mode != 'gravity'
    measured, motion = swings(rng, n), swings(rng, n)
    motion[0, :, 6] += 6.0 * np.pi  # the wrist is continuous
    motion[:, 5000:6000, 2] = np.nan
    command, largest = np.zeros(n), np.zeros(n)
    for k in range(TICKS):
        if follows and k in (0, 5000, 6000):
            limiter.blend(settings.ramp_duration)
        q, qd, reference = measured[0, k], measured[1, k], motion[:, k]
        known = follows and np.isfinite(reference).all()
        effort = law.effort(q, qd, tuple(reference) if known else None)
        expected = limiter.limit(effort, DT * k, DT)
        library.step(doubles(q), doubles(qd), doubles(reference), ctypes.c_double(DT),
                     command.ctypes.data_as(DOUBLES))  # fmt: skip
        np.testing.assert_allclose(command, expected, rtol=0.0, atol=1e-9)
        largest = np.maximum(largest, np.abs(command))
    assert (largest[1:4] > 10.0).all()
