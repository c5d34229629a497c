# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Shared by all tests: ``--no-skipped-oracles``, seeded examples, a DDS domain, a fake robot."""

from collections.abc import Callable, Iterator
import gc
from importlib.util import find_spec
import os
from pathlib import Path
import signal
from typing import Any

from hypothesis import settings
import pytest

from rnea_ros.shared_memory import on_loopback
from support.ros.fake_robot import FakeRobot, fake_robot
from support.ros.ros_process import new_domain_id

os.environ.update(on_loopback(os.environ) | os.environ)

# A shell that runs the tests in the background makes them, and all their processes, ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Modules last as long as the process: to search them for garbage takes a tenth of the tests' time.
gc.disable()

# The same examples in every run, and no limit of time: machines are busy.
settings.register_profile('seeded', derandomize=True, deadline=None, database=None)
settings.load_profile('seeded')


INSTALLED = 'ros_installation'
"""Folder of the tests that need packages of ROS that are not on PyPI."""

HAS_ROS2_LAUNCH = find_spec('ros2launch') is not None

ALL_OVER_DDS = ('\npytestmark = pytest.mark.ros\n', '@pytest.mark.launch_test\n')
"""Where a file has one of these, each of its tests is over DDS."""

PARTS: dict[str, Callable[[str], bool]] = {
    'not ros': lambda text: not any(mark in text for mark in ALL_OVER_DDS),
    'ros': lambda text: 'mark.ros' in text,
}
"""Parts of ``make test``; whether a file with some text can have tests of a part."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        '--no-skipped-oracles', action='store_true',
        help='fail when a test marked oracle was skipped',
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    report = yield
    if item.get_closest_marker('oracle'):
        _fail_if_skipped(report, item.config)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector):  # type: ignore[no-untyped-def]
    """A file that skips itself has no tests yet: its text shows whether they are marked."""
    report = yield
    if report.skipped and 'mark.oracle' in collector.path.read_text(encoding='utf-8'):
        _fail_if_skipped(report, collector.config)
    return report


def _fail_if_skipped(
    report: pytest.TestReport | pytest.CollectReport, config: pytest.Config
) -> None:
    if report.skipped and config.getoption('--no-skipped-oracles'):
        report.outcome = 'failed'
        report.longrepr = f'an oracle test was skipped: {report.longrepr}'


def pytest_report_header() -> str | None:
    text = f'ros2 launch is missing: test/{INSTALLED} neither runs nor counts as skipped'
    return None if HAS_ROS2_LAUNCH else text


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """
    Leave out what cannot run: tests of a ROS installation without one, unless they are named.

    Do not import files without a test for this part of ``make test``; none is skipped twice.
    """
    named = any(INSTALLED in argument for argument in config.args)
    if collection_path.name == INSTALLED and not HAS_ROS2_LAUNCH and not named:
        return True
    part = config.getoption('markexpr')
    if part not in PARTS or collection_path.suffix != '.py':
        return None
    text = collection_path.read_text(encoding='utf-8')
    return None if PARTS[part](text) else True


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> Any:
    """
    Leave to launch_testing its own tests only.

    It imports every file to see whether it is one of its own; where such a file skips itself, all
    others of its directory would be left out with it.
    """
    if '@pytest.mark.launch_test' in module_path.read_text(encoding='utf-8'):
        return None
    return pytest.Module.from_parent(parent, path=module_path)


@pytest.fixture
def domain_id() -> int:
    """A DDS domain of the test's own."""
    return new_domain_id()


@pytest.fixture
def robot(domain_id: int) -> Iterator[FakeRobot]:
    """A robot with an effort controller."""
    with fake_robot(domain_id) as robot:
        yield robot
