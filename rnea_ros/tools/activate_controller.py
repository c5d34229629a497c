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
import sys
import time
from typing import TYPE_CHECKING, Any

from ..command_line import OneLineParser, tool
from ..errors import RneaError
from ..feedforward import CONTROLLING, State
from .arguments import positive

if TYPE_CHECKING:
    from .live import LiveNode

NOT_ACTIVATED = 1  # exit code
HOLD_TIME = 100_000_000  # of the point to hold, ns; at time 0 it is a set-point, which expires
SWITCH_TIMEOUT = 5  # of the controller manager, s
PAUSED_TIMEOUT = 30  # the same for a paused simulation


class NotActivatedError(RneaError):
    """The controller was not activated."""


def commands_hold(values: Mapping[str, str]) -> bool:
    """Return whether the node's commands hold the arm and reach the effort controller."""
    state = State(values['state'])
    if state not in (*CONTROLLING, State.WAITING, State.READY, State.HOLDING):
        raise NotActivatedError(f'the control is {state.value} ({values["reason"]})')
    ramped_up = state in (State.ACTIVE, State.DEGRADED)
    return ramped_up and values['effort_controller'] == 'confirmed'


class Holder:
    """Sends the feedforward node a trajectory that holds the present pose."""

    def __init__(self, node: Any, feedforward: str) -> None:
        from sensor_msgs.msg import JointState
        from trajectory_msgs.msg import JointTrajectory

        self._joints: list[str] = []
        self._positions: dict[str, float] = {}
        self._trajectories = node.create_publisher(
            JointTrajectory, f'{feedforward}/joint_trajectory', 1
        )
        node.create_subscription(JointState, f'{feedforward}/effort', self._on_effort, 1)
        node.create_subscription(JointState, 'joint_states', self._on_joint_states, 1)

    def send(self) -> bool:
        """Send the pose; return False if it is unknown or the node does not subscribe."""
        from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

        known = bool(self._joints) and self._positions.keys() >= {*self._joints}
        if not known or not self._trajectories.get_subscription_count():
            return False
        point = JointTrajectoryPoint(positions=[self._positions[name] for name in self._joints])
        point.time_from_start.nanosec = HOLD_TIME
        self._trajectories.publish(JointTrajectory(joint_names=self._joints, points=[point]))
        return True

    def _on_effort(self, message: Any) -> None:
        self._joints = list(message.name)

    def _on_joint_states(self, message: Any) -> None:
        self._positions.update(zip(message.name, message.position, strict=False))


class Activator:
    """
    Waits for the feedforward node, then calls the controller manager.

    ``holder`` holds the pose before the activation. ``unpause`` lets a paused simulation begin
    after the request; then an active node is enough for it.
    """

    def __init__(
        self, node: Any, feedforward: str, controller: str, controller_manager: str,
        holder: Holder | None = None, unpause: Callable[[], None] | None = None
    ) -> None:
        from diagnostic_msgs.msg import DiagnosticArray

        try:
            from controller_manager_msgs.srv import SwitchController
        except ImportError as error:
            raise NotActivatedError(f'controller_manager_msgs is missing: {error}') from error
        self._status = f'{feedforward.lstrip("/")}: control'
        self._controller = controller
        self._values: dict[str, str] = {}
        self._request = SwitchController.Request(activate_controllers=[controller])
        self._request.strictness = SwitchController.Request.STRICT
        self._request.activate_asap = True
        self._request.timeout.sec = PAUSED_TIMEOUT if unpause else SWITCH_TIMEOUT
        node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        self._client = node.create_client(
            SwitchController, f'{controller_manager}/switch_controller'
        )
        self._future: Any = None
        self._holder = holder
        self._unpause = unpause
        self._rejected_before_hold: int | None = None
        self._new_diagnostics = False

    def done(self) -> bool:
        """Take the next step if possible; return whether the controller is active."""
        if self._future is not None:
            return self._answered()
        if (
            self._values
            and (commands_hold(self._values) or self._unpause is not None)
            and self._client.service_is_ready()
            and self._held()
        ):
            self._future = self._client.call_async(self._request)
            if self._unpause is not None:
                self._unpause()
        return False

    @property
    def missing(self) -> str:
        """The reason for waiting."""
        if not self._values:
            return f'no diagnostics of {self._status!r}, which an active node publishes'
        if self._future is not None:
            return f'no answer from {self._client.srv_name}'
        if not self._client.service_is_ready():
            return f'no service {self._client.srv_name}'
        state, target = self._values['state'], self._values['effort_controller']
        if self._holder is not None and commands_hold(self._values):
            return 'the node does not hold the pose yet'
        return f'the control is {state}, the effort controller {target}'

    def _on_diagnostics(self, message: Any) -> None:
        for status in message.status:
            if status.name == self._status:
                self._values = {pair.key: pair.value for pair in status.values}
                self._new_diagnostics = True

    def _held(self) -> bool:
        """Return whether the pose is held, as confirmed by diagnostics after the trajectory."""
        if self._holder is None:
            return True
        if self._rejected_before_hold is None:
            if self._holder.send():
                self._rejected_before_hold = _rejected_trajectories(self._values)
                self._new_diagnostics = False
            return False
        rejected = _rejected_trajectories(self._values)
        if self._new_diagnostics and rejected > self._rejected_before_hold:
            raise NotActivatedError('the node rejected the pose to hold; see its log')
        return self._new_diagnostics

    def _answered(self) -> bool:
        if not self._future.done():
            return False
        error = self._future.exception()
        if error is not None or not self._future.result().ok:
            # The response of Humble has no message.
            reason = error or getattr(self._future.result(), 'message', '') or 'request rejected'
            raise NotActivatedError(f'{self._controller} was not activated: {reason}')
        return True


def _rejected_trajectories(values: Mapping[str, str]) -> int:
    """Return the number of rejected trajectories in the node's diagnostics."""
    return sum(
        int(count) for key, count in values.items() if key.startswith('count/joint_trajectory/')
    )


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
    from .live import unpause

    node = live.node
    feedforward = node.resolve_topic_name(options.node)
    holder = Holder(node, feedforward) if options.hold else None
    activator = Activator(
        node, feedforward, options.controller, options.controller_manager, holder,
        unpause if options.unpause else None,
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
    from .live import GazeboError, live_node

    try:
        with live_node('activate_controller', options.ros_arguments) as live:
            _activate(live, options)
    except (NotActivatedError, GazeboError) as error:
        print(f'activate_controller: {error}', file=sys.stderr)
        return NOT_ACTIVATED
    return 0


if __name__ == '__main__':
    sys.exit(main())
