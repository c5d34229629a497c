# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The thread that couples the arms, and its topics."""

from __future__ import annotations

from array import array
import time
from typing import Any

from rclpy.duration import Duration
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from trajectory_msgs.msg import JointTrajectory

from ..messages import FixedLayoutReader, JointStateSample
from ..ros import LoopThread, PeriodicSchedule, PolledSubscription, trajectory_message
from .arm import Arm
from .coupling import Coupling, Output
from .settings import TeleoperationSettings

JOINT_STATES = QoSProfile(depth=16, reliability=ReliabilityPolicy.BEST_EFFORT)
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
SENT = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)

STOP_TIME = 1.0  # most ticks at the end, while the arms are let go: as many as in this time, s
ACK_TIMEOUT = 1.0  # longest wait for the delivery of the last messages, s


class ArmTopics:
    """The subscriptions of one arm."""

    def __init__(self, node: Any, namespace: str) -> None:
        def subscribe(topic: str, qos: QoSProfile) -> PolledSubscription[bytes]:
            name = in_namespace(namespace, topic)
            return PolledSubscription(node, JointState, name, qos, raw=True)

        self._states = subscribe('joint_states', JOINT_STATES)
        self._efforts = subscribe('feedforward/external_effort', NEWEST)
        self._read_states = FixedLayoutReader(JointStateSample.read)
        self._read_efforts = FixedLayoutReader(JointStateSample.read)

    def take_messages(self, arm: Arm, now: float, clock: float) -> None:
        """Pass the new messages on, at a monotonic time and a time of the stamps' clock, s."""
        states, efforts = self._states.take_all(), self._efforts.take_all()
        for sample, stamp in self._read_states.samples(states, arm.states.reject):
            arm.states.take_sample(*sample, stamp=stamp, clock=clock, received=now)
        for sample, _ in self._read_efforts.samples(efforts, arm.reject):
            arm.take_effort(sample, now)


class TeleoperationLoop(LoopThread):
    """
    Reads both arms, couples them and sends, at a fixed rate.

    The topics exist from the start, the thread and ``coupling`` once the robots are known.
    """

    def __init__(self, node: Any, settings: TeleoperationSettings) -> None:
        super().__init__('teleoperation_loop')
        self.coupling: Coupling | None = None
        self._clock = node.get_clock()
        self._leader = ArmTopics(node, settings.leader)
        self._follower = ArmTopics(node, settings.follower)
        self._dead_man: PolledSubscription[Any] | None = None
        if settings.dead_man_topic:
            self._dead_man = PolledSubscription(node, Bool, settings.dead_man_topic, NEWEST)
        self._setpoints = node.create_publisher(
            JointTrajectory, in_namespace(settings.follower, 'feedforward/joint_trajectory'), SENT
        )
        self._efforts = node.create_publisher(
            JointState, in_namespace(settings.leader, 'feedforward/additional_effort'), SENT
        )
        self._schedule = PeriodicSchedule(settings.period)

    def couple(self, coupling: Coupling) -> None:
        """Start the thread."""
        self.coupling = coupling
        self.start()

    def _loop(self) -> None:
        """Tick; at the end until the follower rests and the leader's efforts have faded."""
        coupling = self.coupling
        assert coupling is not None
        self._schedule.start()
        while not self._quit:
            self._tick(coupling)
        coupling.stop()
        for _ in range(round(STOP_TIME / coupling.settings.period)):
            if all(sent is None for sent in self._tick(coupling)):
                break
        for publisher in (self._setpoints, self._efforts):
            publisher.wait_for_all_acked(Duration(seconds=ACK_TIMEOUT))

    def _tick(self, coupling: Coupling) -> Output:
        self._schedule.wait()
        now, clock = time.monotonic(), 1e-9 * self._clock.now().nanoseconds
        self._leader.take_messages(coupling.leader, now, clock)
        self._follower.take_messages(coupling.follower, now, clock)
        pressed = None if self._dead_man is None else self._dead_man.take()
        if pressed is not None:
            coupling.set_dead_man(pressed.data, now)
        output = coupling.step(now)
        settings = coupling.settings
        if output.setpoint is not None:
            states = ([state] for state in output.setpoint)
            self._setpoints.publish(trajectory_message(settings.joints, (0.0,), *states))
        if output.effort is not None:
            effort = array('d', output.effort)
            self._efforts.publish(JointState(name=settings.joints_of_leader, effort=effort))
        return output


def in_namespace(namespace: str, topic: str) -> str:
    """Return the name of an arm's topic; an empty namespace is that of the node."""
    return f'{namespace}/{topic}' if namespace else topic
