# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What lives from activate to deactivate: the control in its loop, reports, requested motions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
import gc
import time
from typing import Any

from trajectory_msgs.msg import JointTrajectory

from ..feedforward import CONTROLLING, Reason
from ..feedforward.settings import Trigger
from ..messages import load_decoder
from ..ros import PeriodicSchedule
from .command_topic import CommandTopic
from .configuration import Configuration
from .inputs import Control, WatchdogEfforts, subscribe_speed_scaling, subscribe_target_pose
from .loop import ControlLoop, JointStateTrigger
from .motion_requests import MotionRequests
from .reporter import Reporter
from .rest_motion import RestMotion
from .timing import reserve_memory

STOP_MARGIN = 5.0  # additional time after the longest ramp-down, after which the loop is ended, s


class Activation:
    """
    Runs the control from activate to deactivate; if a part fails, destroys those before it.

    :ivar controller: the control
    :ivar motions: judges requested motions
    :ivar rest: moves the arm to the rest pose
    """

    def __init__(
        self, node: Any, configuration: Configuration, command_topic: CommandTopic
    ) -> None:
        self._node, self._command_topic = node, command_topic
        self._publishers = configuration.publishers
        control, setup = Control(configuration), configuration.setup
        self.controller = controller = control.controller
        self.rest = RestMotion(node, configuration, control)
        self._loop = self._make_loop(control, configuration)
        with ExitStack() as resources:
            command_topic.begin(
                controller, self._publishers.command_publisher, joints_given=setup.joints_given,
                now=time.monotonic(),
            )
            resources.callback(command_topic.end)
            rejections: Counter[str] = Counter()
            self._reporter = Reporter(node, control, self._loop, command_topic, rejections)
            resources.callback(self._reporter.close)
            reserve_memory()
            load_decoder()
            self.motions = MotionRequests(
                node, configuration, controller, control.clock, rejections
            )
            trajectories = node.create_subscription(
                JointTrajectory, '~/joint_trajectory', self.motions.on_message, 10, raw=True
            )
            resources.callback(node.destroy_subscription, trajectories)
            subscribe_speed_scaling(
                node, resources, setup.parameters.reference, controller.speed_scaling, rejections
            )
            subscribe_target_pose(node, resources, configuration, control, rejections)
            self.poll()
            self._loop.start()
            self._resources = resources.pop_all()

    def _make_loop(self, control: Control, configuration: Configuration) -> ControlLoop:
        setup, inputs, clock = configuration.setup, control.inputs, control.clock
        watchdog = WatchdogEfforts(configuration.watchdog, setup.settings.units.command_scale)
        control.controller.acting_effort.watchdog_effort = watchdog.newest
        readers = [*inputs.message_readers, watchdog.read_messages]
        schedule: PeriodicSchedule | JointStateTrigger
        if setup.parameters.robot.trigger is Trigger.TIMER:
            readers.insert(0, inputs.read_joint_states)
            schedule = PeriodicSchedule(setup.settings.period, clock.now, clock.sleep)
        else:
            schedule = JointStateTrigger(
                control.states, setup.settings.joint_indices, configuration.joint_states.wait,
                inputs.read_joint_states, setup.settings.period, clock,
            )
        return ControlLoop(
            control.controller, readers, self._publishers, self._command_topic, clock, schedule,
            setup.parameters.realtime,
        )

    def deactivate(self, signals: Callable[[], int] | None) -> None:
        """
        Move to the rest pose, ramp down by stale_action, end the loop, destroy all parts; blocks.

        :param signals: number of signals of the process; None to ramp down at once
        """
        with self._resources:
            if signals is not None:
                self.rest.approach(signals, self.poll, self.report)
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
        """Check loop and command topic, log changes; to be called ten times a second."""
        self._loop.supervise()
        self._publishers.poll_subscribers()
        self.controller.publish_external_effort(self._publishers.external_effort_subscribed)
        self._reporter.log_changes()
        self._command_topic.poll(time.monotonic())

    def report(self) -> None:
        """Publish diagnostics and collect garbage; to be called once a second."""
        while self._loop.warnings:
            self._node.get_logger().warning(self._loop.warnings.pop())
        self._reporter.publish()
        gc.collect()  # off in the loop's thread: see ManualGarbageCollection
