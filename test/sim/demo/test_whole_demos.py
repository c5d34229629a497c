# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Whole demos in virtual time: robot, control and client in one process, without DDS."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.models.demo_arms import ODD_ARM, with_error
from support.ros.ros_process import NO_ROS, wait_until
from support.tools import Printed

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('mujoco', reason='mujoco is not installed')

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
import teach_and_play

from rnea_ros.feedforward import FeedforwardController, JointBounds, JointStateMonitor, Reason
from rnea_ros.feedforward.settings import NodeSettings, complete_values
from rnea_ros.live import LiveNode
from rnea_ros.messages import decode_trajectory
from rnea_ros.node.control_setup import make_setup
from rnea_ros.node.motion_requests import MotionRequests
from rnea_ros.node.publishers import TERMS
from rnea_ros.parameters import from_values, read_parameter_file
from rnea_ros.ros import set_seconds
from rnea_ros.sim.demo import arm, circle, client, comparison, session
from rnea_ros.sim.demo.arm import DemoError
from rnea_ros.sim.demo.circle import Circle
from rnea_ros.sim.demo.demo import main
from rnea_ros.sim.demo.session import Processes
from rnea_ros.sim.effort_controller import EffortController
from rnea_ros.sim.hand import ScriptedHand
from rnea_ros.sim.options import PARAMETERS, TIMESTEP, Options

REPORTS = 10
"""Reports, of diagnostics and of terms, in a second."""


class Stage(LiveNode):
    """The demo's processes, its ROS node with its topics, and its clock."""

    def __init__(self) -> None:
        self.node, self.time, self.resolve_topic_name = self, 0.0, str
        self.waiting: dict[str, list[list[Any]]] = {}
        self.pictures: list[str] = []
        self.rejections: Counter[str] = Counter()
        self.laws: list[tuple[str, float]] = []
        """Requested modes, each with the gain of the first joint."""

    def start(self, name: str, _: str, given: dict[str, Any], *files: Path) -> None:
        """Start robot or node with parameters, as :class:`Processes` does."""
        if name == 'simulated_robot':
            unset = {key: None if each.unset else each.default for key, each in PARAMETERS.items()}
            options = from_values(Options, unset | given)
            assert options.lockstep
            self.robot = options.make_robot()
            self.hand = ScriptedHand(self.robot)
            self.receiver = EffortController(self.robot.limits, pytest.fail, pytest.fail)
            self.steps = options.steps_per_state
            return
        for file in files:
            given = given | read_parameter_file(file)
        values = complete_values(given)
        assert (values['trigger'], 1e3 / values['rate']) == ('joint_states', self.steps)
        controller: Any = SimpleNamespace(joints=self.robot.joint_names, controller='')
        setup = make_setup(NodeSettings.of(values), values['robot_description'], controller)
        model, settings = setup.model, setup.settings
        self.monitor = JointStateMonitor(model.joint_names, JointBounds.of_robot(model, settings))
        self.control = FeedforwardController(model, settings, self.monitor)
        self.configuration = SimpleNamespace(setup=setup)
        given = {'configuration': self.configuration, 'clock': self}
        self.requests = MotionRequests(
            self, controller=self.control, rejections=self.rejections, **given
        )

    def check(self, *_: object) -> None:
        """Do nothing: every process lives, every object closes."""

    stop = check

    @contextmanager
    def live(self, *_: object, **__: object) -> Iterator[LiveNode]:
        yield self

    def last_line(self, name: str) -> str:
        return f'{name} waits'

    def now(self) -> float:
        return self.time

    latest = stamp = now

    def spin(self, duration: float, done: Callable[[], bool] = lambda: False) -> None:
        """Let virtual time pass, s."""
        end = self.time + duration
        while not done() and self.time < end - 1e-9:
            self._tick()

    def get_logger(self) -> Any:
        return SimpleNamespace(error=lambda *_, **__: None)

    def create_publisher(self, _: Any, topic: str, __: int) -> Any:
        receive: Any = {
            'feedforward/joint_trajectory': self.requests.on_message,
            'simulated_robot/hand': lambda data: self.hand.guide(decode_trajectory(data)),
        }[topic]
        return SimpleNamespace(
            publish=lambda message: receive(serialize_message(message)),
            get_subscription_count=lambda: 1,
        )

    def create_subscription(self, _: Any, topic: str, receive: Any, __: int) -> None:
        self.report = {'/diagnostics': receive}[topic]

    def create_client(self, _: Any, name: str) -> Any:
        set_law = {'feedforward/set_parameters_atomically': self._set_law}.get(name)
        return SimpleNamespace(service_is_ready=lambda: True, call_async=set_law)

    def _set_law(self, request: Any) -> Any:
        values = (Parameter.from_parameter_msg(each) for each in request.parameters)
        changes: dict[str, Any] = {
            each.name: each.value if each.name == 'mode' else list(each.value) for each in values
        }
        setup = self.configuration.setup
        self.configuration.setup = setup.changed(
            NodeSettings.of({**setup.parameters.values, **changes})
        )
        self.control.change(self.configuration.setup.settings)
        self.laws.append((changes['mode'], changes['gains.kp'][0]))
        response = SimpleNamespace(result=SimpleNamespace(successful=True))
        return SimpleNamespace(done=lambda: True, result=lambda: response)

    def subscription(self, _: Any, __: Any, topic: str, *___: Any, **____: Any) -> Any:
        """Return what a :class:`PolledSubscription` takes."""
        waiting: list[Any] = []
        self.waiting.setdefault(topic.rpartition('/')[2], []).append(waiting)

        def take_all() -> list[Any]:
            taken = waiting.copy()
            waiting.clear()
            return taken

        return SimpleNamespace(take_all=take_all)

    def _tick(self) -> None:
        """Publish a state, answer it, and let the robot move until the next one."""
        robot, measured, before = self.robot, self.robot.state(), self.time
        message = JointState(name=robot.reported_joints)
        message.position, message.velocity, message.effort = map(list, measured)
        set_seconds(message.header.stamp, before)
        for waiting in self.waiting['joint_states']:
            waiting.append(serialize_message(message))
        self.monitor.take_sample(
            robot.reported_joints, *measured, stamp=before, clock=before, received=before
        )
        command = self.control.step(before)
        self.control.limiter.sent(before)
        if command is not None:
            self.receiver.receive(command)
        efforts = self.receiver.update(*robot.motion)
        for _ in range(self.steps):
            self.hand.update()
            robot.step(efforts)
            self.time += TIMESTEP
        if int(REPORTS * self.time) > int(REPORTS * before):
            self._report(command is not None)

    def _report(self, controls: bool) -> None:
        reason = self.control.reason
        values = {f'count/{name}': str(count) for name, count in self.rejections.items()} | {
            'state': self.control.state.value, 'reason': reason.value if reason else '',
            'late_ticks': '0', 'achieved_rate': '250.0', 'cpu_share': '0.1',
        }
        status = DiagnosticStatus(name='feedforward: control')
        status.values = [KeyValue(key=key, value=value) for key, value in values.items()]
        self.report(DiagnosticArray(status=[status]))
        for name in {*TERMS} & {*self.waiting} if controls else ():
            message = JointState(effort=getattr(self.control.terms(), name).tolist())
            set_seconds(message.header.stamp, self.time)
            self.waiting[name][0].append(message)


@pytest.fixture
def stages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Stage]:
    """Replace ROS, processes and clock of the demo; return the stages, one for each start."""
    made: list[Stage] = []

    def start(*_: object) -> Stage:
        made.append(Stage())
        return made[-1]

    for module, name, replacement in (
        (session, 'Processes', start), (session, 'live_node', lambda *_, **__: made[-1].live()),
        (arm, 'save', lambda figure, path: made[-1].pictures.append(path.name)),
        # Shorter than usual
        (session, 'WAY', 1.0), (session, 'GUIDE_REST', 0.5), (session, 'BLEND', 0.25),
        (comparison, 'HOLD', 0.5), (circle, 'EXCITATION', 6.0), (circle, 'EVALUATIONS', 21),
        (client, 'PolledSubscription', lambda *args, **more: made[-1].subscription(*args, **more)),
        (client, 'time', SimpleNamespace(monotonic=lambda: made[-1].time)),
    ):
        monkeypatch.setattr(module, name, replacement)
    monkeypatch.setenv('ROS_DOMAIN_ID', '1')
    monkeypatch.chdir(tmp_path)
    Path('odd.urdf').write_text(ODD_ARM)
    return made


@pytest.fixture
def shown(capsys: Printed) -> Callable[..., str]:
    """Return a function that runs the demo to its end, and returns its output."""
    def run(*arguments: str) -> str:
        code = main([*arguments, '--seconds', '2', '--headless', '--output', '.'])
        printed = capsys.readouterr()
        assert code == 0, printed.out + printed.err
        return printed.out

    return run


def figures(text: str, row: str) -> list[float]:
    """Return the numbers of a row of a table that have a unit."""
    found = re.search(rf'^{row} .*$', text, re.MULTILINE)
    assert found, text
    return [float(number) for number in re.findall(r'([\d.]+) m(?:rad|m)', found[0])]


def calls_of_report(program: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the list to which the arguments of a program's reports are added."""
    calls, report = [], program.report

    def noted(*arguments: Any) -> Any:
        calls.append(arguments)
        return report(*arguments)

    monkeypatch.setattr(program, 'report', noted)
    return calls


def test_the_demo_compares_three_laws_on_an_arm_of_the_user(
    stages: list[Stage], shown: Callable[..., str]
) -> None:
    text = shown('--urdf', 'odd.urdf', '--rate', '100')
    (stage,) = stages
    away = 'computed_torque'
    assert [mode for mode, _ in stage.laws] == [
        'gravity', away, 'feedback', away, 'gravity_feedback', away, 'computed_torque'
    ]
    assert stage.laws[2][1] != stage.laws[1][1] == stage.laws[6][1]  # gains of efforts, by inertia
    assert 'the demo sets 3 times what its motion needs: pitch' in text
    assert "link 'base': inertia is not zero" in text  # a warning of the URDF
    assert 'held by gravity compensation for' in text
    rows = ('feedback only', r'gravity \+ feedback', 'computed torque')
    errors = [figures(text, row)[0] for row in rows]
    assert errors == pytest.approx([146.5, 29.0, 10.1], rel=0.2)
    assert stage.pictures == ['demo.png']


def test_the_identified_model_tracks_and_holds_better(
    stages: list[Stage], shown: Callable[..., str], monkeypatch: pytest.MonkeyPatch,
    capsys: Printed,
) -> None:
    calls = calls_of_report(Circle, monkeypatch)
    text = shown('--identify', '--urdf', 'odd.urdf', '--rate', '125')
    for row, gain in (('drift in 1.0 s,', 10.0), ('RMS error', 5.0)):
        before, after = figures(text, row)
        assert before > gain * after
    assert len(stages) == 2
    for name in ('identified.urdf', 'identified.yaml', 'identified.txt'):
        assert Path(name).stat().st_size > 400
    assert stages[1].pictures == ['identify_demo.png']
    assert list(Path('exciting_motion').glob('*.db3'))

    ((program, before, after, fit),) = calls
    still = np.zeros_like(after.deviation)
    before = replace(before, deviation=still + 0.1, phase=with_error(before.phase, 0.05))
    for tracking, drift, code, shipped in (
        (5.1, 10.1, 0, True), (4.9, 10.1, 1, True), (5.1, 9.9, 1, True), (0.9, 9.9, 1, False),
        (1.1, 0.9, 0, False)
    ):
        monkeypatch.setattr(program, '_arm', replace(program._arm, shipped=shipped))
        after = replace(
            after, deviation=still - 0.1 / drift, phase=with_error(after.phase, 0.05 / tracking)
        )
        assert program.report(before, after, fit) == code
    assert re.search(r'gained: 1/1.1 .*\nOften friction of gears', capsys.readouterr().out)


def test_a_motion_is_taught_by_the_hand_and_repeated(
    stages: list[Stage], shown: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = calls_of_report(teach_and_play.Program, monkeypatch)
    text = shown('--teach', '--robot', 'ur5e', '--rate', '200')
    assert text.count('at most 10 mrad or mm') == 1
    smoothed, played = figures(text, 'elbow_joint')
    assert 0.1 < smoothed < 10.0
    assert played < 5.0
    assert stages[0].pictures == ['teach_demo.png']
    ((program, taught, phase),) = calls
    for error, code in ((4.9e-3, 0), (5.1e-3, 1)):
        assert program.report(taught, with_error(phase, error)) == code


def test_a_node_that_never_holds_the_arm_ends_the_demo_with_its_last_words(
    stages: list[Stage], capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, 'TIMEOUT', 0.2)
    assert main(['--headless', '--rate', '250', '--robot', 'panda_arm', '--output', '.']) == 1
    assert capsys.readouterr().err == (
        'demo: the node holds the arm: not within 0.2 s; the node: feedforward_node waits\n'
    )


def test_a_control_that_ends_ends_the_demo_with_the_reason(
    stages: list[Stage], capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(stage: Stage, *given: Any) -> None:
        original(stage, *given)
        if hasattr(stage, 'control'):
            stage.control.request_fault(Reason.CONTROLLER_JOINTS_CHANGED)

    original = Stage.start
    monkeypatch.setattr(Stage, 'start', start)
    assert main(['--headless', '--rate', '250', '--robot', 'panda_arm', '--output', '.']) == 1
    assert 'the control ended: controller_joints_changed' in capsys.readouterr().err


def test_a_process_that_ended_is_reported_with_its_log(tmp_path: Path) -> None:
    processes = Processes(tmp_path / 'logs')
    processes.start('poet', 'this', {'line': 1})
    try:
        with pytest.raises(DemoError, match=r'(?s)poet ended early.*Namespaces are one'):
            wait_until(processes.check)
        assert processes.last_line('poet').startswith('Namespaces')
    finally:
        processes.stop()
