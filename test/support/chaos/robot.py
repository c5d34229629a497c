# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A simulated robot that can be pushed, and whose effort controller leaves and comes back on request.

``python -m support.chaos.robot`` with the parameters of ``rnea_ros.sim.simulated_robot``. It
listens to

- ``push`` (WrenchStamped): a push on the link ``frame_id``; its stamp is its duration;
- ``leave`` (Float64): the controller leaves for this time, s; meanwhile the last efforts stay.
"""

from collections import deque
import sys
import threading
from types import SimpleNamespace
from typing import Any

from geometry_msgs.msg import WrenchStamped
import rclpy
from std_msgs.msg import Float64, Float64MultiArray

from rnea_ros.parameters import described, read_settings
from rnea_ros.robot import Wrench
from rnea_ros.ros import MACHINE_TIME, NodeProcess, PolledSubscription, finish, seconds
from rnea_ros.sim.effort_controller import EffortController
from rnea_ros.sim.options import PARAMETERS, TIMESTEP, Options
from rnea_ros.sim.pace import RealTime
from rnea_ros.sim.physics import SimulatedRobot
from rnea_ros.sim.simulated_robot import NEWEST, Broadcasters, PhysicsLoop, start_controller


class Hand:
    """
    Pushes links of a robot.

    :param robot: to push; only in :meth:`update`, which the thread of the physics calls
    """

    def __init__(self, robot: SimulatedRobot) -> None:
        self._robot = robot
        self._requests: deque[WrenchStamped] = deque()
        self._ends: dict[str, float] = {}

    def push(self, message: Any) -> None:
        """Request a push; any thread may call this."""
        self._requests.append(message)

    def update(self) -> None:
        """Begin and end pushes when they are due."""
        while self._requests:
            message = self._requests.popleft()
            link, force = message.header.frame_id, message.wrench.force
            self._robot.apply_push(link, Wrench((force.x, force.y, force.z), (0.0, 0.0, 0.0)))
            self._ends[link] = self._robot.time + seconds(message.header.stamp)
        for link in [link for link, end in self._ends.items() if end <= self._robot.time]:
            self._robot.apply_push(link, None)
            del self._ends[link]


class Controller:
    """
    The node of the effort controller, with its commands; all but :meth:`take` on the executor.

    :param node: the robot's node
    :param make: makes the controller's node
    """

    def __init__(self, node: Any, make: Any) -> None:
        self._robot_node, self._make = node, make
        self._lock = threading.Lock()
        self._timer: Any = None
        self.node: Any = None
        self._commands: PolledSubscription[Any] | None = None
        self._come()

    def _come(self) -> None:
        self.node = self._make()
        self._commands = PolledSubscription(self.node, Float64MultiArray, '~/commands', NEWEST)
        if self._timer is not None:
            self._robot_node.executor.add_node(self.node)
            self._robot_node.destroy_timer(self._timer)
            self._timer = None

    def leave(self, message: Any) -> None:
        """Leave for a time; while it is away, a request counts for nothing."""
        if self._timer is not None:
            return
        with self._lock:
            self._commands = None
        self._robot_node.executor.remove_node(self.node)
        self.node.destroy_node()
        self._timer = self._robot_node.create_timer(message.data, self._come, clock=MACHINE_TIME)

    def take(self) -> Any | None:
        """Return the newest command, None without one; for the thread of the physics."""
        with self._lock:
            return None if self._commands is None else self._commands.take()


def start(node: Any) -> tuple[Controller, PhysicsLoop]:
    """Start the simulation; return the controller and the running loop."""
    options = read_settings(node, Options)
    robot = options.make_robot()
    hand = Hand(robot)
    controller = Controller(node, lambda: start_controller(options, robot, node.get_namespace()))
    warn = node.get_logger().warning
    broadcasters = Broadcasters(node, robot, options)
    loop = PhysicsLoop(
        robot,
        EffortController(robot.limits, warn, warn),
        broadcasters,
        RealTime(controller, TIMESTEP, broadcasters.lose),  # type: ignore[arg-type]
        SimpleNamespace(  # type: ignore[arg-type]
            steps_per_state=options.steps_per_state, make_push=lambda _: hand, viewer=False,
        ),
    )
    node.create_subscription(WrenchStamped, 'push', hand.push, 10)
    node.create_subscription(Float64, 'leave', controller.leave, 10)
    loop.start()
    return controller, loop


def main() -> int:
    """Simulate until SIGINT or SIGTERM; return the exit code."""
    process = NodeProcess('support.chaos.robot', '', described(PARAMETERS), None)
    node = process.create(lambda: rclpy.create_node('simulated_robot'))
    controller, loop = process.create(lambda: start(node))
    process.spin(node, controller.node, running=lambda: loop.running)
    return finish(loop, node, controller.node)


if __name__ == '__main__':
    sys.exit(main())
