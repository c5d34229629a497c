# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Everything at once, over real DDS: chance sends, pushes, stalls, kills and starts again.

A simulated UR5e is under the node's control with the watchdog beside it. For half a minute chance
sends 500 times a second what the node listens to: messages that are valid, that are to be
rejected, and bytes that are no message. What is left out is what no controller can tell from the
truth: false positions and velocities that could be true, and gains that do not fit the arm.
Meanwhile the arm is pushed, its controller leaves and comes back, listeners come and go, node,
robot and watchdog stand still for up to half a second, and signals come. The node is deactivated
and activated, ended and killed, and started again.

The rules are those of ``chaos_rules.py``, by the stamps of the messages.

The arm has what the URDF leaves out: the friction and the rotors of gears. They decide how fast it
sinks when nobody holds it: a UR5e as it is here, folded, reaches 70 % of its velocity limits on
its way down, however long it takes. An arm without friction passes them within 0.2 s.

The environment variable ``CHAOS_SEED`` gives chance another seed, ``CHAOS_SECONDS`` more time.
"""

from __future__ import annotations

from collections.abc import Iterator
import json
import os
from pathlib import Path
import signal
import time
from typing import Any

import numpy as np
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
from chaos_events import ENDING, Events
from chaos_messages import Known
from chaos_rules import (
    STALL_REASONS,
    Command,
    Limits,
    Witness,
    assert_watchdog_took_the_effort_away,
    stalls_explain_end,
)
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState

pytestmark = pytest.mark.ros

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
LIMITS = Limits(MODEL.effort_limits, 10.0 * MODEL.effort_limits)

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
    'contact.action': 'hold',
    'contact.threshold': [15.0, 15.0, 15.0, 6.0, 6.0, 6.0],
    'ramp_duration': 0.3,
}
IN_CONTROL = ('active', 'degraded')
MOST_ATTEMPTS = 10
ABSENCE = 4.0
"""Longest absence of the controller, 1 s, and time until its joints are confirmed, s."""

RAISED_BY_JAZZY = 'RCLError: Failed to trigger lifecycle state machine transition'
"""rclpy of Jazzy raises it at a request for an impossible transition, which gets no answer."""


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
        self.gave_up: list[tuple[float, str]] = []
        """When the control had ended, wall time, s, and its reason."""

    def process(self, module: str, values: dict[str, Any] | None = None) -> RosProcess:
        """Return a process of the package or of the tests, with parameters."""
        path = self._directory / f'{module}.yaml'
        path.write_text(json.dumps({'/**': {'ros__parameters': values or {}}}))
        arguments = ('--ros-args', '--params-file', str(path)) if values else ()
        return RosProcess(module, *arguments, domain_id=self._domain_id)

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

        Where it was stopped, or the machine stalls, for too long the control ends, and is
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
            self.gave_up.append((time.time(), witness.told['control']['reason']))
            self.activate_again()
        pytest.fail(f'the control ended again and again, {self.gave_up}:\n{control.output}')


@pytest.fixture
def stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Stage, Witness, Any]]:
    without_shared_memory(monkeypatch)
    domain_id = new_domain_id()
    with ros_node(domain_id) as node:
        yield Stage(node, domain_id, tmp_path), Witness(node, FOLDED), node


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


def end_by(
    control: RosProcess, number: signal.Signals, witness: Witness, events: Events
) -> None:
    """
    Check rule 9: a signal ends the node in zeros, whatever happens meanwhile.

    Commands are withheld from a controller that has just left: the watchdog's are the last then.
    """
    absent = time.monotonic() < events.left_at + ABSENCE
    began = time.time()
    with events.happening(control):
        control.send(number)
        assert control.wait() == 0, control.output
    absent = absent or events.left_at > time.monotonic() - ABSENCE
    assert wait_until(lambda: not witness.commands[-1].efforts.any()), witness.commands[-3:]
    last = witness.node_command_at(began, -1)
    assert absent or not last.efforts.any(), f'{number.name}: {last}\n{control.output}'


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
    requests = chaos.requests
    outputs: list[str] = []
    ends: list[list[Command]] = []
    starts: list[float] = []
    contacts = returns = 0
    with (
        play.process('chaos_robot', ARM) as arm,
        play.process('rnea_ros.watchdog.effort_watchdog') as watchdog,
    ):
        watchdog.wait_for('watching')
        assert wait_until(lambda: len(witness.speeds) > 0)
        events = Events(node, {'robot': arm, 'watchdog': watchdog}, SEED)
        began = time.monotonic()
        chaos.start()
        events.start()
        for life in range(LIVES):
            launched, in_force, left = time.time(), witness.effort, events.made['leave']
            with play.process('rnea_ros.node.feedforward_node', CONTROL) as control:
                play.wait_for_control(witness, control)
                starts.append(time.time() - launched)
                first = witness.node_command_at(launched, 0)
                LIMITS.assert_begins_at(in_force, first, PERIOD)
                requests.asking = True
                chaos.jumping = life % 2 == 0
                events.stalling = not chaos.jumping
                with events.happening(control):
                    time.sleep(ALIVE / 2.0)
                if life == 1:
                    requests.cease_to_ask()
                    play.activate_again()
                if life == 2:
                    requests.cease_to_ask()
                    play.wait_for_control(witness, control)
                    stop_for_a_while(control, witness)
                requests.asking = life not in (1, 2)
                with events.happening(control):
                    time.sleep(ALIVE / 2.0)
                requests.cease_to_ask()
                play.wait_for_control(witness, control)
                requests.asking = True
                with events.happening(control):
                    time.sleep(0.5)
                    if life == LIVES - 1:
                        assert wait_until(
                            lambda: (
                                time.monotonic() - began > DURATION
                                and chaos.sent.total() > RATE * DURATION
                                and not chaos.unsent
                            ),
                            timeout=5.0 * DURATION,
                        )
                told = witness.told['control']
                withheld = int(told.get('count/commands_withheld', '0'))
                assert withheld <= events.made['leave'] - left, told  # rule 12
                contacts += int(told.get('count/contact', '0'))
                returns += sum(int(told.get(f'count/{reason}', '0')) for reason in STALL_REASONS)
                if life % 2 == 0:
                    ends.append(kill(control, witness))
                else:
                    end_by(control, ENDING[(life // 2 + SEED) % len(ENDING)], witness, events)
                requests.forget_answers()
            outputs.append(control.output)
        lasted = time.monotonic() - began
        chaos.end()
        events.end()
    for failure in (chaos.failure, events.failure):
        if failure is not None:
            raise failure

    assert not chaos.unsent
    if any(RAISED_BY_JAZZY in output for output in outputs):
        del requests.lost['impossible transition']
    assert requests.lost.total() < 0.05 * requests.results.total()
    acted = [end for end in ends if end]
    assert len(acted) > len(ends) // 2
    for end in acted:
        assert_watchdog_took_the_effort_away(end)
    LIMITS.assert_commands_keep(witness.commands)
    assert {reason for _, reason in play.gave_up} <= STALL_REASONS
    for ended, reason in play.gave_up:
        assert stalls_explain_end(witness, ended), f'{reason} at {ended}: {play.gave_up}'
    assert contacts > 0
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
        'acted': witness.count('watchdog', 'acted'),
        'handed back': witness.count('watchdog', 'handed_back'),
        'events': dict(events.made),
        'contacts': contacts,
        'returns': returns,
        'gave up': [reason for _, reason in play.gave_up],
        'answers lost': requests.lost.total(),
        'starts': [round(start, 1) for start in starts],
        'states': len(witness.speeds),
    }
    for name, value in facts.items():
        record_property(name, value)
    print(facts, sorted(chaos.sent.items()), sorted(requests.results.items()), sep='\n')
