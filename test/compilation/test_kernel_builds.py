# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The package in a process of its own: with and without numba, without ROS, copied and edited."""

import json
from pathlib import Path
import shutil

import numpy as np
import pytest

from rnea_ros import Wrench
from rnea_ros.compilation import COMPILED
from support.models.oracles import random_state
from support.models.robots import ROOT, SHIPPED, load
from support.python_process import run

needs_numba = pytest.mark.skipif(not COMPILED, reason='numba is missing or switched off')

EFFORTS = f"""
import json
import sys
from rnea_ros import RobotModel
modules = [*sys.modules]
import numpy as np
import rnea_ros
from rnea_ros.compilation import COMPILED
from rnea_ros.dynamics.kernels import checked_kernels

arm = RobotModel.from_urdf({str(SHIPPED[2])!r})
numbers = np.linspace(0.1, 0.6, 6)
numbers.setflags(write=False)
for q in (numbers.tolist(), numbers.astype(np.float32), numbers, np.repeat(numbers, 2)[::2]):
    arm.mass_matrix(q)
    arm.forward_dynamics(q, q, q)
signatures = [
    len(getattr(kernel, 'signatures', [None]))
    for kernel in (checked_kernels.mass_matrix, checked_kernels.forward_dynamics)
]
model = RobotModel.from_urdf({str(SHIPPED[0])!r})
q, qd, qdd = np.random.default_rng(0).normal(size=(3, model.nv))
wrench = rnea_ros.Wrench(force=(1.0, 2.0, 3.0), torque=(0.1, 0.2, 0.3), frame='fer_link0')
tau = model.inverse_dynamics(q, qd, qdd, {{'fer_hand': wrench}}).tolist()
print(json.dumps([tau, COMPILED, signatures, modules]))
"""


@pytest.mark.parametrize(('before', 'switch', 'compiled'), [
    pytest.param('', '', True, id='numba', marks=needs_numba),
    pytest.param('', 'yes', False, id='switched-off'),
    pytest.param("import sys; sys.modules['numba'] = None\n", '', False, id='missing'),
])
def test_numbers_are_the_same_and_no_ros_is_imported(
    before: str, switch: str, compiled: bool
) -> None:
    tau, is_compiled, signatures, modules = json.loads(
        run(before + EFFORTS, RNEA_ROS_PURE_PYTHON=switch)
    )
    model = load(SHIPPED[0])
    wrench = Wrench(force=(1.0, 2.0, 3.0), torque=(0.1, 0.2, 0.3), frame='fer_link0')
    expected = model.inverse_dynamics(*random_state(0, model.nv), {'fer_hand': wrench})
    np.testing.assert_allclose(tau, expected, rtol=1e-9, atol=1e-10)
    assert is_compiled is compiled
    assert signatures == [1, 1]  # whatever the first arrays were
    names = {name.split('.')[0] for name in modules}
    assert ('numba' in names) == (compiled or bool(before))
    parts = {name.split('.')[1] for name in modules if name.startswith('rnea_ros.')}
    assert parts <= {'arrays', 'compilation', 'dynamics', 'errors', 'files', 'interrupts', 'robot',
                     'urdf'}
    assert not names & {'rclpy', 'ament_index_python', 'std_msgs', 'pinocchio', 'mujoco'}


CROSS = """
from rnea_ros.compilation import entry
from rnea_ros.dynamics.kernels.vectors import cross

@entry
def first(x):
    return cross((x, x, x), (x, x, x))[0]
"""


@needs_numba
def test_kernels_compile_once_and_again_after_an_edit_of_a_shared_kernel(tmp_path: Path) -> None:
    package, folder = tmp_path / 'package', tmp_path / 'folder'
    without = shutil.ignore_patterns('__pycache__')
    shutil.copytree(ROOT / 'rnea_ros', package / 'rnea_ros', ignore=without)
    folder.mkdir()
    for path in (folder / 'other.py', package / 'rnea_ros/dynamics/kernels/own.py'):
        path.write_text(CROSS, encoding='utf-8')
    code = (
        f'import sys; sys.path.insert(0, {str(folder)!r}); import other\n'
        'from rnea_ros.dynamics.kernels import own\n'
        "print(*(f(3.0) for f in (own.first, other.first)), 'numba.np.arraymath' in sys.modules)"
    )
    assert run(code, package) == '0.0 0.0 True\n'
    # Importing the package compiles nothing, and compiled kernels need no compiler.
    assert len([*package.rglob('*.nbi')]) == 1
    assert run(code, package) == '0.0 0.0 False\n'
    vectors = package / 'rnea_ros/dynamics/kernels/vectors.py'
    source = vectors.read_text(encoding='utf-8')
    right, wrong = 'a[1] * b[2] - a[2] * b[1]', 'a[1] * b[2] + a[2] * b[1]'
    assert source.count(right) == 1
    vectors.write_text(source.replace(right, wrong), encoding='utf-8')
    assert run(code, package) == '18.0 18.0 True\n'
