# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The control with its joint states, sensors and clock, not yet in a loop."""

from __future__ import annotations

from ..feedforward import FeedforwardController, JointBounds, JointStateMonitor, Reason, State
from ..ros import Clock, MachineClock, SimClock
from .configuration import Configuration
from .inputs import SensorTopics


class Control:
    """A new control of the configured robot; it goes on with the tares of the one before."""

    def __init__(self, configuration: Configuration) -> None:
        setup, settings = configuration.setup, configuration.setup.settings
        for subscription in configuration.inputs:
            subscription.take()  # discard older messages
        model = setup.model
        self.states = JointStateMonitor(
            model.joint_names, JointBounds.of_robot(model, settings),
            differentiate_velocity=setup.parameters.reference.differentiate_velocity,
        )
        controller = self.controller = FeedforwardController(model, settings, self.states)
        controller.wrenches.use_offsets(configuration.offsets)
        self.clock: Clock = MachineClock()
        if configuration.sim_clock is not None:
            self.clock = SimClock(
                configuration.sim_clock,
                lambda now: controller.enter_fault(Reason.CLOCK_RESET, now),
            )
        self.inputs = SensorTopics(
            self.states, controller, configuration.joint_states,
            configuration.wrenches, configuration.imu, self.clock,
        )

    def step_unpermitted(self) -> bool:
        """Step without commands; return whether all joint states and wrenches are valid."""
        now, controller = self.clock.now(), self.controller
        controller.permitted = False
        for take in (self.inputs.take_joint_states, *self.inputs.take_others):
            take(now)
        controller.step(now)
        sensors = controller.wrenches.sensors.values()
        return controller.state is State.READY and all(sensor.fresh(now) for sensor in sensors)
