# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""For tests of the demo: an arm that is not shipped, and recorded motions with a known error."""

from dataclasses import replace
from typing import Any

import numpy as np

from rnea_ros.recordings import Sample
from support.models.robots import joint, link, robot

FRICTION = '<dynamics damping="10" friction="2"/>'

ODD_ARM = robot(
    link('base', 0.0),
    link('column', 2.0, (0.0, 0.0, 0.1), (0.001, 0.0, 0.0, 0.001, 0.0, 0.01)),
    link('upper', 1.5, (0.2, 0.0, 0.0), (0.001, 0.0, 0.0, 0.01, 0.0, 0.01)),
    link('lower', 0.5, (0.1, 0.0, 0.02), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
    link('finger', 0.02, inertia=(1e-6, 0.0, 0.0, 1e-6, 0.0, 1e-6)),
    joint('yaw', 'revolute', 'base', 'column', more=FRICTION),
    joint('pitch', 'continuous', 'column', 'upper', xyz=(0, 0, 0.3), axis=(0, 1, 0)),
    joint('elbow', 'revolute', 'upper', 'lower', xyz=(0.4, 0, 0), axis=(0, 1, 0), more=FRICTION),
    joint('grip', 'prismatic', 'lower', 'finger', xyz=(0.2, 0, 0), more=FRICTION).replace(
        'lower="-3" upper="3"', 'lower="0" upper="0.03"'
    ),
)
"""A joint without limits, friction above the effort of the feedback, inertias of no body."""


def with_error(phase: Any, error: float) -> Any:
    """Return a phase of the demo in which every joint is off by an error, rad or m."""
    t = np.linspace(0.0, phase.motion.duration, 200)
    states = [
        Sample(phase.start + time, phase.joints, position, (), ())
        for time, position in zip(t, phase.motion.at(t)[0] + error, strict=True)
    ]
    return replace(phase, received=replace(phase.received, states=states))
