# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What one configure makes: the topics that the loop works on."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from rosgraph_msgs.msg import Clock as ClockMessage
from sensor_msgs.msg import Imu, JointState

from ..ros import PolledSubscription
from .control_setup import ControlSetup
from .inputs import Raw
from .outputs import Publishers

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
SENSOR_DATA = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)

JOINT_STATES = QoSProfile(depth=16, reliability=ReliabilityPolicy.BEST_EFFORT)
"""
Room for what several publishers send between two ticks.

With room for one, whoever sends last in a tick would push out the joints of the others.
"""


class Configuration:
    """
    Holds from configure to cleanup.

    :param node: the node
    :param setup: the robot and the settings
    :param command_topic: full name of the topic on which the controller listens
    :raises Exception: whatever went wrong; nothing is left behind then
    :ivar setup: as given; replaced where parameters change while the node is active
    """

    def __init__(self, node: Any, setup: ControlSetup, command_topic: str) -> None:
        self.setup = setup
        logger = node.get_logger()
        for warning in setup.warnings:
            logger.warning(warning)
        joints = setup.settings.joints
        with ExitStack() as resources:
            self._subscribe(node, resources)
            self.publishers = Publishers(
                node, command_topic, joints, setup.settings.settings.period
            )
            resources.callback(self.publishers.close)
            self._resources = resources.pop_all()
        logger.info(
            f'{setup.model!r}: {setup.values["mode"]} at {setup.values["rate"]:g} Hz '
            f'on {command_topic} for {", ".join(joints)}'
        )

    def _subscribe(self, node: Any, resources: ExitStack) -> None:
        def subscribe(kind: Any, topic: str, qos: QoSProfile, **options: Any) -> Any:
            subscription: Any = PolledSubscription(node, kind, topic, qos, **options)
            resources.callback(subscription.destroy)
            return subscription

        values = self.setup.values
        self.joint_states: Raw = subscribe(
            JointState,
            'joint_states',
            JOINT_STATES,
            raw=True,
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
        )
        self.wrenches: dict[str, Raw] = {
            sensor.name: subscribe(WrenchStamped, sensor.topic, SENSOR_DATA, raw=True)
            for sensor in self.setup.settings.settings.wrench_inputs
        }
        self.imu: Raw | None = None
        if values['base_sensor.topic']:
            self.imu = subscribe(Imu, values['base_sensor.topic'], SENSOR_DATA, raw=True)
        self.controller_state: Raw | None = None
        if self.setup.state_type is not None:
            topic = values['controller_state_topic']
            self.controller_state = subscribe(self.setup.state_type, topic, NEWEST, raw=True)
        self.sim_clock: PolledSubscription[Any] | None = None
        if values['use_sim_time']:
            self.sim_clock = subscribe(ClockMessage, '/clock', NEWEST)

    @property
    def inputs(self) -> list[PolledSubscription[Any]]:
        """What the loop reads."""
        there_perhaps = (self.imu, self.controller_state)
        others = [subscription for subscription in there_perhaps if subscription is not None]
        return [self.joint_states, *self.wrenches.values(), *others]

    def close(self) -> None:
        """Take the topics down."""
        self._resources.close()
