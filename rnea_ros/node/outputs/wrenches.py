# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""External wrenches of force-torque sensors and external efforts, while they have subscribers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState

from ...feedforward.contact import ExternalEffortMonitor
from ...feedforward.wrench import WrenchInputs
from .messages import EffortMessage, OptionalPublishers, WrenchMessage


class WrenchPublishers(OptionalPublishers):
    """Publishes the sensors' external wrenches on ``~/wrench/<sensor>``, one message per tick."""

    def __init__(self, node: Any, sensors: Iterable[str]) -> None:
        super().__init__(node, {name: (WrenchStamped, f'~/wrench/{name}') for name in sensors})
        self._messages: dict[str, WrenchMessage] = {}

    def send(self, wrenches: WrenchInputs, now: float, stamp: float) -> None:
        """Publish this tick's wrenches; none for a sensor without current readings."""
        for name in self.subscribed:
            measured = wrenches.external_wrench(name, now)
            if measured is None:
                continue
            frame, wrench = measured
            message = self._messages.get(name)
            if message is None or message.frame != frame:
                message = self._messages[name] = WrenchMessage(frame)
            message.fill(wrench, stamp)
            self.publish(name, message)


class ExternalEffortPublishers(OptionalPublishers):
    """Publishes ``~/external_effort``, and ``~/external_wrench`` if a link is given."""

    def __init__(self, node: Any, joints: tuple[str, ...], link: str) -> None:
        topics: dict[str, tuple[Any, str]] = {'effort': (JointState, '~/external_effort')}
        if link:
            topics['wrench'] = (WrenchStamped, '~/external_wrench')
        super().__init__(node, topics)
        self._effort = EffortMessage(joints)
        self._wrench = WrenchMessage(link)

    def send(self, external: ExternalEffortMonitor | None, stamp: float) -> None:
        """Publish the external efforts, if there are any, to topics with subscribers."""
        if external is None:
            return
        if 'effort' in self.subscribed:
            self._effort.fill(external.effort, stamp)
            self.publish('effort', self._effort)
        if 'wrench' in self.subscribed:
            wrench = external.wrench_at_link()
            if wrench is not None:
                self._wrench.fill(wrench, stamp)
                self.publish('wrench', self._wrench)
