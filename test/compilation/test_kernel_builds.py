# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The package in a process of its own: without numba, without ROS, copied, edited, read-only."""

import json
from pathlib import Path
import shutil
from typing import Any

import numpy as np
import pytest

from rnea_ros import Wrench
from rnea_ros.compilation import COMPILED
from support.models.oracles import Array, random_state
from support.models.robots import ROOT, SHIPPED, load
from support.python_process import run

needs_numba = pytest.mark.skipif(not COMPILED, reason='numba is missing or switched off')

EFFORTS = f"""
import json
import sys
import numpy as np
import rnea_ros
from rnea_ros.compilation import COMPILED
from rnea_ros.dynamics.kernels.checked_kernels import inverse_dynamics
from rnea_ros.dynamics.kernels.kinematics import place_bodies

model = rnea_ros.RobotModel.from_urdf({str(SHIPPED[0])!r})
q, qd, qdd = np.random.default_rng(0).normal(size=(3, model.nv))
wrench = rnea_ros.Wrench(force=(1.0, 2.0, 3.0), torque=(0.1, 0.2, 0.3), frame='fer_link0')
tau = model.inverse_dynamics(q, qd, qdd, {{'fer_hand': wrench}})
kernels = (inverse_dynamics, place_bodies) if COMPILED else ()
hits = [sum(kernel.stats.cache_hits.values()) for kernel in kernels]
compiler = 'numba.np.arraymath' in sys.modules
print(json.dumps({{
    'tau': tau.tolist(), 'compiled': COMPILED, 'cache_hits': hits, 'compiler': compiler
}}))
"""
WITHOUT_NUMBA = "import sys; sys.modules['numba'] = None\n"


def efforts(package: Path = ROOT, code: str = EFFORTS, **environment: str) -> Any:
    return json.loads(run(code, package, **environment))


def copied_package(folder: Path) -> Path:
    """Return a folder with a copy of the package that was never compiled."""
    shutil.copytree(
        ROOT / 'rnea_ros', folder / 'rnea_ros', ignore=shutil.ignore_patterns('__pycache__')
    )
    return folder


@pytest.fixture
def expected() -> Array:
    """Return the efforts in this process."""
    model = load(SHIPPED[0])
    wrench = Wrench(force=(1.0, 2.0, 3.0), torque=(0.1, 0.2, 0.3), frame='fer_link0')
    return model.inverse_dynamics(*random_state(0, model.nv), {'fer_hand': wrench})


@pytest.mark.parametrize(('before', 'switch'), [
    pytest.param('', '1', id='switched-off'),
    pytest.param('', 'yes', id='switched-off-by-any-word'),
    pytest.param(WITHOUT_NUMBA, '', id='missing'),
])
def test_plain_python_gives_the_same_numbers(expected: Array, before: str, switch: str) -> None:
    result = efforts(code=before + EFFORTS, RNEA_ROS_PURE_PYTHON=switch)
    assert result['compiled'] is False
    np.testing.assert_allclose(result['tau'], expected, rtol=1e-9, atol=1e-10)


@needs_numba
def test_an_empty_switch_switches_nothing_off(expected: Array) -> None:
    result = efforts(RNEA_ROS_PURE_PYTHON='')
    assert result['compiled'] is True
    np.testing.assert_array_equal(result['tau'], expected)


@pytest.mark.parametrize('switch', ['', '1'], ids=['compiled', 'plain'])
def test_importing_a_model_imports_no_ros_no_oracle_and_no_other_part(switch: str) -> None:
    code = 'import sys; from rnea_ros import RobotModel; print(*sys.modules)'
    modules = run(code, RNEA_ROS_PURE_PYTHON=switch).split()
    imported = {name.split('.')[0] for name in modules}
    assert ('numba' in imported) == (COMPILED and not switch)
    parts = {name.split('.')[1] for name in modules if name.startswith('rnea_ros.')}
    assert parts <= {'arrays', 'compilation', 'dynamics', 'errors', 'robot', 'urdf', 'xacro_files'}
    middleware = {'rclpy', 'rosidl_runtime_py', 'ament_index_python', 'launch', 'launch_ros'}
    oracles = {'pinocchio', 'mujoco', 'modern_robotics', 'hypothesis', 'pytest'}
    assert not imported & (middleware | oracles)
    assert not {name for name in imported if name.endswith(('_msgs', '_srvs', '_interfaces'))}


def test_importing_the_package_compiles_nothing(tmp_path: Path) -> None:
    package = copied_package(tmp_path)
    run('import rnea_ros', package)
    assert not list(package.rglob('*.nbi'))


FIRST_CALLS = f"""
import numpy as np
import rnea_ros
from rnea_ros.dynamics.kernels import checked_kernels

model = rnea_ros.RobotModel.from_urdf({str(SHIPPED[2])!r})
numbers = np.linspace(0.1, 0.6, 6)
numbers.setflags(write=False)
for given in (numbers.tolist(), numbers.astype(np.float32), numbers, np.repeat(numbers, 2)[::2]):
    model.mass_matrix(given)
    model.forward_dynamics(given, given, given)
for kernel in (checked_kernels.mass_matrix, checked_kernels.forward_dynamics):
    print(len(getattr(kernel, 'signatures', [None])))
"""


@pytest.mark.parametrize('switch', ['', '1'], ids=['compiled', 'plain'])
def test_the_first_arrays_that_a_model_sees_may_be_of_any_type(switch: str) -> None:
    assert run(FIRST_CALLS, RNEA_ROS_PURE_PYTHON=switch) == '1\n1\n'


@needs_numba
def test_kernels_are_compiled_once(tmp_path: Path, expected: Array) -> None:
    package = copied_package(tmp_path)
    first, second = efforts(package), efforts(package)
    assert first['cache_hits'] == [0, 0]
    assert all(second['cache_hits'])
    # A start with compiled kernels loads no compiler.
    assert (first['compiler'], second['compiler']) == (True, False)
    np.testing.assert_allclose(first['tau'], expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(second['tau'], first['tau'])


def break_cross_product(package: Path) -> None:
    """Edit a kernel that is inlined into the kernels of other files."""
    vectors = package / 'rnea_ros' / 'dynamics' / 'kernels' / 'vectors.py'
    source = vectors.read_text(encoding='utf-8')
    right, wrong = 'a[1] * b[2] - a[2] * b[1]', 'a[1] * b[2] + a[2] * b[1]'
    assert source.count(right) == 1
    vectors.write_text(source.replace(right, wrong), encoding='utf-8')


CROSS = """
from rnea_ros.compilation import entry
from rnea_ros.dynamics.kernels.vectors import cross

@entry
def first(x):
    return cross((x, x, x), (x, x, x))[0]
"""


@needs_numba
def test_an_edit_of_a_shared_kernel_recompiles_kernels_of_all_folders(tmp_path: Path) -> None:
    package, folder = copied_package(tmp_path / 'package'), tmp_path / 'folder'
    folder.mkdir()
    for path in (folder / 'other.py', package / 'rnea_ros/dynamics/kernels/own.py'):
        path.write_text(CROSS, encoding='utf-8')
    code = f'import sys; sys.path.insert(0, {str(folder)!r}); import other; '
    code += 'from rnea_ros.dynamics.kernels import own; kernels = own.first, other.first; '
    code += 'print(*((f(3.0), *f.stats.cache_hits.values()) for f in kernels))'
    assert [run(code, package), run(code, package)] == ['(0.0,) (0.0,)\n', '(0.0, 1) (0.0, 1)\n']
    break_cross_product(package)
    assert run(code, package) == '(18.0,) (18.0,)\n'


SMALL_KERNELS = """
from rnea_ros.compilation import entry

@entry
def double(x):
    return 2 * x

@entry
def triple(x):
    return 3 * x
"""
CALL_SMALL_KERNELS = """
from rnea_ros.dynamics.kernels.small import double, triple
print(double(3), triple(3))
"""


@needs_numba
def test_a_read_only_package_caches_in_the_users_directory(tmp_path: Path) -> None:
    package = read_only_package(tmp_path / 'package')
    home = tmp_path / 'home'
    home.mkdir()
    printed = run(CALL_SMALL_KERNELS, package, HOME=str(home), XDG_CACHE_HOME=str(home / 'cache'))
    assert printed == '6 9\n'
    assert len(list(home.rglob('*.nbi'))) == 2
    assert not list(package.rglob('*.nbi'))


def read_only_package(folder: Path) -> Path:
    """Return a copy of the package, with small kernels beside its own, that cannot be cached."""
    kernels = copied_package(folder) / 'rnea_ros' / 'dynamics' / 'kernels'
    (kernels / 'small.py').write_text(SMALL_KERNELS, encoding='utf-8')
    # A file in place of the cache's directory: not even root can write into it.
    (kernels / '__pycache__').touch()
    return folder
