# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Launch files of the installed package, in a DDS domain of their own, for the tests in test/launch.

What is launched is what was installed last: after a change, build before testing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import os
from pathlib import Path
from typing import Any

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription, SetLaunchConfiguration
from launch.launch_description_sources import PythonLaunchDescriptionSource
import launch_testing.actions
import pytest

from support.models.robots import ROOT
from support.ros import ros_process
from support.ros.node_observer import Onlooker
from support.ros.ros_process import isolated, new_domain_id, ros_node

PATIENCE = 120.0
"""How long a launch test waits for what must come, s: kernels may have to be compiled first."""

PATIENT = ROOT / 'test/launch/patient.yaml'
"""Parameters of the node: machines that run tests stall, which must not end it."""


def share(name: str) -> str:
    """Return the path of an installed file; skip the test where the package is not installed."""
    from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

    try:
        return str(Path(get_package_share_directory('rnea_ros'), name))
    except PackageNotFoundError:
        pytest.skip('rnea_ros is not installed: colcon build, and source install/setup.bash')


def launch_file(name: str, **arguments: object) -> IncludeLaunchDescription:
    """Return the action that includes a launch file, with its launch arguments."""
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(share(f'launch/{name}')),
        launch_arguments=[(key, str(value)) for key, value in arguments.items()],
    )


def needs_simulation() -> None:
    """Skip the test where the simulated robot cannot run."""
    pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')


def alone(*actions: Any) -> tuple[LaunchDescription, dict[str, int]]:
    """Return what is tested, in a DDS domain of its own, and that as an argument of the tests."""
    domain_id = new_domain_id()
    os.environ.update(isolated(domain_id))
    # launch takes a process that needs more than 5 s to end for one that hangs.
    patience = SetLaunchConfiguration('sigterm_timeout', str(PATIENCE))
    ready = launch_testing.actions.ReadyToTest()
    return LaunchDescription([patience, *actions, ready]), {'domain_id': domain_id}


def wait_until(condition: Callable[[], Any]) -> bool:
    """Return whether a condition came true in time."""
    return ros_process.wait_until(condition, PATIENCE)


@contextmanager
def onlooker(domain_id: int, namespace: str = '') -> Iterator[Onlooker]:
    """Give an onlooker of a launched node in a namespace, once that controls its robot."""
    with ros_node(domain_id, 'onlooker', namespace=namespace) as node:
        seen = Onlooker(node)
        seen.wait_until_controlled(PATIENCE)
        yield seen
