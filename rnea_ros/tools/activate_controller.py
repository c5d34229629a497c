# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Activate an effort controller as soon as the feedforward node's commands hold the arm.

An effort controller that is active and gets no command, or one that still grows from zero, lets an
arm without brakes fall. So load it with `spawner --inactive`, start the node, then run this: it
waits until the node's start ramp is over and its commands reach the controller.

An arm without friction that is let go of for one step keeps what speed it got, as gravity alone
does not stop it: with --hold the node is first told to hold the pose that the arm stands in.

Exit code: 0 the controller is active; 1 it is not, and a line says why; 2 bad arguments.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
import sys
import time
from typing import Any

from ..command_line import BAD_INPUT, OneLineParser, split_ros_arguments, tool
from ..errors import RneaError
from ..feedforward import CONTROLLING, State
from .arguments import positive

NOT_DONE = 1

HELD_FROM = 100_000_000
"""When the pose is reached that is to be held, ns: a point at time 0 would be a set-point, which
goes stale."""

SWITCH_TIMEOUT = 5
"""How long the controller manager may take for the switch itself, s."""


class NotActivatedError(RneaError):
    """The controller was not activated, and why."""


def commands_hold(values: Mapping[str, str]) -> bool:
    """
    Return whether the node's commands hold the arm, and go to the controller that was asked.

    :param values: of the node's diagnostics, by key
    :raises NotActivatedError: the control has ended
    """
    state = State(values['state'])
    if state not in (*CONTROLLING, State.WAITING, State.READY):
        raise NotActivatedError(f'the control is {state.value} ({values["reason"]})')
    ramped_up = state in (State.ACTIVE, State.DEGRADED)
    return ramped_up and values['effort_controller'] == 'confirmed'


class Holder:
    """
    Tells the feedforward node to hold the pose that the robot stands in.

    :param node: listens and sends
    :param feedforward: name of the feedforward node, resolved
    """

    def __init__(self, node: Any, feedforward: str) -> None:
        from sensor_msgs.msg import JointState
        from trajectory_msgs.msg import JointTrajectory

        self._joints: list[str] = []
        self._positions: dict[str, float] = {}
        self._wanted = node.create_publisher(
            JointTrajectory, f'{feedforward}/joint_trajectory', 1
        )
        node.create_subscription(JointState, f'{feedforward}/effort', self._on_effort, 1)
        node.create_subscription(JointState, 'joint_states', self._on_joint_states, 1)

    def send(self) -> bool:
        """Send the pose; return whether it is known, and the node there to take it."""
        from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

        known = bool(self._joints) and self._positions.keys() >= {*self._joints}
        if not known or not self._wanted.get_subscription_count():
            return False
        point = JointTrajectoryPoint(positions=[self._positions[name] for name in self._joints])
        point.time_from_start.nanosec = HELD_FROM
        self._wanted.publish(JointTrajectory(joint_names=self._joints, points=[point]))
        return True

    def _on_effort(self, message: Any) -> None:
        self._joints = list(message.name)

    def _on_joint_states(self, message: Any) -> None:
        self._positions.update(zip(message.name, message.position, strict=False))


class Activator:
    """
    Watches the feedforward node and then asks the controller manager.

    :param node: listens and calls
    :param feedforward: name of the feedforward node, resolved
    :param controller: name of the effort controller
    :param controller_manager: name of its node
    :param holder: has the node hold the robot's pose before
    :raises NotActivatedError: the service's definition is not installed
    """

    def __init__(
        self,
        node: Any,
        feedforward: str,
        controller: str,
        controller_manager: str,
        holder: Holder | None = None,
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
        self._request.timeout.sec = SWITCH_TIMEOUT
        node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        self._client = node.create_client(
            SwitchController, f'{controller_manager}/switch_controller'
        )
        self._future: Any = None
        self._holder = holder
        self._refused: int | None = None
        self._told = False

    def done(self) -> bool:
        """
        Look how things stand, go one step further; return whether the controller is active.

        :raises NotActivatedError: it will not be
        """
        if self._future is not None:
            return self._answered()
        if (
            self._values
            and commands_hold(self._values)
            and self._client.service_is_ready()
            and self._held()
        ):
            self._future = self._client.call_async(self._request)
        return False

    @property
    def missing(self) -> str:
        """What is waited for."""
        if not self._values:
            return f'no diagnostics of {self._status!r}'
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
                self._told = True

    def _held(self) -> bool:
        """Have the pose held, and wait for the diagnostics after that to know that it is."""
        if self._holder is None:
            return True
        if self._refused is None:
            if self._holder.send():
                self._refused, self._told = _refused_trajectories(self._values), False
            return False
        if self._told and _refused_trajectories(self._values) > self._refused:
            raise NotActivatedError('the node refused to hold the pose; its log tells why')
        return self._told

    def _answered(self) -> bool:
        if not self._future.done():
            return False
        error = self._future.exception()
        if error is not None or not self._future.result().ok:
            # Humble's answer has no message.
            why = error or getattr(self._future.result(), 'message', '') or 'it was refused'
            raise NotActivatedError(f'{self._controller} stays inactive: {why}')
        return True


def _refused_trajectories(values: Mapping[str, str]) -> int:
    """Return how many trajectories the node has refused by its diagnostics."""
    return sum(
        int(count) for key, count in values.items() if key.startswith('count/joint_trajectory/')
    )


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = OneLineParser(
        prog='activate_controller',
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add('controller', help='name of the effort controller, loaded and inactive')
    add('--node', default='feedforward', help='name of the feedforward node')
    add('--controller-manager', default='controller_manager', help='name of its node')
    add('--hold', action='store_true', help='have the node hold the pose first; needs gains')
    add('--timeout', type=positive, default=60.0, help='give up after so many seconds; 60')
    return parser.parse_args(arguments)


def _activate(node: Any, options: argparse.Namespace) -> None:
    """Wait and activate; what is waited for is told whenever it changes."""
    from rclpy.executors import SingleThreadedExecutor

    feedforward = node.resolve_topic_name(options.node)
    holder = Holder(node, feedforward) if options.hold else None
    activator = Activator(
        node, feedforward, options.controller, options.controller_manager, holder
    )
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    deadline = time.monotonic() + options.timeout
    told = ''
    while not activator.done():
        if time.monotonic() > deadline:
            raise NotActivatedError(f'{activator.missing}, after {options.timeout:g} s')
        if activator.missing != told:
            told = activator.missing
            print(f'waiting: {told}', flush=True)
        executor.spin_once(timeout_sec=0.1)
    print(f'{options.controller} is active', flush=True)


@tool
def main(args: list[str] | None = None) -> int:
    """Activate the controller; return the exit code."""
    arguments, ros_arguments = split_ros_arguments(sys.argv[1:] if args is None else args)
    options = _options(arguments)
    from ..ros import RosError
    from .live import live_node

    try:
        with live_node('activate_controller', ros_arguments) as node:
            _activate(node, options)
    except (NotActivatedError, RosError) as error:
        print(f'activate_controller: {error}', file=sys.stderr)
        return BAD_INPUT if isinstance(error, RosError) else NOT_DONE
    except KeyboardInterrupt:
        print('activate_controller: interrupted', file=sys.stderr)
        return NOT_DONE
    return 0


if __name__ == '__main__':
    sys.exit(main())
