# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Everything at once, over real DDS: chance sends, and the node is killed, stopped and started again.

A simulated UR5e is under the node's control with the watchdog beside it. For half a minute chance
sends 500 times a second what the node listens to: messages that are valid, that are to be
rejected, and bytes that are no message. What is left out is what no controller can tell from the
truth: false positions and velocities that could be true, and gains that do not fit the arm.
Meanwhile the node is killed and started again, stopped and let go on, deactivated and activated.

The arm has what the URDF leaves out: the friction and the rotors of gears. They decide how fast it
sinks when nobody holds it: a UR5e as it is here, folded, reaches 70 % of its velocity limits on
its way down, however long it takes. An arm without friction passes them within 0.2 s.

The environment variable ``CHAOS_SEED`` gives chance another seed, ``CHAOS_SECONDS`` more time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
import json
import os
from pathlib import Path
import signal
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest
from robots import ROOT
from ros_process import (
    NO_ROS,
    PATIENCE,
    RosProcess,
    new_domain_id,
    ros_node,
    wait_until,
    without_shared_memory,
)

import rnea_ros

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from chaos import RATE, Chaos
from chaos_messages import FRAME, Known
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from rnea_ros.ros import seconds
from rnea_ros.watchdog.command_link import MARK

pytestmark = pytest.mark.ros

Array = NDArray[np.float64]

SEED = int(os.environ.get('CHAOS_SEED', '1'))
DURATION = float(os.environ.get('CHAOS_SECONDS', '25'))
LIVES = max(4, round(DURATION / 12.0))
ALIVE = 2.0
"""How long the node is let live once it is active, s."""

URDF = ROOT / 'urdf/ur5e.urdf'
MODEL = rnea_ros.RobotModel.from_urdf(URDF)
N = MODEL.nv
FOLDED = (0.0, -1.2, 2.4, -2.4, -1.57, 0.0)
PERIOD = 0.002
STEP = 10.0 * MODEL.effort_limits * PERIOD

# Gears with a ratio of a hundred: friction in N m s/rad and N m, rotors in kg m^2.
DAMPING = (12.0, 12.0, 12.0, 2.0, 2.0, 2.0)
FRICTION = (8.0, 8.0, 8.0, 2.0, 2.0, 2.0)
ARMATURE = (1.4, 1.4, 1.4, 0.3, 0.3, 0.3)
CONTACT, INLINE, IMU = 'contact', 'force_torque_sensor_broadcaster/wrench', 'imu'

ARM = {
    'urdf': str(URDF),
    'initial_positions': list(FOLDED),
    'state_rate': 500.0,
    'wrench_link': 'wrist_3_link',
    'extra_damping': list(DAMPING),
    'extra_friction': list(FRICTION),
    'armature': list(ARMATURE),
    'payload.link': 'tool0',
    'payload.mass': 0.5,
}
CONTROL = {
    # The topic robot_description gets whatever chance sends, also while the node starts.
    'robot_description': URDF.read_text(encoding='utf-8'),
    'rate': 1.0 / PERIOD,
    'mode': 'computed_torque',
    'hardware_compensates': ['none'],
    'gains.kp': [9.0],
    'gains.kd': [6.0],
    'armature': list(ARMATURE),
    'friction.model': 'parameters',
    'friction.viscous': [0.8 * value for value in DAMPING],
    'friction.coulomb': [0.8 * value for value in FRICTION],
    'friction.velocity': 'desired',
    'payload.link': ['tool0'],
    'payload.mass': [0.5],
    'wrench_inputs.names': ['contact', 'inline'],
    'wrench_inputs.contact.topic': CONTACT,
    'wrench_inputs.inline.topic': INLINE,
    'wrench_inputs.inline.link': 'wrist_3_link',
    'wrench_inputs.inline.placement': 'inline',
    'base_sensor.topic': IMU,
    'base_sensor.use': 'motion',
    'joint_states_timeout': 1.0,
    'ramp_duration': 0.3,
    'hold_duration': 0.3,
}
IN_CONTROL = ('active', 'degraded')
MOST_ATTEMPTS = 10
RAISED_BY_JAZZY = 'RCLError: Failed to trigger lifecycle state machine transition'
"""rclpy of Jazzy raises it at a request for an impossible transition, which gets no answer."""


@dataclass(frozen=True)
class Command:
    """
    A command as the controller hears it.

    :param number: which one of its publisher's it is
    :param sent: when, s
    :param of_watchdog: whether the watchdog sent it
    :param efforts: N m
    """

    number: int
    sent: float
    of_watchdog: bool
    efforts: Array


class Witness:
    """
    Hears what the controller hears, sees what the robot does, and reads diagnostics.

    :param node: the test's own
    """

    def __init__(self, node: Any) -> None:
        self.commands: list[Command] = []
        self.speeds: list[Array] = []
        self.position = np.array(FOLDED)
        self.told: dict[str, dict[str, str]] = {'control': {}, 'watchdog': {}}
        self._since = {'control': 0.0, 'watchdog': 0.0}
        deep = QoSProfile(depth=2000)
        topic = '/effort_controller/commands'
        node.create_subscription(Float64MultiArray, topic, self._on_command, deep)
        node.create_subscription(JointState, 'joint_states', self._on_state, deep)
        node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)

    def _on_command(self, message: Any, info: Any) -> None:
        number, sent = info['publication_sequence_number'], 1e-9 * info['source_timestamp']
        marked = any(dimension.label == MARK for dimension in message.layout.dim)
        self.commands.append(Command(number, sent, marked, np.array(message.data)))

    def _on_state(self, message: Any) -> None:
        if message.header.frame_id != FRAME:
            self.position = np.array(message.position)
            self.speeds.append(np.abs(message.velocity))

    def _on_diagnostics(self, message: Any) -> None:
        for status in message.status:
            who = 'watchdog' if status.name.endswith('effort_watchdog') else 'control'
            if seconds(message.header.stamp) > self._since[who]:
                self.told[who] = {value.key: value.value for value in status.values}

    def forget(self, who: str) -> None:
        """Forget the diagnostics of a node, also those that were sent before and still come."""
        self._since[who] = time.time()
        self.told[who] = {}

    def since_the_nodes_last(self) -> list[Command]:
        """Return what the watchdog sent after the node's last command; both may come late."""
        last = max(command.sent for command in self.commands if not command.of_watchdog)
        return [each for each in self.commands if each.of_watchdog and each.sent > last]

    def count(self, key: str) -> int:
        """Return a count of the watchdog's newest diagnostics."""
        return int(self.told['watchdog'].get(key, '0'))


class Stage:
    """
    The processes and what is done to them.

    :param node: the test's own
    :param domain_id: its DDS domain
    :param directory: for files
    """

    def __init__(self, node: Any, domain_id: int, directory: Path) -> None:
        self._domain_id = domain_id
        self._directory = directory
        self._change = node.create_client(ChangeState, 'feedforward/change_state')
        self.gave_up: list[str] = []

    def process(self, module: str, values: dict[str, Any] | None = None) -> RosProcess:
        """Return a process of the package, with parameters."""
        path = self._directory / f'{module}.yaml'
        path.write_text(json.dumps({'/**': {'ros__parameters': values or {}}}))
        arguments = ('--ros-args', '--params-file', str(path)) if values else ()
        return RosProcess(f'rnea_ros.{module}', *arguments, domain_id=self._domain_id)

    def change_state(self, transition: int) -> bool:
        """Ask the node for a transition; return whether it was made."""
        assert wait_until(self._change.service_is_ready)
        request = ChangeState.Request()
        request.transition.id = transition
        future = self._change.call_async(request)
        assert wait_until(future.done)
        return bool(future.result().success)

    def activate_again(self) -> None:
        """Deactivate the node and activate it."""
        assert self.change_state(Transition.TRANSITION_DEACTIVATE)
        assert self.change_state(Transition.TRANSITION_ACTIVATE)

    def wait_for_control(self, witness: Witness, control: RosProcess) -> None:
        """
        Wait until the node's diagnostics tell, from now on, that it is in control.

        Where it was stopped, or the machine stalls, for too long the control gives up, and is
        activated again, as somebody beside a robot would do it.
        """
        for _ in range(MOST_ATTEMPTS):
            witness.forget('control')
            told = wait_until(
                lambda: witness.told['control'].get('state') in (*IN_CONTROL, 'fault'),
                3.0 * PATIENCE,
            )
            assert told, f'{witness.told}, gave up {self.gave_up}:\n{control.output}'
            if witness.told['control']['state'] in IN_CONTROL:
                return
            self.gave_up.append(witness.told['control']['reason'])
            self.activate_again()
        pytest.fail(f'the machine is too slow: the control gave up, {self.gave_up}')


@pytest.fixture
def stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Stage, Witness, Any]]:
    without_shared_memory(monkeypatch)
    domain_id = new_domain_id()
    with ros_node(domain_id) as node:
        yield Stage(node, domain_id, tmp_path), Witness(node), node


def assert_commands_keep_their_rules(commands: list[Command]) -> None:
    """Check every command by itself, and against the one before it of the same publisher."""
    for command in commands:
        assert command.efforts.shape == (N,)
        assert np.isfinite(command.efforts).all()
        assert (np.abs(command.efforts) <= MODEL.effort_limits * (1.0 + 1e-12)).all()
    of_node = [command for command in commands if not command.of_watchdog]
    for before, command in pairwise(of_node):
        if command.number <= before.number:
            continue  # a node that was started again begins from the effort that it measures
        change = np.abs(command.efforts - before.efforts)
        # Some did not come here, and some were withheld while somebody began to listen.
        periods = (command.sent - before.sent) / PERIOD + 1.0
        steps = max(command.number - before.number, periods)
        assert (change <= steps * STEP * (1.0 + 1e-9)).all(), f'{before}\n{command}'


def assert_watchdog_took_the_effort_away(commands: list[Command]) -> None:
    """Check what came after a node's last command: down to zero, never back up."""
    sizes = np.abs([command.efforts for command in commands])
    # Of what was before, a stall may have hidden the commands between two acts.
    growths = np.flatnonzero((np.diff(sizes, axis=0) > 0.0).any(axis=1))
    ramp = sizes[growths[-1] + 1 :] if growths.size else sizes
    assert len(ramp) > 10
    assert not ramp[-1].any()


def stop_for_a_while(control: RosProcess, witness: Witness) -> None:
    """Let the node stand still until the watchdog has acted, and half a second longer."""
    control.send(signal.SIGSTOP)
    witness.forget('watchdog')
    # Quiet it is where the control had given up, and sent zeros by itself, just before.
    ended = wait_until(lambda: witness.told['watchdog'].get('state') in ('acted', 'quiet'))
    assert ended, (witness.told, witness.commands[-3:])
    time.sleep(0.5)
    control.send(signal.SIGCONT)


def kill(control: RosProcess, witness: Witness) -> list[Command]:
    """
    Kill the node, and wait until nothing is left of its efforts; return what the watchdog sent.

    That is nothing where the control had given up, and sent zeros by itself, just before.
    """
    control.send(signal.SIGKILL)
    assert control.wait() == -signal.SIGKILL
    witness.forget('watchdog')
    ended = wait_until(lambda: witness.told['watchdog'].get('state') in ('acted', 'quiet'))
    ended = ended and wait_until(lambda: not witness.commands[-1].efforts.any())
    assert ended, (witness.told, witness.commands[-3:])
    return witness.since_the_nodes_last()


@pytest.mark.timeout(900.0 + DURATION)
def test_chaos_breaks_no_rule(
    stage: tuple[Stage, Witness, Any], record_property: Any
) -> None:
    play, witness, node = stage
    known = Known(
        MODEL.joint_names, np.array(FOLDED), MODEL.velocity_limits, ('forearm_link',), 'base_link'
    )
    chaos = Chaos(
        node, known, lambda: witness.position, contact=CONTACT, inline=INLINE, imu=IMU, seed=SEED
    )
    outputs: list[str] = []
    ends: list[list[Command]] = []
    starts: list[float] = []
    with (
        play.process('sim.simulated_robot', ARM) as arm,
        play.process('watchdog.effort_watchdog') as watchdog,
    ):
        watchdog.wait_for('watching')
        assert wait_until(lambda: len(witness.speeds) > 0)
        began = time.monotonic()
        chaos.start()
        for life in range(LIVES):
            launched = time.monotonic()
            with play.process('node.feedforward_node', CONTROL) as control:
                play.wait_for_control(witness, control)
                starts.append(time.monotonic() - launched)
                chaos.asking = True
                time.sleep(ALIVE / 2.0)
                if life == 1:
                    chaos.cease_to_ask()
                    play.activate_again()
                    chaos.asking = True
                if life == 2:
                    chaos.cease_to_ask()
                    play.wait_for_control(witness, control)
                    stop_for_a_while(control, witness)
                time.sleep(ALIVE / 2.0)
                chaos.cease_to_ask()
                play.wait_for_control(witness, control)
                chaos.asking = True
                if life < LIVES - 1:
                    time.sleep(0.5)
                    ends.append(kill(control, witness))
                    chaos.forget_answers()
                else:
                    assert wait_until(
                        lambda: (
                            time.monotonic() - began > DURATION
                            and chaos.sent.total() > RATE * DURATION
                            and not chaos.unsent
                        ),
                        timeout=5.0 * DURATION,
                    )
                    lasted = time.monotonic() - began
                    chaos.end()
                    control.send(signal.SIGTERM)
                    assert control.wait() == 0
            outputs.append(control.output)
    if chaos.failure is not None:
        raise chaos.failure

    assert not chaos.unsent
    if any(RAISED_BY_JAZZY in output for output in outputs):
        del chaos.lost['impossible transition']
    assert chaos.lost.total() < 0.05 * chaos.results.total()
    assert len(ends) == LIVES - 1
    acted = [end for end in ends if end]
    assert len(acted) >= LIVES // 2
    for end in acted:
        assert_watchdog_took_the_effort_away(end)
    assert_commands_keep_their_rules(witness.commands)
    assert set(play.gave_up) <= {'joint_states_stale', 'tick_blocked'}
    peak = np.max(witness.speeds, axis=0) / MODEL.velocity_limits
    assert (peak <= 1.0).all(), peak
    for output in [*outputs, arm.output, watchdog.output]:
        assert output.count('Traceback') == output.count(RAISED_BY_JAZZY), output

    total = chaos.sent.total()
    facts = {
        'seed': SEED,
        'lasted': round(lasted, 1),
        'sent': total,
        'rate': round(total / lasted, 1),
        'peak share of velocity limits': peak.round(3).tolist(),
        'kills followed by the watchdog': len(acted),
        'commands': len(witness.commands),
        'of the watchdog': sum(command.of_watchdog for command in witness.commands),
        'acted': witness.count('acted'),
        'handed back': witness.count('handed_back'),
        'gave up': play.gave_up,
        'answers lost': chaos.lost.total(),
        'starts': [round(start, 1) for start in starts],
        'states': len(witness.speeds),
    }
    for name, value in facts.items():
        record_property(name, value)
    print(facts, sorted(chaos.sent.items()), sorted(chaos.results.items()), sep='\n')
