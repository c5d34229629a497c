# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Diagnostics and log of the control: state, reason, flags, counts, timing."""

from __future__ import annotations

from collections import Counter
import time
import traceback
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus

from ...feedforward import CONTROLLING, FeedforwardController, JointStateMonitor, Reason, State
from ...feedforward.motion import ControllerStateMonitor
from ...ros import Clock, DiagnosticsPublisher
from ..command_topic import CommandTopicMonitor, OtherPublishers
from ..timing import LoopStatistics

LEVELS = {
    State.WAITING: DiagnosticStatus.WARN,
    State.READY: DiagnosticStatus.WARN,
    State.RAMPING: DiagnosticStatus.OK,
    State.ACTIVE: DiagnosticStatus.OK,
    State.DEGRADED: DiagnosticStatus.WARN,
    State.HOLDING: DiagnosticStatus.ERROR,
    State.RAMPING_DOWN: DiagnosticStatus.ERROR,
    State.STOPPED: DiagnosticStatus.OK,
    State.FAULT: DiagnosticStatus.ERROR,
}


class Reporter:
    """
    Reports on the control from activate to deactivate; for the node's executor.

    :param rejections: counts of rejected trajectories and speed scaling values
    """

    def __init__(
        self, node: Any, controller: FeedforwardController, states: JointStateMonitor,
        statistics: LoopStatistics, clock: Clock, rejections: Counter[str],
        command_topic: CommandTopicMonitor, references: ControllerStateMonitor | None = None,
    ) -> None:
        self._node = node
        self._controller = controller
        self._states = states
        self._statistics = statistics
        self._clock = clock
        self._rejections = rejections
        self._command_topic = command_topic
        self._references = references
        self._joint_state_publishers = OtherPublishers(node, 'joint_states')
        self._logged_state: State | None = None
        self._logged_stall = controller.snapshot.stall
        self._logged_counts: dict[str, int] = {}
        self._counts_logged_at = 0.0
        self._samples_before = (0, 0)
        self._last_stale_joints = ''
        self._error_logged = False
        self._time_before, self._stands_still = 0.0, False
        self._diagnostics = DiagnosticsPublisher(node, 'control')

    def close(self) -> None:
        """Destroy the publisher."""
        self._diagnostics.close()

    def log_changes(self) -> None:
        """Log a change of state at once, new rejections and flags at most once a second."""
        controller, logger = self._controller, self._node.get_logger()
        state = controller.state
        if state is State.DEGRADED:
            state = State.ACTIVE  # flags may come and go: they are logged below
        if state is not self._logged_state:
            why = '' if controller.reason is None else f' ({controller.reason.value})'
            if controller.reason is Reason.JOINT_STATES_CONTRADICT:
                self._joint_state_publishers.poll(time.monotonic())
                why += f': {self._joint_state_publishers.listing} publish them'
            if LEVELS[state] == DiagnosticStatus.ERROR and not controller.snapshot.stop_requested:
                logger.error(f'{state.value}{why}')
            else:
                logger.info(f'{state.value}{why}{self._waiting_for()}')
            self._logged_state = state
        if controller.snapshot.error is not None and not self._error_logged:
            self._error_logged = True
            logger.error(''.join(traceback.format_exception(controller.snapshot.error)))
        stall = controller.snapshot.stall
        if stall is not self._logged_stall:
            logger.warning(str(stall))
            self._logged_stall = stall
        if Reason.UNCOMMANDED_STALE in controller.flags:
            self._last_stale_joints = self._stale_joints() or self._last_stale_joints
        now = time.monotonic()
        if now - self._counts_logged_at >= 1.0:
            counts = self._counts()
            counts.pop(Reason.JOINT_STATES_LATE.value, None)  # a flag in diagnostics is enough
            if self._clock.simulated:
                # ros2_control sometimes stamps with an old /clock.
                counts.pop(f'joint_states/{Reason.STAMP_NOT_NEWER.value}', None)
            new = {k: v for k, v in counts.items() if v > self._logged_counts.get(k, 0)}
            if new:
                self._counts_logged_at = now
                self._logged_counts = counts
                text = ', '.join(f'{key}: {value}' for key, value in new.items())
                complaint = self._states.complaint
                if complaint and any(key.startswith('joint_states/') for key in new):
                    text = f'{text} ({complaint})'
                if Reason.UNCOMMANDED_STALE.value in new and self._last_stale_joints:
                    text = f'{text} (the last valid value counts: {self._last_stale_joints})'
                logger.warning(text)
                if Reason.CONTACT.value in new:
                    logger.warning(f'contact: {controller.snapshot.contact}')
                if any(key.startswith('controller_state/') for key in new):
                    assert self._references is not None
                    logger.warning(f'controller_state rejected: {self._references.complaint}')

    def _log_standstill(self, now: float) -> None:
        """Log a standstill of simulated time, once; a control that has ended logs its reason."""
        expected = self._clock.simulated and self._controller.state in CONTROLLING
        stands_still = expected and now == self._time_before
        if stands_still and not self._stands_still:
            self._node.get_logger().warning(
                f'/clock stands still at {now:.3f} s: the simulation is paused, or has ended'
            )
        self._time_before, self._stands_still = now, stands_still

    def publish(self) -> None:
        """Publish diagnostics; to be called once a second."""
        controller, now = self._controller, self._clock.latest()
        self._log_standstill(now)
        publishers = self._joint_state_publishers
        publishers.poll(time.monotonic())
        self._states.several_publishers = len(publishers.names) > 1 or bool(publishers.same_names)
        report = self._statistics.report(now)
        level, rejected = LEVELS[controller.state], self._rejected_mostly()
        if level == DiagnosticStatus.OK and controller.flags:
            level = DiagnosticStatus.WARN
        if rejected:
            level = DiagnosticStatus.ERROR
        reason = '' if controller.reason is None else controller.reason.value
        flags = sorted(flag.value for flag in controller.flags)
        external, references = controller.external_effort, self._references
        wrench = None if external is None else external.wrench
        speed = controller.speed_scaling.factor if references is None else references.speed
        values: dict[str, object] = {
            'state': controller.state.value,
            'reason': reason,
            'flags': ' '.join(flags),
            'mode': controller.law.name,
            'achieved_rate': f'{report.rate:.2f}',
            'late_ticks': report.late,
            'missed_ticks': report.missed,
            'untriggered_ticks': report.untriggered,
            'cpu_share': f'{report.cpu:.4f}',
            'speed_scaling': f'{speed:.3f}',
            'joint_states_age': f'{self._states.age(now, controller.settings.joint_indices):.4f}',
            'joint_states_rejected': rejected,
            'stale_joints': self._stale_joints(),
            'joint_state_publishers': self._joint_state_publishers.listing,
            'saturated_joints': self._joints(controller.snapshot.saturated),
            'stale_wrenches': ' '.join(controller.wrenches.stale),
            'overloaded_joints': self._joints(controller.snapshot.overloaded),
            'contact': str(controller.snapshot.contact) if Reason.CONTACT.value in flags else '',
            'external_wrench_determined': str(wrench.determined) if wrench else '',
            'effort_controller': self._command_topic.controller_status,
            'other_publishers': ' '.join(self._command_topic.others.names),
        }
        for what, summary in (('lateness', report.lateness), ('compute', report.compute)):
            for name, value in zip(('p99', 'max'), summary, strict=True):
                values[f'{what}_{name}_us'] = f'{1e6 * value:.1f}'
        if references is not None:
            values['controller_state_age'] = f'{references.age(now):.4f}'
        sensors = controller.wrenches.sensors
        values.update({f'tare/{name}': each.tare.summary(now) for name, each in sensors.items()})
        counts = self._counts() | {k.value: v for k, v in controller.snapshot.returns.items()}
        values.update({f'count/{key}': count for key, count in counts.items()})
        summary_line = ' '.join([controller.state.value, reason, *flags]).strip()
        self._diagnostics.publish(level, summary_line, values)

    def _joints(self, mask: tuple[bool, ...]) -> str:
        joints = zip(self._controller.joints, mask, strict=True)
        return ' '.join(name for name, selected in joints if selected)

    def _rejected_mostly(self) -> str:
        """Return why most joint states of the last second were rejected; else empty."""
        before, states = self._samples_before, self._states
        now = self._samples_before = (states.accepted, states.rejections.total())
        accepted, rejected = now[0] - before[0], now[1] - before[1]
        return states.complaint if rejected > accepted else ''

    def _stale_joints(self) -> str:
        """Return in words why the values of uncommanded joints are old; empty if none are."""
        timeout = self._controller.settings.joint_states_timeout
        stale = self._states.stale_joints(self._clock.latest(), timeout)
        return '; '.join(stale.values())

    def _waiting_for(self) -> str:
        if self._controller.state is not State.WAITING:
            return ''
        if self._clock.simulated and not self._clock.latest():
            return ' for /clock: use_sim_time is true, and nothing publishes it'
        if self._states.contested:
            return f': {self._joint_state_publishers.listing} contradict each other'
        missing = ', '.join(self._states.missing())
        why = f'; rejected: {self._states.complaint}' if self._states.complaint else ''
        return (f' for a joint state of {missing}' if missing else ' for newer joint states') + why

    def _counts(self) -> dict[str, int]:
        controller, base = self._controller, self._controller.base
        rejections_by_source = {
            'joint_states': self._states.rejections,
            'wrenches': controller.wrenches.rejections,
            'base_sensor': {} if base is None else base.imu.rejections,
            'additional_effort': controller.additional_effort.rejections,
        }
        counts = {
            f'{source}/{reason.value}': number
            for source, rejections in rejections_by_source.items()
            for reason, number in rejections.items()
        }
        if self._references is not None:
            rejected = self._references.rejections
            counts.update({f'controller_state/{word}': n for word, n in rejected.items()})
        if controller.snapshot.contact is not None:
            counts[Reason.CONTACT.value] = controller.snapshot.contact.number
        if self._states.clock_steps:
            counts[f'joint_states/{Reason.CLOCK_STEP.value}'] = self._states.clock_steps
        for flags in (controller.snapshot.flag_counts, self._command_topic.counts):
            counts.update({k.value: v for k, v in flags.items()})
        return counts | self._rejections
