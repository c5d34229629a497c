# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The objects that exist from activate to deactivate: control, loop, monitors, subscriptions."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
import gc
import time
from typing import Any

from trajectory_msgs.msg import JointTrajectory

from ..feedforward import CONTROLLING, Reason
from ..feedforward.motion import ControllerStateMonitor
from ..feedforward.settings import Trigger
from ..messages import load_decoder
from ..ros import PeriodicSchedule
from .command_topic import (
    CommandPermission,
    CommandTopicMonitor,
    ControllerJoints,
    OtherPublishers,
)
from .configuration import Configuration
from .control import Control
from .inputs import (
    AdditionalEffortTopic,
    ControllerStateInput,
    WatchdogEfforts,
    subscribe_speed_scaling,
)
from .joint_state_trigger import JointStateTrigger
from .loop import ControlLoop, Schedule
from .motion_requests import MotionRequests
from .outputs import Reporter
from .timing import reserve_memory

STOP_MARGIN = 5.0  # additional time after the longest ramp-down, after which the loop is ended, s


class Activation:
    """
    Runs the control from activate to deactivate; if a part fails, destroys those before it.

    :ivar controller: the control
    :ivar motions: judges requested motions
    """

    def __init__(
        self, node: Any, configuration: Configuration, controller_joints: ControllerJoints,
        other_publishers: OtherPublishers,
    ) -> None:
        self._node = node
        self._configuration = configuration
        with ExitStack() as resources:
            self._start(resources, controller_joints, other_publishers)
            self._resources = resources.pop_all()

    def _start(
        self, resources: ExitStack, controller_joints: ControllerJoints,
        other_publishers: OtherPublishers,
    ) -> None:
        node, configuration, setup = self._node, self._configuration, self._configuration.setup
        settings = setup.settings
        control = Control(configuration)
        states, clock, inputs = control.states, control.clock, control.inputs
        controller = self.controller = control.controller
        takes = list(inputs.take_others)
        references: ControllerStateMonitor | None = None
        if configuration.controller_state is not None:
            references = ControllerStateMonitor(setup.rules, controller.speed_scaling)
            source = ControllerStateInput(
                configuration.controller_state, references, controller, clock
            )
            takes.append(source.take_messages)
        additional = AdditionalEffortTopic(
            lambda: configuration.additional_effort, controller.additional_effort, clock
        )
        watchdog = WatchdogEfforts(configuration.watchdog, settings)
        takes += [additional.take_messages, watchdog.take_messages]
        controller.acting_effort.watchdog_effort = watchdog.newest
        schedule: Schedule
        period = settings.period
        if setup.parameters.robot.trigger is Trigger.TIMER:
            takes.insert(0, inputs.take_joint_states)
            schedule = PeriodicSchedule(period, clock.now, clock.sleep)
        else:
            schedule = JointStateTrigger(
                states, settings.joint_indices, configuration.joint_states.wait,
                inputs.take_joint_states, period, clock,
            )
        permission = CommandPermission(
            node, configuration.publishers.command_publisher, controller_joints,
            joints_given=setup.joints_given,
        )
        self._loop = ControlLoop(
            controller, takes, configuration.publishers, permission,
            period, clock, schedule, setup.parameters.realtime,
        )
        self._command_topic = CommandTopicMonitor(
            node, controller, controller_joints, permission, other_publishers,
            time.monotonic(), joints_given=setup.joints_given,
        )
        rejections: Counter[str] = Counter()
        self._reporter = Reporter(
            node, controller, states, self._loop.statistics, clock, rejections,
            self._command_topic, references,
        )
        resources.callback(self._reporter.close)
        reserve_memory()
        load_decoder()
        self.motions = MotionRequests(node, configuration, controller, clock, rejections)
        trajectories = node.create_subscription(
            JointTrajectory, '~/joint_trajectory', self.motions.on_message, 10, raw=True
        )
        resources.callback(node.destroy_subscription, trajectories)
        subscribe_speed_scaling(
            node, resources, setup.parameters.reference, controller.speed_scaling, rejections
        )
        self.poll()
        self._loop.start()

    def deactivate(self) -> None:
        """
        Ramp down according to stale_action, end the loop, and destroy all parts; blocks.

        :meth:`.ControlTick.stop` changes the state, :class:`.RampDown` computes the commands, and
        :class:`.LastCommand` ends the loop after the last one.
        """
        with self._resources:
            self.controller.request_stop()
            # Poll during the ramp-down: a controller that restarts must be confirmed before the
            # last commands are sent to it.
            why = self._loop.join(
                self.controller.settings.greatest_stop_time + STOP_MARGIN, self.poll
            )
            if why:
                self._node.get_logger().warning(f'the control ramped down without its loop: {why}')
            self._reporter.log_changes()
            self._reporter.publish()

    @property
    def lost_to_other_publisher(self) -> bool:
        """Whether another publisher has ended the control."""
        controller = self.controller
        ended = controller.state not in CONTROLLING
        return ended and controller.reason is Reason.SECOND_PUBLISHER

    def poll(self) -> None:
        """Log changes and check the command topic; to be called ten times a second."""
        self.controller.publish_external_effort(
            bool(self._configuration.publishers.external_effort.subscribed)
        )
        self._reporter.log_changes()
        self._command_topic.poll(time.monotonic())

    def report(self) -> None:
        """Publish diagnostics and collect garbage; to be called once a second."""
        while self._loop.warnings:
            self._node.get_logger().warning(self._loop.warnings.pop())
        self._reporter.publish()
        gc.collect()  # off in the loop's thread: see ManualGarbageCollection
