# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""One of the three nodes is killed while two simulated arms are coupled."""

import numpy as np
from numpy.typing import NDArray
import pytest

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from controlled_arm import PERIOD, ControlledArm, straight_way
from teleoperation_demo import DEPTH, GAP, WAY
from two_arms import TwoArms

from rnea_ros.sim.demo.arm import DemoArm
from rnea_ros.teleoperation import CouplingState
from rnea_ros.teleoperation.coupling import Output

Array = NDArray[np.float64]

FREE = 0.2  # greatest time until nothing acts on the leader, s
AFTER = 1.2  # duration of the record after the kill, s
SILENCE, RAMP = 0.1, 0.2  # default timeout and ramp_duration of the watchdog, s


class Recorded:
    """An arm whose every command is recorded; a killed one sends nothing more."""

    def __init__(self, arm: ControlledArm, patch: pytest.MonkeyPatch) -> None:
        self._arm, self._compute, self._measure = arm, arm.compute, arm.measure
        self._died: float | None = None
        self._last = np.zeros(0)
        self.commands: list[Array] = []
        self.motions: list[tuple[Array, Array]] = []
        self.additional: list[Array] = []
        patch.setattr(arm, 'compute', self._step)
        patch.setattr(arm, 'measure', self._messages)

    def kill(self, now: float) -> None:
        assert self._arm.command is not None
        self._died, self._last = now, self._arm.command

    def _messages(self, now: float) -> object:
        sample, effort = self._measure(now)
        return sample, effort if self._died is None else None

    def _step(self, now: float) -> None:
        if self._died is None:
            self._compute(now)
        else:  # its watchdog ramps down
            share = 1.0 - (now - self._died - SILENCE) / RAMP
            self._arm.command = min(max(share, 0.0), 1.0) * self._last
        if self._arm.command is not None:
            self.commands.append(self._arm.command.copy())
        q, qd = self._arm.robot.motion
        self.motions.append((q.copy(), qd.copy()))
        self.additional.append(self._arm.control.terms().additional.copy())


@pytest.fixture(scope='module')
def arm() -> DemoArm:
    return DemoArm.load('panda_arm', None, 3.0)


@pytest.mark.parametrize(('killed', 'delay', 'wall'), [
    ('leader', 0.05, False), ('follower', 0.0, True), ('teleoperation', 0.05, True),
])
def test_after_a_kill_the_follower_holds_and_the_leader_is_free(
    killed: str, delay: float, wall: bool, arm: DemoArm, monkeypatch: pytest.MonkeyPatch
) -> None:
    arms = TwoArms(arm, delay)
    sides = {name: Recorded(getattr(arms, name), monkeypatch) for name in ('leader', 'follower')}
    arms.couple()
    motion = straight_way(arm, arms.link, GAP + DEPTH, WAY) if wall else arm.plan.motion
    if wall:
        arms.wall.position = arms.wall.place + GAP
    arms.hand.guide(motion.request(arm.joints))
    arms.run(1.2)
    assert arms.coupling.state is CouplingState.COUPLED
    if killed == 'teleoperation':
        monkeypatch.setattr(arms.coupling, 'step', lambda _: Output(None, None))
    else:
        sides[killed].kill(arms.now)
    arms.run(AFTER)

    model, ticks = arm.model, round(AFTER / PERIOD)
    for name, side in sides.items():
        if name == killed:
            continue  # its watchdog sends zeros: it sinks
        commands = np.array(side.commands) / model.effort_limits
        assert np.abs(commands).max() <= 1.0
        assert np.abs(np.diff(commands, axis=0)).max() <= 10.0 * PERIOD + 1e-9
        q = np.array([q for q, _ in side.motions])
        assert (q > model.position_lower).all()
        assert (q < model.position_upper).all()
    if killed != 'leader':
        after = np.array(sides['leader'].additional[-ticks:])
        assert not after[round(FREE / PERIOD) + 1 :].any()
    if killed != 'follower':
        assert np.abs(sides['follower'].motions[-1][1]).max() < 0.02
