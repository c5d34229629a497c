# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Diagnostics and log of the control: state, reason, flags, counts, timing."""

from __future__ import annotations

from collections import Counter
import time
import traceback
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus

from ..feedforward import CONTROLLING, Reason, Snapshot, State
from ..ros import DiagnosticsPublisher, OtherPublishers
from .command_topic import CommandTopic
from .inputs import Control
from .loop import ControlLoop

LEVELS = {
    **dict.fromkeys((State.RAMPING, State.ACTIVE, State.STOPPED), DiagnosticStatus.OK),
    **dict.fromkeys((State.WAITING, State.READY, State.DEGRADED), DiagnosticStatus.WARN),
    **dict.fromkeys((State.HOLDING, State.RAMPING_DOWN, State.FAULT), DiagnosticStatus.ERROR),
}


class Reporter:
    """Reports on the control; ``rejections``: of trajectories and speed scaling values."""

    def __init__(
        self, node: Any, control: Control, loop: ControlLoop, command_topic: CommandTopic,
        rejections: Counter[str],
    ) -> None:
        self._logger, self._clock = node.get_logger(), control.clock
        self._controller, self._states = control.controller, control.states
        self._references, self._rejections = control.references, rejections
        self._loop, self._command_topic = loop, command_topic
        self._publishers = OtherPublishers(node, 'joint_states')
        self._logged_state: State | None = None
        self._logged_error: BaseException | None = None
        self._logged_stall = self._controller.snapshot.stall
        self._logged_counts: dict[str, int] = {}
        self._counts_logged_at, self._samples_before, self._last_stale_joints = 0.0, (0, 0), ''
        self._time_before, self._stands_still = 0.0, False
        self._diagnostics = DiagnosticsPublisher(node, 'control')
        self.close = self._diagnostics.close

    def log_changes(self) -> None:
        """Log a change of state at once, new rejections and flags at most once a second."""
        snapshot = self._controller.snapshot
        self._log_state(snapshot)
        if snapshot.error is not self._logged_error:
            self._logged_error = snapshot.error
            self._logger.error(''.join(traceback.format_exception(snapshot.error)))
        if snapshot.stall is not self._logged_stall:
            self._logged_stall = snapshot.stall
            self._logger.warning(str(self._logged_stall))
        if Reason.UNCOMMANDED_STALE in snapshot.flags:
            self._last_stale_joints = self._stale_joints() or self._last_stale_joints
        if time.monotonic() - self._counts_logged_at >= 1.0:
            self._log_counts(snapshot)

    def _log_state(self, snapshot: Snapshot) -> None:
        state, reason = snapshot.state, snapshot.reason
        if state is State.DEGRADED:
            state = State.ACTIVE  # flags may come and go: they are logged with the counts
        if state is self._logged_state:
            return
        self._logged_state = state
        text = state.value if reason is None else f'{state.value} ({reason.value})'
        if reason is Reason.JOINT_STATES_CONTRADICT:
            self._publishers.poll(time.monotonic())
            text = f'{text}: {self._publishers.listing} publish them'
        if LEVELS[state] == DiagnosticStatus.ERROR and not snapshot.stop_requested:
            self._logger.error(text)
        else:
            self._logger.info(text + (self._waiting_for() if state is State.WAITING else ''))

    def _waiting_for(self) -> str:
        if self._clock.simulated and not self._clock.latest():
            return ' for /clock: use_sim_time is true, and nothing publishes it'
        if self._states.contested:
            return f': {self._publishers.listing} contradict each other'
        missing, complaint = ', '.join(self._states.missing()), self._states.complaint
        what = f'a joint state of {missing}' if missing else 'newer joint states'
        return f' for {what}; rejected: {complaint}' if complaint else f' for {what}'

    def _log_counts(self, snapshot: Snapshot) -> None:
        """Log the counts that have grown; what is counted in normal operation is not logged."""
        counts = self._counts(snapshot)
        counts.pop(Reason.JOINT_STATES_LATE.value, None)  # a flag in diagnostics is enough
        if self._clock.simulated:  # ros2_control sometimes stamps with an old /clock
            counts.pop(f'joint_states/{Reason.STAMP_NOT_NEWER.value}', None)
        new = {k: n for k, n in counts.items() if n > self._logged_counts.get(k, 0)}
        if not new:
            return
        self._counts_logged_at, self._logged_counts = time.monotonic(), counts
        sources = {key.partition('/')[0] for key in new}
        text = ', '.join(f'{key}: {number}' for key, number in new.items())
        if 'joint_states' in sources and self._states.complaint:
            text = f'{text} ({self._states.complaint})'
        if Reason.UNCOMMANDED_STALE.value in new and self._last_stale_joints:
            text = f'{text} (the last valid value counts: {self._last_stale_joints})'
        self._logger.warning(text)
        if Reason.CONTACT.value in new:
            self._logger.warning(f'contact: {snapshot.contact}')
        if 'controller_state' in sources and self._references is not None:
            self._logger.warning(f'controller_state rejected: {self._references.complaint}')

    def publish(self) -> None:
        """Publish diagnostics; to be called once a second."""
        snapshot, now = self._controller.snapshot, self._clock.latest()
        self._log_standstill(now)
        publishers = self._publishers
        publishers.poll(time.monotonic())
        self._states.several_publishers = len(publishers.names) > 1 or bool(publishers.same_names)
        state, flags = snapshot.state, sorted(flag.value for flag in snapshot.flags)
        reason = '' if snapshot.reason is None else snapshot.reason.value
        level, rejected = LEVELS[state], self._rejected_mostly()
        if rejected:
            level = DiagnosticStatus.ERROR
        elif level == DiagnosticStatus.OK and flags:
            level = DiagnosticStatus.WARN
        summary = [state.value, reason, *flags]
        values = {
            'state': state.value, 'reason': reason, 'flags': ' '.join(flags),
            **self._values(snapshot, now, rejected),
        }
        counts = self._counts(snapshot) | {k.value: n for k, n in snapshot.returns.items()}
        values.update({f'count/{key}': number for key, number in counts.items()})
        self._diagnostics.publish(level, ' '.join(summary).strip(), values)

    def _values(self, snapshot: Snapshot, now: float, rejected: str) -> dict[str, object]:
        """Return the diagnostics of inputs, timing and command, as text by key."""
        controller, states, references = self._controller, self._states, self._references
        commanded, wrenches = controller.settings.joint_indices, controller.wrenches
        timing, external = self._loop.statistics.report(now), controller.external_effort
        wrench = None if external is None else external.wrench
        speed = controller.speed_scaling.factor if references is None else references.speed
        values: dict[str, object] = {
            'mode': controller.law.name,
            'achieved_rate': f'{timing.rate:.2f}',
            'late_ticks': timing.late,
            'missed_ticks': self._loop.schedule.missed,
            'untriggered_ticks': self._loop.schedule.untriggered,
            'cpu_share': f'{timing.cpu:.4f}',
            'speed_scaling': f'{speed:.3f}',
            'joint_states_age': f'{states.age(now, commanded):.4f}',
            'joint_states_rejected': rejected,
            'stale_joints': self._stale_joints(),
            'joint_state_publishers': self._publishers.listing,
            'saturated_joints': self._joints(snapshot.saturated),
            'stale_wrenches': ' '.join(wrenches.stale),
            'overloaded_joints': self._joints(snapshot.overloaded),
            'contact': str(snapshot.contact) if Reason.CONTACT in snapshot.flags else '',
            'external_wrench_determined': str(wrench.determined) if wrench else '',
            'effort_controller': self._command_topic.controller_status,
            'other_publishers': ' '.join(self._command_topic.others.names),
        }
        for what, summary in (('lateness', timing.lateness), ('compute', timing.compute)):
            for name, value in zip(('p99', 'max'), summary, strict=True):
                values[f'{what}_{name}_us'] = f'{1e6 * value:.1f}'
        if references is not None:
            values['controller_state_age'] = f'{references.age(now):.4f}'
        for name, sensor in wrenches.sensors.items():
            values[f'tare/{name}'] = sensor.tare.summary(now)
        return values

    def _counts(self, snapshot: Snapshot) -> dict[str, int]:
        """Return how often inputs were rejected, by source and reason, and flags raised."""
        controller, base = self._controller, self._controller.base
        rejections = {
            'joint_states': self._states.rejections,
            'wrenches': controller.wrenches.rejections,
            'base_sensor': {} if base is None else base.imu.rejections,
            'additional_effort': controller.additional_effort.rejections,
        }
        counts = {
            f'{source}/{reason.value}': number
            for source, numbers in rejections.items()
            for reason, number in numbers.items()
        }
        if self._references is not None:
            rejected = self._references.rejections
            counts.update({f'controller_state/{word}': n for word, n in rejected.items()})
        if snapshot.contact is not None:
            counts[Reason.CONTACT.value] = snapshot.contact.number
        if self._states.clock_steps:
            counts[f'joint_states/{Reason.CLOCK_STEP.value}'] = self._states.clock_steps
        for flags in (snapshot.flag_counts, self._command_topic.counts):
            counts.update({k.value: n for k, n in flags.items()})
        return counts | self._rejections

    def _rejected_mostly(self) -> str:
        """Return why most joint states of the last second were rejected; else empty."""
        before, states = self._samples_before, self._states
        now = self._samples_before = (states.accepted, states.rejections.total())
        accepted, rejected = now[0] - before[0], now[1] - before[1]
        return states.complaint if rejected > accepted else ''

    def _stale_joints(self) -> str:
        """Return in words why the values of uncommanded joints are old; empty if none are."""
        timeout = self._controller.settings.joint_states_timeout
        return '; '.join(self._states.stale_joints(self._clock.latest(), timeout).values())

    def _joints(self, mask: tuple[bool, ...]) -> str:
        joints = zip(self._controller.joints, mask, strict=True)
        return ' '.join(name for name, selected in joints if selected)

    def _log_standstill(self, now: float) -> None:
        """Log a standstill of simulated time, once; a control that has ended logs its reason."""
        expected = self._clock.simulated and self._controller.state in CONTROLLING
        stands_still = expected and now == self._time_before
        if stands_still and not self._stands_still:
            self._logger.warning(
                f'/clock stands still at {now:.3f} s: the simulation is paused, or has ended'
            )
        self._time_before, self._stands_still = now, stands_still
