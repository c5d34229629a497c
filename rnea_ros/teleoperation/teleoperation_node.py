# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The node ``teleoperation``: a leader arm moves a follower arm and feels its contacts.

Both arms have a node ``feedforward``. Joint states of the leader become set-points of the
follower; external efforts of the follower become additional efforts of the leader. If this
process is killed, the follower holds its last set-point, and the efforts on the leader fade.
"""

from __future__ import annotations

import sys

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.node import Node
from std_msgs.msg import String

from ..errors import RneaError
from ..parameters import described
from ..robot import RobotModel
from ..ros import (
    LATCHED,
    MACHINE_TIME,
    DiagnosticsPublisher,
    NodeProcess,
    check_topic,
    finish,
    read_settings,
)
from ..urdf import read_urdf
from .arm import follower_rules, leader_inertia
from .coupling import Coupling, CouplingState
from .loop import TeleoperationLoop, in_namespace
from .settings import PARAMETERS, TeleoperationSettings

ABOUT = """\
The node 'teleoperation': a leader arm moves a follower arm and feels its contacts. Both arms have
a node 'feedforward'."""

ARMS = ('leader', 'follower')


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
        self._logged = ''
        for arm in ARMS:
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
        """Start the thread once both robots are known."""
        if len(self._models) < len(ARMS):
            return
        leader, follower = (self._models[arm] for arm in ARMS)
        settings = self._settings
        inertia = leader_inertia(leader, settings.joints_of_leader)
        inertia(leader.neutral_position[: len(settings.joints)])  # compile it now
        self.loop.couple(Coupling(settings, follower_rules(follower, settings.joints), inertia))

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
            missing = [arm for arm in ARMS if arm not in self._models]
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


def main(args: list[str] | None = None) -> int:
    """Run the node until a signal; return the exit code."""
    process = NodeProcess('teleoperation', ABOUT, described(PARAMETERS), args)
    node = process.create(Teleoperation)
    process.spin(node, running=lambda: node.loop.running)
    return finish(node.loop, node)


if __name__ == '__main__':
    sys.exit(main())
