# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Send a trajectory to the node ``feedforward``: a joint turns by 0.3 rad and back."""

import sys
import time

import rclpy
from rclpy.duration import Duration
from rclpy.time import Time
from rclpy.wait_for_message import wait_for_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint


def main() -> None:
    """Send one trajectory of 4 s, from where the arm is; print tracking error and feedback."""
    rclpy.init()
    node = rclpy.create_node('send_trajectory')
    publisher = node.create_publisher(JointTrajectory, 'feedforward/joint_trajectory', 1)
    received, states = wait_for_message(JointState, node, 'joint_states', time_to_wait=60.0)
    assert received, 'no joint states'
    discovered, deadline = time.monotonic() + 1.0, time.monotonic() + 60.0
    while publisher.get_subscription_count() == 0 or time.monotonic() < discovered:
        assert time.monotonic() < deadline, 'no active node feedforward'
        rclpy.spin_once(node, timeout_sec=0.1)
        nodes = [end.node_namespace + end.node_name for end in (
            *node.get_publishers_info_by_topic('joint_states'),
            *node.get_subscriptions_info_by_topic('feedforward/joint_trajectory'),
        ) if not end.node_name.startswith('_')]  # names are discovered last
        assert len(set(nodes)) == len(nodes), f'two robots on one domain? {nodes}'

    name = sys.argv[1] if len(sys.argv) > 1 else states.name[-1]
    assert name in states.name, f'no joint {name!r}; joints: {", ".join(states.name)}'
    start = states.position[states.name.index(name)]
    there = list(states.position)
    there[states.name.index(name)] += 0.3
    rest = [0.0] * len(there)
    message = JointTrajectory(joint_names=list(states.name), points=[
        JointTrajectoryPoint(
            positions=positions, velocities=rest,
            time_from_start=Duration(seconds=seconds).to_msg(),
        )
        for seconds, positions in ((2.0, there), (4.0, list(states.position)))
    ])
    times, turned, errors, feedback = [], [0.0], [0.0], [0.0]

    def store_state(state: JointState) -> None:
        times.append(Time.from_msg(state.header.stamp))
        turned.append(state.position[state.name.index(name)] - start)
        since = (times[-1] - Time.from_msg(message.header.stamp)).nanoseconds * 1e-9
        share = min(max(since, 0.0), max(4.0 - since, 0.0)) / 2.0  # of the way there or back
        errors.append(abs(turned[-1] - 0.3 * share**2 * (3.0 - 2.0 * share)))  # cubic

    def store_feedback(term: JointState) -> None:
        feedback.append(abs(term.effort[term.name.index(name)]))

    node.create_subscription(JointState, 'joint_states', store_state, 1)
    node.create_subscription(JointState, 'feedforward/terms/feedback', store_feedback, 1)

    def turned_within(seconds: float) -> bool:
        """Receive for a time of the robot; return whether the joint has turned."""
        times.clear()
        while not times or times[-1] - times[0] < Duration(seconds=seconds):
            assert time.monotonic() < deadline, 'it does not turn, or its states stop'
            rclpy.spin_once(node, timeout_sec=0.1)
        return max(turned) > 0.01

    def publish() -> None:
        """Let the motion start in 0.3 s of the robot's time."""
        message.header.stamp = (times[-1] + Duration(seconds=0.3)).to_msg()
        errors[:] = [0.0]
        publisher.publish(message)

    deadline = time.monotonic() + 120.0
    turned_within(0.0)
    publish()
    while not turned_within(1.0):  # a node that has just started is not active yet
        publish()
    print(f'sent: {name} to {start + 0.3:.3f} rad and back to {start:.3f}, in 4 s')
    turned_within(3.5)
    assert max(turned) > 0.2, f'{name} turned by {max(turned):.2f} rad only: see the log'
    print(f'{name}: largest tracking error {1e3 * max(errors):.2g} mrad, '
          f'largest feedback {max(feedback):.2g} N m')
    rclpy.shutdown()


if __name__ == '__main__':
    try:
        main()
    except AssertionError as error:
        sys.exit(f'send_trajectory: {error}')
