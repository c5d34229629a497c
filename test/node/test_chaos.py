# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Random messages, pushes, stalls, kills and restarts at once, over real DDS.

A simulated UR5e is under the node's control with the watchdog beside it. For half a minute chance
sends 250 times a second what the node listens to: valid messages, messages that are to be
rejected, and random bytes. Left out is what no controller can distinguish from the truth: false
positions and velocities that could be true, and gains that do not fit the arm.
Meanwhile the arm is pushed, its controller leaves and comes back, listeners come and go, node,
robot and watchdog stand still for up to half a second, and signals come. The node is deactivated
and activated, ended and killed, and started again.

The rules are in ``support/chaos/rules.py``, and judged by the stamps of the messages.

The arm has what the URDF leaves out: the friction and the rotors of gears. They decide how fast it
sinks when nothing holds it: a UR5e as it is here, folded, reaches 70 % of its velocity limits on
its way down, however long it takes. An arm without friction passes them within 0.2 s.

The environment variable ``CHAOS_SEED`` gives chance another seed, ``CHAOS_SECONDS`` more time.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
import os
from pathlib import Path
import time
from typing import Any

import numpy as np
import pytest

from support.models.oracles import Array
from support.ros.ros_process import (
    NO_ROS,
    new_domain_id,
    ros_node,
    wait_until,
    without_shared_memory,
)

pytest.importorskip('rclpy', reason=NO_ROS)
pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from support.chaos.events import ENDING, Events
from support.chaos.messages import Known
from support.chaos.rules import (
    STALL_REASONS,
    Command,
    Witness,
    assert_watchdog_took_the_effort_away,
    end_is_explained,
)
from support.chaos.stage import (
    ARM,
    CONTACT,
    CONTROL,
    FOLDED,
    IMU,
    INLINE,
    LIMITS,
    MODEL,
    PERIOD,
    Stage,
    end_by,
    kill,
    stop_for_a_while,
)
from support.chaos.traffic import RATE, Chaos

pytestmark = pytest.mark.ros

SEED = int(os.environ.get('CHAOS_SEED', '1'))
DURATION = float(os.environ.get('CHAOS_SECONDS', '25'))
LIVES = max(4, round(DURATION / 12.0))
ALIVE = 2.0
"""How long the node is let live once it is active, s."""

RAISED_BEFORE_KILTED = 'RCLError: Failed to trigger lifecycle state machine transition'
"""rclpy up to Jazzy raises it at a request for an impossible transition, which gets no answer."""


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Stage, Witness, Any]]:
    without_shared_memory(monkeypatch)
    domain_id = new_domain_id()
    # What chance sends must not keep the witness from its messages.
    with ros_node(domain_id) as node, ros_node(domain_id, name='witness') as own:
        yield Stage(node, domain_id, tmp_path), Witness(own, FOLDED), node


@dataclass
class Lives:
    """Starts and ends the node several times; between, it is under control while events happen."""

    play: Stage
    witness: Witness
    chaos: Chaos
    events: Events
    began: float
    outputs: list[str] = field(default_factory=list)
    ends: list[list[Command]] = field(default_factory=list)
    """Commands after each kill."""
    starts: list[float] = field(default_factory=list)
    contacts: int = 0
    returns: int = 0

    def live(self, life: int) -> None:
        """Start the node, let chance and events act on it, end or kill it."""
        witness, events, requests = self.witness, self.events, self.chaos.requests
        launched, left = time.time(), events.made['leave']
        witness.begin_life()
        with self.play.process('rnea_ros.node.feedforward_node', CONTROL) as control:
            self.play.wait_for_control(witness, control)
            self.starts.append(time.time() - launched)
            if witness.numbered:
                first = witness.node_command_at(launched, 0)
                LIMITS.assert_begins_at(*witness.efforts_in_force(first.sent), first, PERIOD)
            self.chaos.jumping = life % 2 == 0 and life < LIVES - 1
            events.stalling = not self.chaos.jumping
            self._act(life, control)
            values = witness.diagnostics['control']
            withheld = witness.count('control', 'count/commands_withheld')
            assert withheld <= events.made['leave'] - left, values  # rule 12
            self.contacts += witness.count('control', 'count/contact')
            self.returns += sum(witness.count('control', f'count/{why}') for why in STALL_REASONS)
            if life % 2 == 0:
                self.ends.append(kill(control, witness))
            else:
                end_by(control, ENDING[(life // 2 + SEED) % len(ENDING)], witness, events)
            requests.forget_answers()
        self.outputs.append(control.output)

    def _act(self, life: int, control: Any) -> None:
        play, witness, events, requests = self.play, self.witness, self.events, self.chaos.requests
        requests.asking = True
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
                assert wait_until(self._all_was_sent, timeout=5.0 * DURATION)

    def _all_was_sent(self) -> bool:
        return (
            time.monotonic() - self.began > DURATION
            and self.chaos.sent.total() > RATE * DURATION
            and not (self.chaos.unsent or self.events.unmade)
        )

    def report(self, lasted: float, peak: Array, record_property: Any) -> None:
        """Print and record what happened."""
        total, witness, requests = self.chaos.sent.total(), self.witness, self.chaos.requests
        facts = {
            'seed': SEED, 'lasted': round(lasted, 1), 'sent': total,
            'rate': round(total / lasted, 1),
            'peak share of velocity limits': peak.round(3).tolist(),
            'kills followed by the watchdog': sum(map(bool, self.ends)),
            'commands': len(witness.commands),
            'of the watchdog': sum(command.from_watchdog for command in witness.commands),
            'acted': witness.count('watchdog', 'acted'),
            'handed back': witness.count('watchdog', 'handed_back'),
            'events': dict(self.events.made), 'contacts': self.contacts, 'returns': self.returns,
            'gave up': [reason for _, reason in self.play.gave_up],
            'answers lost': requests.lost.total(),
            'starts': [round(start, 1) for start in self.starts], 'states': len(witness.speeds),
        }
        for name, value in facts.items():
            record_property(name, value)
        print(facts, sorted(self.chaos.sent.items()), sorted(requests.results.items()), sep='\n')


@pytest.mark.timeout(900.0 + DURATION)
def test_chaos_breaks_no_rule(stage: tuple[Stage, Witness, Any], record_property: Any) -> None:
    play, witness, node = stage
    known = Known(
        MODEL.joint_names, np.array(FOLDED), MODEL.velocity_limits, ('forearm_link',), 'base_link'
    )
    chaos = Chaos(
        node, known, lambda: witness.position, contact=CONTACT, inline=INLINE, imu=IMU, seed=SEED
    )
    requests = chaos.requests
    with (
        play.process('support.chaos.robot', ARM) as arm,
        play.process('rnea_ros.watchdog.effort_watchdog') as watchdog,
    ):
        watchdog.wait_for('watching')
        assert wait_until(lambda: len(witness.speeds) > 0)
        events = Events(node, {'robot': arm, 'watchdog': watchdog}, SEED)
        lives = Lives(play, witness, chaos, events, began=time.monotonic())
        chaos.start()
        events.start()
        for life in range(LIVES):
            lives.live(life)
        lasted = time.monotonic() - lives.began
        chaos.end()
        events.end()
    for failure in (chaos.failure, events.failure):
        if failure is not None:
            raise failure
    peak = np.max(witness.speeds, axis=0) / MODEL.velocity_limits
    lives.report(lasted, peak, record_property)

    assert not chaos.unsent
    acted = [end for end in lives.ends if end]
    assert acted
    for end in acted:
        assert_watchdog_took_the_effort_away(end)
    LIMITS.assert_commands_keep(witness.commands)
    assert {reason for _, reason in play.gave_up} <= STALL_REASONS
    for ended, reason in play.gave_up:
        assert end_is_explained(witness, ended), f'{reason}, {play.gave_up}'
    assert (peak <= 1.0).all(), peak
    for output in [*lives.outputs, arm.output, watchdog.output]:
        assert output.count('Traceback') == output.count(RAISED_BEFORE_KILTED), output
    if any(RAISED_BEFORE_KILTED in output for output in lives.outputs):
        del requests.lost['impossible transition']
    assert requests.lost.total() < 0.05 * requests.results.total()
