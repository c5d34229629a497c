# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Commands go to a controller that takes them in their order, and to nobody else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from ros_process import NO_ROS

from rnea_ros.feedforward.reasons import Reason

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.node.command_watch import DISCOVERY, CommandWatch

JOINTS = ('a', 'b', 'c')
FIRST, SECOND = frozenset((b'1',)), frozenset((b'2',))


class Log:
    """A node that only logs."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.errors: list[str] = []

    def get_logger(self) -> Log:
        return self

    def warning(self, text: str) -> None:
        self.warnings.append(text)

    def error(self, text: str) -> None:
        self.errors.append(text)


class Control:
    """A control that notes what it is asked for."""

    joints = JOINTS

    def __init__(self) -> None:
        self.permitted = True
        self.outside_flags: frozenset[Reason] = frozenset()
        self.ended: list[Reason] = []
        self.take_overs: list[Callable[[], object]] = []

    def end(self, reason: Reason) -> None:
        self.ended.append(reason)

    def take_over(self, then: Callable[[], object]) -> None:
        self.take_overs.append(then)


class Controller:
    """What is known of the effort controller: here a test says so."""

    controller = '/effort_controller'

    def __init__(self) -> None:
        self.joints: tuple[str, ...] = JOINTS
        self.asked = FIRST
        self.present = True
        self.settled = True

    def poll(self, now: float) -> None:
        pass


class Gate:
    """A gate that one listener stands in front of."""

    def __init__(self) -> None:
        self.is_open = False

    def passes(self) -> bool:
        return self.is_open

    def listeners(self) -> int:
        return 1

    def open(self, listeners: int) -> None:
        self.is_open = True

    def shut(self) -> None:
        self.is_open = False


class Others:
    """Who else publishes."""

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self.undecided = False
        self.publishers = 1
        self.looks = 0

    def count(self) -> int:
        return self.publishers

    def look(self, now: float, publishing: bool) -> None:
        assert publishing
        self.looks += 1

    def complaint(self, names: Iterable[str]) -> str:
        return f'{", ".join(names)} was there before'


class Bench:
    """A watch with all around it replaced, after its first look."""

    def __init__(
        self, *, told: bool = True, joints: tuple[str, ...] = JOINTS, settled: bool = True
    ) -> None:
        self.log, self.control, self.gate = Log(), Control(), Gate()
        self.controller, self.others = Controller(), Others()
        self.controller.joints, self.controller.settled = joints, settled
        parts: Any = (self.log, self.control, self.controller, told, self.gate, self.others, 0.0)
        self.watch = CommandWatch(*parts)
        self.watch.look(0.0)

    def comes_back(self, joints: tuple[str, ...]) -> None:
        """Let another controller take the place of the one before, and answer."""
        self.controller.settled, self.controller.asked = False, SECOND
        self.watch.look(1.0)
        assert not self.gate.passes()
        assert self.control.outside_flags == {Reason.COMMANDS_WITHHELD}
        self.controller.settled, self.controller.joints = True, joints
        self.watch.look(2.0)


def test_commands_pass_to_the_controller_that_was_there_at_the_start() -> None:
    bench = Bench()
    assert bench.gate.passes()
    assert bench.watch.target == 'confirmed'
    assert not bench.control.outside_flags
    assert not bench.control.take_overs


@pytest.mark.parametrize('joints', [('b', 'a', 'c'), ('a', 'b'), ('a', 'b', 'c', 'd'), ()])
def test_a_controller_that_comes_back_with_other_joints_or_none_ends_the_control(
    joints: tuple[str, ...],
) -> None:
    bench = Bench()
    bench.comes_back(joints)
    assert bench.control.ended == [Reason.CONTROLLER_JOINTS_CHANGED]
    for _ in range(3):
        bench.watch.look(3.0)
        assert not bench.gate.passes()
        assert bench.watch.target == 'withheld'
    assert bench.control.ended == [Reason.CONTROLLER_JOINTS_CHANGED]
    assert len(bench.log.errors) == 1
    assert not bench.control.take_overs


def test_a_controller_that_comes_back_in_its_order_is_sent_what_the_control_ramps_up_to() -> None:
    bench = Bench()
    bench.comes_back(JOINTS)
    assert not bench.gate.passes()
    (begin,) = bench.control.take_overs
    bench.watch.look(2.1)
    assert len(bench.control.take_overs) == 1
    begin()
    assert bench.gate.passes()
    bench.watch.look(3.0)
    assert bench.gate.passes()
    assert bench.watch.target == 'confirmed'
    assert bench.watch.counts[Reason.COMMANDS_WITHHELD] == 1


def test_a_controller_that_never_named_joints_is_believed() -> None:
    bench = Bench(told=False, joints=())
    assert bench.gate.passes()


def test_the_control_may_begin_once_the_controller_has_confirmed_its_joints() -> None:
    bench = Bench(settled=False)
    permitted = [bench.control.permitted]
    bench.controller.settled = True
    bench.watch.look(0.1)
    permitted.append(bench.control.permitted)
    (begin,) = bench.control.take_overs
    begin()
    permitted.append(bench.control.permitted)
    assert permitted == [False, False, True]
    assert bench.gate.passes()


def test_a_publisher_that_is_heard_of_soon_after_the_start_was_there_before_and_ends_it() -> None:
    bench = Bench()
    bench.others.names = ('/rival',)
    for _ in range(3):
        bench.watch.look(0.9 * DISCOVERY)
    assert bench.control.ended == [Reason.SECOND_PUBLISHER]
    assert bench.log.errors == ['/rival was there before']


def test_a_publisher_that_comes_is_flagged_counted_and_named_once() -> None:
    bench = Bench()
    bench.others.names = ('/rival',)
    for _ in range(3):
        bench.watch.look(DISCOVERY)
        assert bench.control.outside_flags == {Reason.SECOND_PUBLISHER}
        assert bench.gate.passes()
    assert bench.log.warnings == ['/rival publishes commands to /effort_controller too']
    assert bench.watch.counts[Reason.SECOND_PUBLISHER] == 1
    assert not bench.control.ended
    bench.others.names = ()
    bench.watch.look(2.0 * DISCOVERY)
    assert not bench.control.outside_flags


def looks_after(bench: Bench, *times: float) -> int:
    """Return how often a watch looks at everybody in so many glances."""
    before = bench.others.looks
    for now in times:
        bench.watch.glance(now)
    return bench.others.looks - before


def test_where_nobody_came_or_went_it_looks_at_everybody_once_a_second_only() -> None:
    bench = Bench()
    assert looks_after(bench, *np.arange(0.1, 5.0, 0.1)) == 4


def test_whoever_comes_is_looked_at_at_the_next_glance() -> None:
    bench = Bench()
    assert looks_after(bench, 0.1, 0.2) == 0
    bench.others.publishers = 2
    assert looks_after(bench, 0.3) == 1
    assert looks_after(bench, 0.4) == 0


@pytest.mark.parametrize('open_question', ['settled', 'undecided', 'flagged'])
def test_as_long_as_something_is_open_every_glance_is_a_look(open_question: str) -> None:
    bench = Bench()
    if open_question == 'settled':
        bench.controller.settled = False
    elif open_question == 'undecided':
        bench.others.undecided = True
    else:
        bench.others.names = ('/rival',)
        bench.watch.look(0.05)
    assert looks_after(bench, 0.1, 0.2, 0.3) == 3
