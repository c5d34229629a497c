# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Log of the control: every change of state, rejections once a second, an error once."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward import Reason, State
from rnea_ros.feedforward.law import ControlLaw
from support.control.control_rig import PANDA_POSE, Rig, panda_arm
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticStatus

from rnea_ros.node.outputs import Reporter
from rnea_ros.node.outputs import reporter as module
from rnea_ros.node.timing import LoopStatistics


class Node:
    """A node that keeps what it logs and publishes."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        self.published: list[Any] = []

    def get_logger(self) -> SimpleNamespace:
        return SimpleNamespace(**{
            level: lambda text, level=level: self.lines.append((level, text))
            for level in ('info', 'warning', 'error')
        })

    def create_publisher(self, *_: Any) -> SimpleNamespace:
        return SimpleNamespace(publish=self.published.append)

    def get_fully_qualified_name(self) -> str:
        return '/feedforward'

    def resolve_topic_name(self, topic: str) -> str:
        return f'/{topic}'

    def get_publishers_info_by_topic(self, topic: str) -> list[SimpleNamespace]:
        assert topic == '/joint_states'
        return [
            SimpleNamespace(endpoint_gid=[n], node_namespace='/', node_name='robot')
            for n in range(2)
        ]

    def get_clock(self) -> Any:
        return SimpleNamespace(now=lambda: SimpleNamespace(to_msg=Time))


class Bench:
    """A Franka arm under control, and the reporter that watches it at the rig's time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rig = Rig(panda_arm(), q=PANDA_POSE, ramp_duration=0.01, hold_duration=0.01)
        self.rig.activate()
        self.node = Node()
        self.rejections: Counter[str] = Counter()
        time = SimpleNamespace(monotonic=lambda: self.rig.now)
        monkeypatch.setattr(module, 'time', time)
        self.clock = SimpleNamespace(latest=lambda: self.rig.now, simulated=False)
        command_topic = SimpleNamespace(
            counts=Counter(), controller_status='confirmed', others=SimpleNamespace(names=())
        )
        parts: Any = (
            self.node, self.rig.controller, self.rig.states,
            LoopStatistics(self.rig.period, self.rig.now),
            self.clock, self.rejections, command_topic,
        )
        self.reporter = Reporter(*parts)
        self.reporter.log_changes()

    def lines(self, level: str) -> list[str]:
        """Return what was logged at a level."""
        return [text for at, text in self.node.lines if at == level]

    def diagnostics(self) -> tuple[bytes, dict[str, str]]:
        """Return the level and the values of diagnostics now."""
        self.reporter.publish()
        (status,) = self.node.published[-1].status
        return status.level, {value.key: value.value for value in status.values}


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


def test_an_error_is_logged_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def effort(*_: Any) -> None:
        raise RuntimeError('no effort today')

    monkeypatch.setattr(ControlLaw, 'effort', effort)
    for _ in range(200):
        bench.rig.tick()
        bench.reporter.log_changes()
    assert bench.rig.state() is State.FAULT
    (error,) = [text for text in bench.lines('error') if 'Traceback' in text]
    assert 'RuntimeError: no effort today' in error


def test_a_return_after_a_stall_is_logged_once_and_counted(bench: Bench) -> None:
    for _ in range(2):
        bench.rig.now += 0.105
        bench.rig.tick()
        bench.rig.activate()
        for _ in range(5):
            bench.reporter.log_changes()
    first, second = bench.lines('warning')
    assert first == second
    assert first.startswith('no tick of the loop for 0.1')
    assert bench.diagnostics()[1]['count/tick_blocked'] == '2'


def test_what_ends_the_control_is_logged_as_an_error_with_its_reason(bench: Bench) -> None:
    for _ in range(200):
        bench.rig.tick(feed=False)
        bench.reporter.log_changes()
    assert bench.lines('error') == [
        'holding (joint_states_stale)', 'ramping_down (joint_states_stale)',
        'fault (joint_states_stale)',
    ]
    level, values = bench.diagnostics()
    assert level == DiagnosticStatus.ERROR
    assert (values['state'], values['reason']) == ('fault', 'joint_states_stale')


def test_rejections_are_logged_at_most_once_a_second_and_all_counted(bench: Bench) -> None:
    began = bench.rig.now
    for _ in range(3500):
        bench.rig.tick()
        bench.rig.feed(q=np.full(7, np.nan), stamp=0.0)
        bench.rejections['joint_trajectory/start_too_far'] += 1
        bench.reporter.log_changes()
    warnings = bench.lines('warning')
    assert len(warnings) == int(bench.rig.now - began) + 1
    assert warnings[0] == (
        'joint_states/not_finite: 1, joint_trajectory/start_too_far: 1 '
        "(not_finite: joint 'fer_joint1': position nan is not finite)"
    )
    level, values = bench.diagnostics()
    assert values['count/joint_states/not_finite'] == '3500'
    assert values['count/joint_trajectory/start_too_far'] == '3500'
    assert level == DiagnosticStatus.OK
    assert len(bench.lines('error')) == 0


def test_stamps_that_repeat_in_simulated_time_are_counted_and_not_logged(bench: Bench) -> None:
    bench.clock.simulated = True
    for _ in range(1500):
        bench.rig.tick()
        bench.rig.states.reject(Reason.STAMP_NOT_NEWER)
        bench.reporter.log_changes()
    assert not bench.lines('warning')
    _, values = bench.diagnostics()
    assert values['count/joint_states/stamp_not_newer'] == '1500'


def test_a_report_is_not_repeated(bench: Bench) -> None:
    bench.rig.wait()
    bench.rig.feed(q=np.full(7, np.nan))
    bench.rig.step()
    for _ in range(3000):
        bench.rig.tick()
        bench.reporter.log_changes()
    assert bench.lines('warning') == [
        "joint_states/not_finite: 1 (not_finite: joint 'fer_joint1': position nan is not finite)"
    ]


def test_a_flag_is_a_warning_in_diagnostics_while_it_is_raised(bench: Bench) -> None:
    bench.rig.run(0.01, feed=False)
    level, values = bench.diagnostics()
    assert level == DiagnosticStatus.WARN
    assert (values['state'], values['flags']) == ('degraded', 'joint_states_late')
    bench.rig.tick()
    level, values = bench.diagnostics()
    assert level == DiagnosticStatus.OK
    assert (values['state'], values['flags']) == ('active', '')


def test_publishers_of_the_joint_states_are_named_in_diagnostics(bench: Bench) -> None:
    assert bench.diagnostics()[1]['joint_state_publishers'] == '2 nodes named /robot'


def test_publishers_that_contradict_each_other_are_named_at_once(bench: Bench) -> None:
    bench.rig.controller.request_fault(Reason.JOINT_STATES_CONTRADICT)
    bench.rig.tick()
    bench.reporter.log_changes()
    assert bench.lines('error') == [
        'holding (joint_states_contradict): 2 nodes named /robot publish them'
    ]
