# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Send a trajectory to the node ``feedforward``: a joint turns by 0.3 rad and back."""

import argparse
from collections.abc import Callable
import sys
import time

import rclpy
from rclpy.duration import Duration
from rclpy.signals import SignalHandlerOptions
from rclpy.time import Time
from rclpy.utilities import remove_ros_args
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rnea_ros.interrupts import interrupts_held

ATTEMPTS = 10
LARGE_ERROR = 0.1  # rad
REASONS = (
    "the node's log names the reason (mode gravity follows no trajectory), or friction holds it"
)


def main() -> None:
    """Send one trajectory of 4 s, from where the arm is; print tracking error and feedback."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('joint', nargs='?', help='the joint that turns; default: the last one')
    joint = parser.parse_args(remove_ros_args(sys.argv)[1:]).joint
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    with interrupts_held() as interrupted:  # Ctrl-C ends it between two messages
        send(joint, interrupted)
        rclpy.shutdown()


def send(joint: str | None, interrupted: Callable[[], bool]) -> None:
    """Send the trajectory until the joint turns; raise AssertionError where it fails."""
    node = rclpy.create_node('send_trajectory')
    publisher = node.create_publisher(JointTrajectory, 'feedforward/joint_trajectory', 1)
    states: list[JointState] = []
    feedback: list[JointState] = []
    node.create_subscription(JointState, 'joint_states', states.append, 1)
    node.create_subscription(JointState, 'feedforward/terms/feedback', feedback.append, 1)

    def receive(deadline: float, missing: str) -> None:
        rclpy.spin_once(node, timeout_sec=0.1)
        if interrupted():
            raise KeyboardInterrupt
        assert time.monotonic() < deadline, missing

    started = time.monotonic()
    while not states or not publisher.get_subscription_count() or time.monotonic() < started + 1.0:
        receive(started + 60.0, 'no active node feedforward' if states else 'no joint states')
        nodes = [end.node_namespace + end.node_name for end in (
            *node.get_publishers_info_by_topic('joint_states'),
            *node.get_subscriptions_info_by_topic('feedforward/joint_trajectory'),
        ) if not end.node_name.startswith('_')]  # names are discovered last
        assert len(set(nodes)) == len(nodes), f'two robots on one domain? {nodes}'

    here = states[-1]
    name = joint or here.name[-1]
    assert name in here.name, f'no joint {name!r}; joints: {", ".join(here.name)}'
    start = here.position[here.name.index(name)]
    there = list(here.position)
    there[here.name.index(name)] += 0.3
    message = JointTrajectory(joint_names=list(here.name), points=[
        JointTrajectoryPoint(
            positions=positions, velocities=[0.0] * len(there),
            time_from_start=Duration(seconds=seconds).to_msg(),
        )
        for seconds, positions in ((2.0, there), (4.0, list(here.position)))
    ])
    deadline = time.monotonic() + 120.0

    def turned() -> list[float]:
        return [state.position[state.name.index(name)] - start for state in states]

    def receive_for(seconds: float) -> None:
        """Receive for a time of the robot."""
        end = Time.from_msg(states[-1].header.stamp) + Duration(seconds=seconds)
        while Time.from_msg(states[-1].header.stamp) < end:
            receive(deadline, 'the joint states stop')

    for attempt in range(ATTEMPTS):  # a node that has just started is not active yet
        if attempt == 2:
            print(f'{name} does not turn yet: {REASONS}. Trying again', flush=True)
        del states[:-1]
        begin = Time.from_msg(states[-1].header.stamp) + Duration(seconds=0.3)
        message.header.stamp = begin.to_msg()
        publisher.publish(message)
        receive_for(1.0)
        if max(turned()) > 0.01:
            break
    else:
        raise AssertionError(f'{name} does not turn: {REASONS}')
    print(f'sent: {name} to {start + 0.3:.3f} rad and back to {start:.3f}, in 4 s', flush=True)
    receive_for(3.5)
    error = 0.0
    for state, angle in zip(states, turned(), strict=True):
        since = (Time.from_msg(state.header.stamp) - begin).nanoseconds * 1e-9
        share = min(max(since, 0.0), max(4.0 - since, 0.0)) / 2.0  # of the way there or back
        error = max(error, abs(angle - 0.3 * share**2 * (3.0 - 2.0 * share)))  # cubic
    efforts = [abs(term.effort[term.name.index(name)]) for term in feedback]
    print(f'{name}: largest tracking error {1e3 * error:.2f} mrad, '
          f'largest feedback {max(efforts, default=0.0):.2f} N m')
    why = "low gains, a payload that the model lacks, or a fault (the node's log)"
    assert error < LARGE_ERROR, f'that is above {1e3 * LARGE_ERROR:.0f} mrad: {why}'


if __name__ == '__main__':
    try:
        main()
    except AssertionError as error:
        sys.exit(f'send_trajectory: {error}')
    except KeyboardInterrupt:
        sys.exit('send_trajectory: interrupted; the arm finishes a motion that has begun')
