# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What rclpy does not document: where it is missing, the start says so in one sentence."""

from types import SimpleNamespace

import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

import rclpy
from rclpy.parameter import Parameter

from rnea_ros.ros import NodeProcess, PolledNodeTime, rclpy_internals


def without(name: str, method: str) -> SimpleNamespace:
    """Return rclpy's compiled part without one method."""
    classes = {
        each: SimpleNamespace(**dict.fromkeys(methods))
        for each, methods in rclpy_internals.USED.items()
    }
    delattr(classes[name], method)
    return SimpleNamespace(**classes)


def test_this_rclpy_has_every_call() -> None:
    assert not rclpy_internals.missing()


@pytest.mark.parametrize(
    ('name', 'method'),
    [(name, method) for name, methods in rclpy_internals.USED.items() for method in methods],
)
def test_a_missing_call_is_named(name: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rclpy_internals, '_rclpy', without(name, method))
    assert rclpy_internals.missing() == [f'{name}.{method}']


def test_without_a_call_the_process_ends_with_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rclpy_internals, '_rclpy', None)
    with pytest.raises(SystemExit, match='2'):
        NodeProcess('feedforward', '', {}, [])
    (line,) = capfd.readouterr().err.splitlines()
    assert 'this version of rclpy lacks ' in line
    assert line.endswith('WaitSet.wait')


@pytest.mark.ros
def test_a_clock_that_rclpy_unsubscribed_itself_is_ignored(domain_id: int) -> None:
    """Lyrical's rclpy does so when use_sim_time becomes false, without a call of the node."""
    context = rclpy.Context()
    rclpy.init(args=[], context=context, domain_id=domain_id)
    node = PolledNodeTime('node', context=context)
    node.set_parameters([Parameter('use_sim_time', value=True)])
    subscription = node._sim_time
    assert subscription is not None
    subscription.subscription.destroy()
    for _ in range(2):
        node.set_time()
    assert not getattr(node, '_sim_time', True)
    node.destroy_node()
    context.try_shutdown()
