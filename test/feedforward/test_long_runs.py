# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the control keeps from tick to tick does not grow, whatever comes."""

import gc
import tracemalloc
from typing import Any

import numpy as np

from rnea_ros.feedforward import State
from rnea_ros.feedforward.laws import ComputedTorque
from rnea_ros.feedforward.settings import BaseSensorSettings, WrenchInputSettings
from rnea_ros.robot import Payload
from support.control.control_rig import PANDA_POSE, Rig, panda_arm, setpoint, swing

TICKS = 1250
"""Between two looks at the memory; a single number kept in each tick is 40 kB."""

ALLOWED = 30_000
"""By how much memory may differ, bytes: counters that got longer, and what Python caches."""


def live(rig: Rig) -> None:
    """Let motions, payloads and messages come, of which some are bad."""
    joints, controller = rig.model.joint_names, rig.controller
    assert controller.base is not None
    for k in range(TICKS):
        rig.wait()
        rig.q[:] = np.array(PANDA_POSE) + 1e-3 * (k % 7)
        rig.feed(names=joints if k % 3 else [*reversed(joints), f'joint_{k % 150}'], q=None)
        rig.feed(stamp=rig.now - 1.0 if k % 5 == 0 else rig.now)
        if k % 100 == 0:
            rig.controller.follow(setpoint(joints, rig.q, 0.1), None)
        if k % 500 == 0:
            rig.controller.follow(swing(joints, rig.q, rig.q + 0.1, 0.5), rig.now + 0.1)
            rig.change(payloads=(Payload('fer_link8', 1.0 + k // 500),))
        if k == 0:
            rig.controller.tare()
        force = np.full(3, np.nan if k % 50 == 0 else 1.0)
        turn = [100.0 if k % 70 == 0 else 0.0] * 3
        when: dict[str, Any] = dict.fromkeys(('stamp', 'clock', 'received'), rig.now)
        flange = controller.wrenches.sensors['flange'].monitor
        flange.take_sample('fer_link8', force, np.zeros(3), **when)
        controller.base.imu.take_sample('fer_link0', None, turn, [0.0, 0.0, 9.81], **when)
        rig.controller.step(rig.now)


def test_what_the_control_keeps_does_not_grow_with_its_ticks() -> None:
    rig = Rig(
        panda_arm(), q=PANDA_POSE, mode=ComputedTorque, kp=(100.0,), kd=(20.0,),
        ramp_duration=0.01, wrench_inputs=(WrenchInputSettings('flange', 'ft', 'fer_link8'),),
        base_sensor=BaseSensorSettings(),
    )
    live(rig)
    kept = []
    tracemalloc.start()
    try:
        for _ in range(2):
            live(rig)
            gc.collect()
            kept.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert rig.state() in (State.ACTIVE, State.DEGRADED)
    assert len(rig.states.rejections) > 1
    assert kept[1] - kept[0] < ALLOWED, kept
