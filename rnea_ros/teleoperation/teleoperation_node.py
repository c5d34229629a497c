# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The node ``teleoperation``: a leader arm moves a follower arm and feels its contacts.

Both arms have a node ``feedforward``, or only the follower: such a leader feels nothing. Joint
states of the leader become set-points of the follower; external efforts of the follower become
additional efforts of the leader. If this process is killed, the follower holds its last set-point,
and the efforts on the leader fade.
"""

from __future__ import annotations

from array import array
import sys
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String
from trajectory_msgs.msg import JointTrajectory

from ..errors import RneaError
from ..messages import FixedLayoutReader, JointStateSample
from ..parameters import described
from ..robot import RobotModel
from ..ros import (
    LATCHED,
    MACHINE_TIME,
    DiagnosticsPublisher,
    LoopThread,
    NodeProcess,
    PeriodicSchedule,
    PolledSubscription,
    check_topic,
    finish,
    read_settings,
    trajectory_message,
)
from ..urdf import read_urdf
from .arm import Arm, follower_rules, leader_inertia
from .coupling import Coupling, CouplingState, Output
from .settings import PARAMETERS, TeleoperationSettings

ABOUT = """\
The node 'teleoperation': a leader arm moves a follower arm and feels its contacts. Both arms have
a node 'feedforward', or only the follower."""

ARMS = ('leader', 'follower')

JOINT_STATES = QoSProfile(depth=16, reliability=ReliabilityPolicy.BEST_EFFORT)
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
SENT = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)

STOP_TIME = 1.0  # most ticks at the end, while the arms are let go: as many as in this time, s
ACK_TIMEOUT = 1.0  # longest wait for the delivery of the last messages, s


class Teleoperation(Node):
    """Teleoperation as a ROS 2 node; the arms are coupled in a thread of its own, ``loop``."""

    def __init__(self) -> None:
        super().__init__('teleoperation')
        self._settings = read_settings(self, TeleoperationSettings).per_joint()
        for name in (*ARMS, 'dead_man_topic'):
            if topic := getattr(self._settings, name):
                check_topic(self, name, topic)
        self.loop = TeleoperationLoop(self, self._settings)
        self._models: dict[str, RobotModel] = {}
        self._described = ARMS if self._settings.leader_node else ('follower',)
        self._logged = ''
        for arm in self._described:
            if source := getattr(self._settings, f'{arm}_description'):
                self._models[arm] = RobotModel.from_urdf(read_urdf(source))
                continue
            self.create_subscription(
                String, in_namespace(getattr(self._settings, arm), 'robot_description'),
                lambda message, arm=arm: self._on_description(arm, message.data), LATCHED,
            )
        self._diagnostics = DiagnosticsPublisher(self)
        self._start()
        self.create_timer(0.1, self._follow_up, clock=MACHINE_TIME)
        self.create_timer(1.0, self._publish_diagnostics, clock=MACHINE_TIME)

    def _on_description(self, arm: str, urdf: str) -> None:
        if self.loop.coupling is not None:
            return  # the joints of an arm do not change while it moves
        try:
            self._models[arm] = RobotModel.from_urdf(urdf)
            self._start()
        except RneaError as error:
            self.get_logger().error(f'robot_description of the {arm}: {error}')

    def _start(self) -> None:
        """Start the thread once the robots are known."""
        if len(self._models) < len(self._described):
            return
        settings, inertia = self._settings, None
        if leader := self._models.get('leader'):
            inertia = leader_inertia(leader, settings.joints_of_leader)
            inertia(leader.neutral_position[: len(settings.joints)])  # compile it now
        rules = follower_rules(self._models['follower'], settings.joints)
        self.loop.couple(Coupling(settings, rules, inertia))

    def _follow_up(self) -> None:
        """Log changes of the state."""
        summary = self._summary()
        if summary == self._logged:
            return
        self._logged = summary
        coupling = self.loop.coupling
        if coupling is not None and coupling.state is CouplingState.UNCOUPLED and coupling.ended:
            self.get_logger().warning(summary)
        else:
            self.get_logger().info(summary)

    def _summary(self) -> str:
        """Return the state of the coupling, and why the arms are not coupled."""
        coupling = self.loop.coupling
        if coupling is None:
            missing = [arm for arm in self._described if arm not in self._models]
            return f'uncoupled: no robot_description of {" and ".join(missing)}'
        if coupling.state is CouplingState.UNCOUPLED:
            return f'uncoupled: {coupling.reason.value}'
        return str(coupling.state.value)

    def _publish_diagnostics(self) -> None:
        summary, coupling = self._summary(), self.loop.coupling
        state, _, reason = summary.partition(': ')
        values: dict[str, object] = {
            'state': state, 'reason': reason, 'uncoupled': 0, 'limited': '', 'energy': 0.0,
            'damping': 0.0,
        }
        if coupling is not None:
            pairs = zip(self._settings.joints, coupling.setpoints.limited, strict=True)
            values['uncoupled'] = coupling.ended
            values['limited'] = ', '.join(joint for joint, limited in pairs if limited)
            values['energy'] = f'{coupling.feedback.energy:.3f}'
            values['damping'] = f'{coupling.feedback.damping:.1f}'
            for name, arm in zip(ARMS, (coupling.leader, coupling.follower), strict=True):
                for topic, counts in (
                    ('joint_states', arm.states.rejections), ('external_effort', arm.rejections)
                ):
                    for word, count in counts.items():
                        values[f'count/{name}/{topic}/{word.value}'] = count
        coupled = state == CouplingState.COUPLED.value
        level = DiagnosticStatus.OK if coupled else DiagnosticStatus.WARN
        self._diagnostics.publish(level, summary, values)


class ArmTopics:
    """The subscriptions of one arm; one without a node feedforward has positions only."""

    def __init__(self, node: Any, namespace: str, *, with_node: bool = True) -> None:
        def subscribe(topic: str, qos: QoSProfile) -> PolledSubscription[bytes]:
            name = in_namespace(namespace, topic)
            return PolledSubscription(node, JointState, name, qos, raw=True)

        self._states = subscribe('joint_states', JOINT_STATES)
        self._efforts = subscribe('feedforward/external_effort', NEWEST) if with_node else None
        self._read_states = FixedLayoutReader(JointStateSample.read)
        self._read_efforts = FixedLayoutReader(JointStateSample.read)

    def take_messages(self, arm: Arm, now: float, clock: float) -> None:
        """Pass the new messages on, at a monotonic time and a time of the stamps' clock, s."""
        states = self._states.take_all()
        efforts = self._efforts.take_all() if self._efforts else []
        for sample, stamp in self._read_states.samples(states, arm.states.reject):
            if self._efforts is None:
                sample = sample._replace(velocity=sample.velocity[:0])
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
        self._leader = ArmTopics(node, settings.leader, with_node=settings.leader_node)
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


def main(args: list[str] | None = None) -> int:
    """Run the node until a signal; return the exit code."""
    process = NodeProcess('teleoperation', ABOUT, described(PARAMETERS), args)
    node = process.create(Teleoperation)
    process.spin(node, running=lambda: node.loop.running)
    return finish(node.loop, node)


if __name__ == '__main__':
    sys.exit(main())
