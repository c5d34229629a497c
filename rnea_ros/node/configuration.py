# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What one configure makes: a robot, its settings, and the topics that the loop works on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from rosgraph_msgs.msg import Clock as ClockMessage
from sensor_msgs.msg import Imu, JointState

from .control_setup import ControlSetup
from .direct import DirectSubscription
from .inputs import Raw
from .publishers import Publishers

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
    :param command_topic: where the controller listens
    :param look: called when somebody begins or ceases to listen to commands
    :ivar setup: as given; replaced where parameters change while the node is active
    """

    def __init__(
        self, node: Any, setup: ControlSetup, command_topic: str, look: Callable[[], None]
    ) -> None:
        self.setup = setup
        values, settings = setup.values, setup.settings
        logger = node.get_logger()
        for warning in setup.warnings:
            logger.warning(warning)
        self.joint_states: Raw = DirectSubscription(
            node,
            JointState,
            'joint_states',
            JOINT_STATES,
            raw=True,
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
        )
        self.wrenches: dict[str, Raw] = {
            sensor.name: DirectSubscription(
                node, WrenchStamped, sensor.topic, SENSOR_DATA, raw=True
            )
            for sensor in settings.settings.wrench_inputs
        }
        self.imu: Raw | None = None
        if values['base_sensor.topic']:
            self.imu = DirectSubscription(
                node, Imu, values['base_sensor.topic'], SENSOR_DATA, raw=True
            )
        self.controller_state: Raw | None = None
        if setup.state_type is not None:
            topic = values['controller_state_topic']
            self.controller_state = DirectSubscription(
                node, setup.state_type, topic, NEWEST, raw=True
            )
        self.sim_clock: DirectSubscription[Any] | None = None
        if values['use_sim_time']:
            self.sim_clock = DirectSubscription(node, ClockMessage, '/clock', NEWEST)
        self.publishers = Publishers(
            node, command_topic, settings.joints, settings.settings.period, look
        )
        logger.info(
            f'{setup.model!r}: {values["mode"]} at {values["rate"]:g} Hz '
            f'on {command_topic} for {", ".join(settings.joints)}'
        )

    @property
    def inputs(self) -> list[DirectSubscription[Any]]:
        """What the loop reads."""
        there_perhaps = (self.imu, self.controller_state)
        others = [subscription for subscription in there_perhaps if subscription is not None]
        return [self.joint_states, *self.wrenches.values(), *others]

    def close(self) -> None:
        """Take the topics down."""
        for subscription in self.inputs:
            subscription.destroy()
        if self.sim_clock is not None:
            self.sim_clock.destroy()
        self.publishers.close()
