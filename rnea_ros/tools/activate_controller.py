# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Activate an effort controller as soon as the commands of the feedforward node hold the arm.

An arm without brakes falls if its effort controller is active before commands arrive, or during
the start ramp of the node. Load the controller with `spawner --inactive`, start the node, then run
this tool. It waits for the end of the start ramp and for the commands to reach the controller.

In mode gravity an arm without friction keeps any speed that it gains during the activation. With
--hold the node first gets a trajectory that holds the present pose.

In a paused Gazebo, activate joint_state_broadcaster with --unpause: this waits until the node is
active, and lets the simulated time begin. Until then no arm can fall.

Exit code: 0 the controller is active; 1 it is not, with a line that says why; 2 bad arguments.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
import re
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from ..command_line import OneLineParser, tool
from ..errors import RneaError
from ..feedforward import CONTROLLING, State
from .arguments import positive

if TYPE_CHECKING:
    from ..live import LiveNode

NOT_ACTIVATED = 1  # exit code
HOLD_TIME = 0.1  # of the point to hold, s; at time 0 it is a set-point, which expires
SWITCH_TIMEOUT = 5  # of the controller manager, s
PAUSED_TIMEOUT = 30  # the same for a paused simulation

GAZEBO = {'gz': 'gz', 'ign': 'ignition'}
"""Command lines of Gazebo, newer and older (Fortress), and the packages of their messages."""

GAZEBO_TIMEOUT = 10.0  # of a command, s
ATTEMPTS = 3  # Gazebo's command line does not always find what runs


class NotActivatedError(RneaError):
    """The controller was not activated."""


def commands_hold(values: Mapping[str, str]) -> bool:
    """Return whether the node's commands hold the arm and reach the effort controller."""
    state = State(values['state'])
    if state not in (*CONTROLLING, State.WAITING, State.READY, State.HOLDING):
        raise NotActivatedError(f'the control is {state.value} ({values["reason"]})')
    ramped_up = state in (State.ACTIVE, State.DEGRADED)
    return ramped_up and values['effort_controller'] == 'confirmed'


class Activator:
    """
    Waits for the feedforward node, then calls the controller manager.

    ``hold``: the node holds the present pose before the activation. ``unpause`` lets a paused
    simulation begin after the request; then an active node is enough for it.
    """

    def __init__(
        self, live: LiveNode, feedforward: str, controller: str, controller_manager: str, *,
        hold: bool = False, unpause: Callable[[], None] | None = None
    ) -> None:
        try:
            from controller_manager_msgs.srv import SwitchController
        except ImportError as error:
            raise NotActivatedError(f'controller_manager_msgs is missing: {error}') from error
        from sensor_msgs.msg import JointState

        from ..live import NodeClient

        self._node = NodeClient(live, feedforward)
        self._controller = controller
        self._request = SwitchController.Request(activate_controllers=[controller])
        self._request.strictness = SwitchController.Request.STRICT
        self._request.activate_asap = True
        self._request.timeout.sec = PAUSED_TIMEOUT if unpause else SWITCH_TIMEOUT
        self._client = live.node.create_client(
            SwitchController, f'{controller_manager}/switch_controller'
        )
        self._future: Any = None
        self._unpause = unpause
        self._hold, self._positions = hold, dict[str, float]()
        self._before_hold: tuple[float, int] | None = None  # report's time, s; rejected motions
        if hold:
            self._node.watch_joints()
            live.node.create_subscription(JointState, 'joint_states', self._on_joint_states, 1)

    def done(self) -> bool:
        """Take the next step if possible; return whether the controller is active."""
        if self._future is not None:
            return self._answered()
        values = self._node.diagnostics
        if (
            values
            and (commands_hold(values) or self._unpause is not None)
            and self._client.service_is_ready()
            and (not self._hold or self._held())
        ):
            self._future = self._client.call_async(self._request)
            if self._unpause is not None:
                self._unpause()
        return False

    @property
    def missing(self) -> str:
        """The reason for waiting."""
        values = self._node.diagnostics
        if not values:
            return f'no diagnostics of {self._node.status!r}, which an active node publishes'
        if self._future is not None:
            return f'no answer from {self._client.srv_name}'
        if not self._client.service_is_ready():
            return f'no service {self._client.srv_name}'
        if self._hold and commands_hold(values):
            return 'the node does not hold the pose yet'
        state, target = values['state'], values['effort_controller']
        return f'the control is {state}, the effort controller {target}'

    def _on_joint_states(self, message: Any) -> None:
        self._positions.update(zip(message.name, message.position, strict=False))

    def _held(self) -> bool:
        """Return whether the pose is held, as confirmed by diagnostics after the trajectory."""
        node = self._node
        rejected = sum(node.rejected_trajectories.values())
        if self._before_hold is None:
            if self._send_pose():
                self._before_hold = node.reported_at, rejected
            return False
        reported_at, rejected_before = self._before_hold
        if node.reported_at > reported_at and rejected > rejected_before:
            raise NotActivatedError('the node rejected the pose to hold; see its log')
        return node.reported_at > reported_at

    def _send_pose(self) -> bool:
        """Send the present pose; return False if it is unknown or the node does not subscribe."""
        joints = self._node.joints
        known = bool(joints) and self._positions.keys() >= {*joints}
        if not known or not self._node.trajectories.subscribed:
            return False
        self._node.trajectories.send_pose(joints, [self._positions[j] for j in joints], HOLD_TIME)
        return True

    def _answered(self) -> bool:
        if not self._future.done():
            return False
        error = self._future.exception()
        if error is not None or not self._future.result().ok:
            # The response of Humble has no message.
            reason = error or getattr(self._future.result(), 'message', '') or 'request rejected'
            raise NotActivatedError(f'{self._controller} was not activated: {reason}')
        return True


def unpause_gazebo() -> None:
    """Let the time of all worlds of the running Gazebo advance, by its own command line."""
    programs = [program for program in GAZEBO if shutil.which(program)]
    for program in ATTEMPTS * programs:
        package = GAZEBO[program]
        services = _gazebo(program, '-l')
        worlds = re.findall(r'^/world/[^/\s]+/control$', services, re.MULTILINE)
        for service in worlds:
            answer = _gazebo(
                program, '-s', service, '--reqtype', f'{package}.msgs.WorldControl', '--reptype',
                f'{package}.msgs.Boolean', '--timeout', '5000', '--req', 'pause: false',
            )
            if 'true' not in answer:
                raise NotActivatedError(
                    f'{service} of Gazebo does not answer: {answer.strip()!r}'
                )
        if worlds:
            return
    raise NotActivatedError('no world is found with "gz service -l" or "ign service -l"')


def _gazebo(program: str, *arguments: str) -> str:
    """Return what a command about Gazebo's services prints; nothing if it fails or hangs."""
    try:
        return subprocess.run(
            [program, 'service', *arguments], stdout=subprocess.PIPE, text=True,
            timeout=GAZEBO_TIMEOUT, check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ''


def _options(args: list[str] | None) -> argparse.Namespace:
    parser = OneLineParser(prog='activate_controller', description=__doc__)
    add = parser.add_argument
    add('controller', help='name of the inactive controller')
    add('--node', default='feedforward', help='name of the feedforward node; feedforward')
    add('--controller-manager', default='controller_manager',
        help='name of its node; controller_manager')
    add('--hold', action='store_true', help='hold the pose first; the node needs gains')
    add('--unpause', action='store_true', help='let a paused Gazebo begin, with an active node')
    add('--timeout', type=positive, default=60.0, help='timeout, s; 60')
    return parser.parse(args)


def _activate(live: LiveNode, options: argparse.Namespace) -> None:
    """Activate the controller; print the reason for waiting whenever it changes."""
    activator = Activator(
        live, options.node, options.controller, options.controller_manager, hold=options.hold,
        unpause=unpause_gazebo if options.unpause else None,
    )
    deadline = time.monotonic() + options.timeout
    printed = ''
    while not activator.done():
        if time.monotonic() > deadline:
            raise NotActivatedError(f'{activator.missing} after {options.timeout:g} s')
        if activator.missing != printed:
            printed = activator.missing
            print(f'waiting: {printed}', flush=True)
        live.spin(0.1)
    print(f'{options.controller} is active', flush=True)


@tool
def main(args: list[str] | None = None) -> int:
    """Activate the controller; return the exit code."""
    options = _options(args)
    from ..live import live_node

    try:
        with live_node('activate_controller', options.ros_arguments) as live:
            _activate(live, options)
    except NotActivatedError as error:
        print(f'activate_controller: {error}', file=sys.stderr)
        return NOT_ACTIVATED
    return 0


if __name__ == '__main__':
    sys.exit(main())
