# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Exported C: it compiles without a warning, and its own test program finds no difference."""

from dataclasses import replace
from pathlib import Path
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

from rnea_ros import InputError, RobotModel
from rnea_ros.c_export import CExport, export_c
from rnea_ros.c_export.functions import functions
from rnea_ros.feedforward.laws import JointFriction, SharedFriction
from rnea_ros.feedforward.loaded_model import JointSpring
from rnea_ros.tools.export import main
from support.models.joint_trees import MOVING, model_of, random_parts
from support.models.oracle_pairs import random_pair
from support.models.robots import ROOT, SHIPPED, link, load, robot

COMPILERS = [name for name in ('gcc', 'clang') if shutil.which(name)]
FLAGS = ['-std=c99', '-Wall', '-Wextra', '-pedantic', '-Wdouble-promotion', '-Werror']

needs_compiler = pytest.mark.skipif(not COMPILERS, reason='needs gcc or clang')


def assert_test_passes(directory: Path, *flags: str) -> None:
    """Compile an exported robot with every compiler, and run its test program."""
    for compiler in COMPILERS:
        program, sources = directory / f'{compiler}_test', sorted(directory.glob('*.c'))
        subprocess.run([compiler, *FLAGS, *flags, *sources, '-o', program, '-lm'], check=True)
        subprocess.run([program], check=True, capture_output=True)


def printed_names(header: Path) -> tuple[str, ...]:
    """Return the names of the joints that a program of a header prints."""
    source, program = header.with_name('names.c'), header.with_name('names')
    source.write_text(
        f'#include "{header.name}"\n#include <stdio.h>\n#include <string.h>\nint main(void)\n{{\n'
        f'const char *names[] = {header.stem.upper()}_JOINTS;\n'
        'for (unsigned i = 0; i < sizeof names / sizeof *names; ++i)\n'
        'fwrite(names[i], 1, strlen(names[i]) + 1, stdout);\n'
        'return 0;\n}\n'
    )
    subprocess.run([COMPILERS[0], *FLAGS, source, '-o', program], check=True)
    printed = subprocess.run([program], check=True, capture_output=True).stdout.decode()
    return tuple(printed.split('\0')[:-1])


@needs_compiler
@pytest.mark.parametrize('single', [False, True], ids=['double', 'float'])
def test_exported_code_passes_its_test_with_every_argument(tmp_path: Path, single: bool) -> None:
    model, rng = load(SHIPPED[0]), np.random.default_rng(0)
    n, link = model.nv, model.body_names[6]
    friction = JointFriction(
        rng.uniform(size=(2, n)), rng.uniform(size=(2, n)), rng.uniform(0.0, 0.1, n),
        np.full(n, 0.05), rng.normal(size=n), SharedFriction((n - 1, 1), -0.5, 0.3, 0.4, 0.06),
    )
    spring = JointSpring(*rng.uniform(size=(2, n)))
    export = CExport(model, (link,), (link,), (link,), True, friction, rng.uniform(size=n), spring)
    export_c(export, tmp_path, prefix='arm', single_precision=single)
    assert_test_passes(tmp_path)


def test_results_that_exported_code_must_have_are_those_of_the_model() -> None:
    model, rng, link = load(SHIPPED[0]), np.random.default_rng(0), 'fer_hand'
    body: dict[str, Any] = {
        'mass': 1.5, 'com': [0.1, -0.05, 0.2],
        'inertia': [0.02, 0.001, 0.002, 0.03, 0.003, 0.04],
    }
    wrench, velocity, acceleration = rng.normal(size=(3, 6))
    q, qd, qdd = rng.normal(size=(3, model.nv))
    gravity = np.array([1.0, 2.0, -9.0])
    environment = {
        f'payload_{link}': body, f'wrench_{link}': {'force': wrench[3:], 'torque': wrench[:3]},
        'base': {'gravity': gravity, 'velocity': velocity, 'acceleration': acceleration},
    }
    spring = JointSpring(*rng.uniform(0.0, 9.0, (2, model.nv)))
    state = {'q': q, 'qd': qd, 'qdd': qdd}
    export = CExport(model, (), (link,), (link,), True, spring=spring)
    found = {each.name: each.expected[0] for each in functions(export, environment, [state])}
    workspace = model.with_payload(link, **body).workspace()
    of_wrench = model.jacobian(q, link).T @ wrench - spring.stiffness * (q - spring.rest_position)
    workspace.set_base_motion(gravity, velocity, acceleration)
    expected = {
        'inverse_dynamics': workspace.inverse_dynamics(q, qd, qdd) - of_wrench,
        'bias_torques': workspace.bias_torques(q, qd) - of_wrench,
        'mass_matrix': workspace.mass_matrix(q),
    }
    workspace.set_base_motion(gravity, np.zeros(6), np.zeros(6))
    expected['gravity_torques'] = workspace.gravity_torques(q) - of_wrench
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-10)


@needs_compiler
def test_exported_code_computes_random_robots_and_every_joint_type(tmp_path: Path) -> None:
    for k, model in enumerate([random_pair(1).model, model_of(random_parts(0, MOVING))]):
        export_c(CExport(model), tmp_path / str(k), prefix='arm')
        assert_test_passes(tmp_path / str(k))


@needs_compiler
def test_the_tool_exports_an_identified_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parameters, out, model = tmp_path / 'a.yaml', tmp_path / 'c', load(SHIPPED[1])
    parameters.write_text(
        f'/**:\n  ros__parameters:\n    joints: {list(model.joint_names)}\n    armature: [0.1]\n'
        '    friction: {model: parameters, viscous: [0.5], coulomb: [1.0], offset: [0.2]}\n'
        '    spring: {stiffness: [40.0], rest_position: [0.5]}\n'
    )
    assert main([
        '--urdf', f'{ROOT}/urdf/panda_arm.urdf', '--out', str(out), '--prefix', 'fer',
        '--frame', model.body_names[-1], '--params-file', str(parameters),
    ]) == 0
    header = (out / 'fer.h').read_text(encoding='utf-8')
    for text in ('fer_drive_torques', 'SHA-256', 'qd[6..6]', 'additions', 'm/s^2', 'springs'):
        assert text in header
    assert_test_passes(out, '-O2')
    assert printed_names(out / 'fer.h') == model.joint_names
    parameters.write_text('/**:\n  ros__parameters: {gravity_factor: [0.9]}\n')
    urdf = f'{ROOT}/urdf/panda_arm.urdf'
    assert main(['--urdf', urdf, '--out', str(out), '--params-file', str(parameters)]) == 2
    assert 'gravity_factor: C code has none: identify' in capsys.readouterr().err


CODE = '*/ __attribute__((constructor)) static void f(void) { int end[-1]; } /* "'
HOSTILE = (
    f'j {CODE}', '", missing(), "', 'a\n#include "missing.h"', 'b\\', 'c*\\', 'd??/', '??)"??/"',
    'e*??/', '//', '/*/', "%s \\x41\u202e' 1é", '\r\x1b[2J',
)


@needs_compiler
@pytest.mark.parametrize('standard', ['-std=c99', '-std=gnu11'])
def test_nothing_of_a_name_is_code(tmp_path: Path, standard: str) -> None:
    parts = random_parts(0, len(HOSTILE) * ['revolute'], branches=False)
    names = {part.name: name for part, name in zip(parts, HOSTILE, strict=True)}
    tree = model_of([
        replace(part, name=names[part.name], parent=names.get(part.parent, 'base'))
        for part in parts
    ]).tree
    model = RobotModel.from_tree(tree, name=f'robot {CODE}\n#error\\')
    export = CExport(model, HOSTILE, HOSTILE[:2], HOSTILE[:2])
    export_c(export, tmp_path, prefix='arm')
    assert_test_passes(tmp_path, standard)
    assert printed_names(tmp_path / 'arm.h') == model.joint_names


def test_names_that_c_cannot_have_are_rejected(tmp_path: Path) -> None:
    model = load(SHIPPED[1])
    with pytest.raises(InputError, match='not a name in C'):
        export_c(CExport(model), tmp_path, prefix='my-arm')
    named = load(robot(link('base'), name='3-DOF arm'))
    with pytest.raises(InputError, match=r"'3_dof_arm' is .*robot's name '3-DOF arm'; give a pre"):
        export_c(CExport(named), tmp_path)
    twice = 2 * (model.link_names[-1],)
    for export in (CExport(model, frames=twice), CExport(model, payloads=twice)):
        with pytest.raises(InputError, match='names in C are not unique'):
            export_c(export, tmp_path)
