# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""``make test``: its parts, the line that counts them together, and what fails CI."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
import os
from pathlib import Path
import shutil
import signal
import subprocess
import sys

import pytest

from support.models.robots import ROOT
from support.ros.ros_process import PATIENCE, wait_until

pytestmark = pytest.mark.skipif(shutil.which('make') is None, reason='make is not installed')

PYTEST = """#!/bin/bash
[ "$2" = pytest ] || exec {python} "$@"
for argument; do case $argument in --junit-xml=*) file=${{argument#*=}}; esac; done
echo "${{@: -1}}" >> {log}
{action}
"""
"""A Python that logs the arguments of ``-m`` of pytest instead of running it."""

RESULT = (
    'echo \'<testsuites><testsuite tests="9" failures="2" skipped="3" errors="1"/></testsuites>\''
    ' > $file; exit 1'
)
PARTS = ['not ros', 'ros']


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / 'log'


def outside_make() -> dict[str, str]:
    """Return the environment without what a ``make test TEST=...`` around this test adds."""
    return {name: x for name, x in os.environ.items() if name not in ('MAKEFLAGS', 'TEST')}


@contextmanager
def make_test(log: Path, action: str) -> Iterator[subprocess.Popen[str]]:
    """Give ``make test``, running in a copy with a fake pytest that does something."""
    folder = log.parent
    for name in ('Makefile', 'test/support/totals.py'):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    python = folder / 'python'
    python.write_text(PYTEST.format(python=sys.executable, log=log, action=action), 'utf-8')
    python.chmod(0o755)
    with subprocess.Popen(
        ['make', 'test', 'VENV=.', '--old-file=./test.stamp', f'RUN={python}'],
        cwd=folder, env=outside_make(), stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def parts(log: Path) -> Sequence[str]:
    return sorted(log.read_text('utf-8').splitlines()) if log.exists() else []


@pytest.mark.parametrize(('part', 'total'), [
    (RESULT, '6 passed, 4 failed, 6 skipped, 2 errors'),
    ('exit 3', '0 passed, 0 failed, 0 skipped, 2 errors'),
], ids=['with results', 'without results'])
def test_each_part_runs_whichever_fails_and_all_count(log: Path, part: str, total: str) -> None:
    with make_test(log, part) as make:
        output, _ = make.communicate(timeout=PATIENCE)
    assert parts(log) == PARTS
    assert f'total: {total}' in output.splitlines()
    assert make.returncode == 2


def test_ctrl_c_ends_all_parts_at_once(log: Path) -> None:
    end = f"trap 'echo ended >> {log}; exit 2' INT; while :; do sleep 0.01; done"
    with make_test(log, end) as make:
        assert wait_until(lambda: parts(log) == PARTS)
        os.killpg(make.pid, signal.SIGINT)
        output, _ = make.communicate(timeout=PATIENCE)
    assert make.returncode != 0
    assert parts(log) == ['ended', 'ended', *PARTS]
    assert 'total' not in output


def test_a_missing_library_of_the_oracles_is_named_with_its_package(tmp_path: Path) -> None:
    shutil.copy(ROOT / 'Makefile', tmp_path)
    make = subprocess.run(
        ['make', './test.stamp', 'VENV=.', '--old-file=./demo.stamp', 'RUN=false'],
        cwd=tmp_path, env=outside_make(), capture_output=True, text=True,
    )
    line, *_ = make.stderr.splitlines()
    assert line.endswith('On Debian and Ubuntu: apt install libgomp1')


def test_an_oracle_test_whose_file_skips_itself_fails_ci(tmp_path: Path) -> None:
    (tmp_path / 'pinocchio.py').write_text('raise ModuleNotFoundError')
    inherited = {name: x for name, x in os.environ.items() if not name.startswith('PYTEST_')}
    finished = subprocess.run(
        [
            sys.executable, '-m', 'pytest', '--no-skipped-oracles', '-p', 'no:cacheprovider',
            'test/identification/test_with_inertial_parameters.py',
        ],
        cwd=ROOT, env={**inherited, 'PYTHONPATH': str(tmp_path)}, capture_output=True, text=True,
    )
    assert 'an oracle test was skipped' in finished.stdout
    assert finished.returncode != 0
