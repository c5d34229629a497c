# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Diagnostics and log: what the control does and why, in the words of its enumerations."""

from __future__ import annotations

from collections import Counter
import time
import traceback
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
import numpy as np
from numpy.typing import NDArray

from ...feedforward import FeedforwardController, Reason, State
from ...feedforward.inputs import JointStateMonitor
from ...feedforward.trajectory import ControllerStateMonitor
from ...ros import Clock, diagnostic_array
from ..command_topic import CommandTopicMonitor
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
    Watches one activation of the control from beside the loop.

    :param node: the node that logs and publishes
    :param controller: the control
    :param states: the joint states
    :param statistics: of the loop
    :param clock: the loop's time
    :param rate: the rate that is aimed at, Hz
    :param refusals: of other inputs than the loop's, counted by whoever takes them
    :param watch: of the command topic
    :param references: of a trajectory controller, None where none is followed
    """

    def __init__(
        self,
        node: Any,
        controller: FeedforwardController,
        states: JointStateMonitor,
        statistics: LoopStatistics,
        clock: Clock,
        rate: float,
        refusals: Counter[str],
        watch: CommandTopicMonitor,
        references: ControllerStateMonitor | None = None,
    ) -> None:
        self._node = node
        self._controller = controller
        self._states = states
        self._statistics = statistics
        self._clock = clock
        self._rate = rate
        self._refusals = refusals
        self._watch = watch
        self._references = references
        self._told_state: State | None = None
        self._told_counts: dict[str, int] = {}
        self._told_at = 0.0
        self._told_error = False
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 1)

    def close(self) -> None:
        """Take the publisher down."""
        self._node.destroy_publisher(self._publisher)

    def log_changes(self) -> None:
        """Log a change of state at once, refusals and flags at most once a second."""
        controller, logger = self._controller, self._node.get_logger()
        state = controller.state
        if state is State.DEGRADED:
            state = State.ACTIVE  # flags are told below, and may come and go
        if state is not self._told_state:
            why = '' if controller.reason is None else f' ({controller.reason.value})'
            if LEVELS[state] == DiagnosticStatus.ERROR and not controller.stop_requested:
                logger.error(f'{state.value}{why}')
            else:
                logger.info(f'{state.value}{why}{self._waiting_for()}')
            self._told_state = state
        if controller.error is not None and not self._told_error:
            self._told_error = True
            logger.error(''.join(traceback.format_exception(controller.error)))
        now = time.monotonic()
        if now - self._told_at >= 1.0:
            counts = self._counts()
            counts.pop(Reason.JOINT_STATES_LATE.value, None)  # a flag in diagnostics is enough
            if self._clock.simulated:
                # ros2_control stamps with a /clock that is late now and then.
                counts.pop(f'joint_states/{Reason.STAMP_NOT_NEWER.value}', None)
            news = {k: v for k, v in counts.items() if v > self._told_counts.get(k, 0)}
            if news:
                self._told_at = now
                self._told_counts = counts
                logger.warning(', '.join(f'{key}: {value}' for key, value in news.items()))
                if any(key.startswith('controller_state/') for key in news):
                    assert self._references is not None
                    logger.warning(f'controller_state refused: {self._references.complaint}')

    def publish(self) -> None:
        """Publish diagnostics."""
        controller, now = self._controller, self._clock.seen()
        report = self._statistics.report(now)
        level = LEVELS[controller.state]
        if level == DiagnosticStatus.OK and controller.flags:
            level = DiagnosticStatus.WARN
        reason = '' if controller.reason is None else controller.reason.value
        flags = sorted(flag.value for flag in controller.flags)
        values: dict[str, object] = {
            'state': controller.state.value,
            'reason': reason,
            'flags': ' '.join(flags),
            'mode': controller.mode.value,
            'target_rate': self._rate,
            'achieved_rate': f'{report.rate:.2f}',
            'late_ticks': report.late,
            'missed_ticks': report.missed,
            'unprompted_ticks': report.unprompted,
            'cpu_share': f'{report.cpu:.4f}',
            'speed_scaling': f'{controller.speed_scaling.factor:.3f}',
            'joint_states_age': f'{self._states.age(now):.4f}',
            'saturated_joints': self._joints(controller.saturated),
            'stale_wrenches': ' '.join(controller.environment.wrenches.stale),
            'overloaded_joints': self._joints(controller.overloaded),
            'effort_controller': self._watch.receiver,
            'other_publishers': ' '.join(self._watch.other_publishers),
        }
        for what, summary in (('lateness', report.lateness), ('compute', report.compute)):
            for name, value in zip(('p50', 'p99', 'max'), summary, strict=True):
                values[f'{what}_{name}_us'] = f'{1e6 * value:.1f}'
        if self._references is not None:
            values['controller_state_age'] = f'{self._references.age(now):.4f}'
            values['controller_state_speed'] = f'{self._references.speed:.3f}'
        values.update({f'count/{key}': count for key, count in self._counts().items()})
        summary_line = ' '.join([controller.state.value, reason, *flags]).strip()
        name = f'{self._node.get_fully_qualified_name()[1:]}: control'
        stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(diagnostic_array(stamp, name, level, summary_line, values))

    def _joints(self, which: NDArray[np.bool_]) -> str:
        joints = zip(self._controller.joints, which, strict=True)
        return ' '.join(name for name, does in joints if does)

    def _waiting_for(self) -> str:
        if self._controller.state is not State.WAITING:
            return ''
        missing = ', '.join(self._states.missing())
        return f' for a joint state of {missing}' if missing else ' for newer joint states'

    def _counts(self) -> dict[str, int]:
        counts = {f'joint_states/{k.value}': v for k, v in self._states.rejections.items()}
        refused = self._controller.environment.wrenches.rejections
        counts.update({f'wrenches/{k.value}': v for k, v in refused.items()})
        if self._controller.environment.base is not None:
            refused = self._controller.environment.base.rejections
            counts.update({f'base_sensor/{k.value}': v for k, v in refused.items()})
        if self._references is not None:
            refusals = self._references.refusals
            counts.update({f'controller_state/{word}': n for word, n in refusals.items()})
        if self._states.clock_steps:
            counts[f'joint_states/{Reason.CLOCK_STEP.value}'] = self._states.clock_steps
        for flags in (self._controller.flag_counts, self._watch.counts):
            counts.update({k.value: v for k, v in flags.items()})
        return counts | self._refusals
