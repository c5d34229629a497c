# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The gate lets commands pass to those who were looked at, and to nobody else."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from rnea_ros.node.command_gate import LOOK_AGAIN, CommandGate


class Graph:
    """Somebody who publishes to a number of listeners, and is asked to look now and then."""

    def __init__(self) -> None:
        self.listeners = 1
        self.looks = 0

    def get_subscription_count(self) -> int:
        return self.listeners

    def create_guard_condition(self, callback: Callable[[], None]) -> SimpleNamespace:
        return SimpleNamespace(trigger=callback)

    def look(self) -> None:
        self.looks += 1


@pytest.fixture
def graph() -> Graph:
    return Graph()


@pytest.fixture
def gate(graph: Graph) -> CommandGate:
    return CommandGate(graph, graph, graph.look)


def test_nothing_passes_before_the_listeners_were_looked_at(gate: CommandGate) -> None:
    assert not gate.passes()


@pytest.mark.parametrize('listeners', [0, 1, 3])
def test_commands_pass_to_those_who_were_looked_at(
    gate: CommandGate, graph: Graph, listeners: int
) -> None:
    graph.listeners = listeners
    gate.open(gate.listeners())
    assert all(gate.passes() for _ in range(10))
    assert graph.looks == 0


@pytest.mark.parametrize('listeners', [0, 2])
def test_the_first_command_after_somebody_came_or_went_is_withheld_and_all_that_follow(
    gate: CommandGate, graph: Graph, listeners: int
) -> None:
    gate.open(1)
    assert gate.passes()
    graph.listeners = listeners
    assert not any(gate.passes() for _ in range(10))
    assert graph.looks == 10 // LOOK_AGAIN
    gate.open(listeners)
    assert gate.passes()


def test_what_was_looked_at_before_somebody_else_came_opens_nothing(
    gate: CommandGate, graph: Graph
) -> None:
    looked_at = gate.listeners()
    graph.listeners = 2
    gate.open(looked_at)
    assert not gate.passes()


def test_a_gate_that_is_shut_lets_nothing_pass_even_to_nobody(
    gate: CommandGate, graph: Graph
) -> None:
    gate.open(1)
    gate.shut()
    assert not gate.passes()
    graph.listeners = 0
    assert not gate.passes()
