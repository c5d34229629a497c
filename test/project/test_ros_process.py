# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The DDS domains of the tests themselves."""

import os
from pathlib import Path
import tempfile
import threading
from typing import Any

import pytest

from benchmark.loop import domain
from support.ros import ros_process
from support.ros.ros_process import NO_ROS, new_domain_id, ros_node

pytest.importorskip('rclpy', reason=NO_ROS)

pytestmark = pytest.mark.ros


def test_a_domain_is_reused_only_when_it_is_empty() -> None:
    used, idle = new_domain_id(), new_domain_id()
    with ros_node(used):
        given = [new_domain_id() for _ in range(2 * ros_process.MAX_DOMAINS)]
        assert used not in given
        assert idle in given
    assert used in [new_domain_id() for _ in range(ros_process.MAX_DOMAINS)]


def test_a_domain_with_a_node_that_does_not_end_is_not_given_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hung, forever = new_domain_id(), threading.Event()
    end = ros_process.end

    def end_late(node: Any, context: Any) -> None:
        forever.wait()
        end(node, context)

    monkeypatch.setattr(ros_process, 'end', end_late)
    monkeypatch.setattr(ros_process, 'PATIENCE', 0.1)
    with ros_node(hung):
        pass
    try:
        assert hung not in [new_domain_id() for _ in range(2 * ros_process.MAX_DOMAINS)]
    finally:
        forever.set()


def test_a_domain_that_another_user_had_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(domain, 'sweep', lambda _: None)  # others may use it now
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setattr(tempfile, 'tempdir', folder)
        Path(folder).chmod(0o1777)
        with domain.own_domain() as given:
            pass
        (path,) = Path(folder).iterdir()
        path.chmod(0o444)
        user = os.geteuid()
        if user == 0:
            os.seteuid(65534)  # permissions do not count for root
        try:
            with domain.own_domain() as again:
                assert again == given
        finally:
            os.seteuid(user)
