# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters of the node ``trajectory_effort``: its own, and some of the node ``feedforward``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rclpy.parameter import Parameter

from ..errors import InputError
from ..feedforward.settings import PARAMETERS as NODE_PARAMETERS
from ..feedforward.settings import NodeSettings, all_declarations
from ..parameters import Declaration, check_ranges, declarations_of, from_values, parameter

_SHARED = (
    'strict_inertia', 'gravity', 'hardware_compensates', 'hardware_gravity', 'command_scale',
    'friction.model', 'friction.viscous', 'friction.coulomb', 'friction.viscous_negative',
    'friction.coulomb_negative',
    'friction.load', 'friction.smoothing_velocity', 'friction.offset', 'armature',
    'payload.link', 'payload.mass', 'payload.com', 'payload.inertia', 'effort_limits',
    'differentiate_velocity', 'interpolation', 'start_tolerance', 'allow_partial_joints_goal',
    'allow_nonzero_velocity_at_trajectory_end', 'use_trajectory_effort',
)
# Parameters of the robot model, which is made once.
_MODEL_PARAMETERS = ('strict_inertia', 'gravity', 'differentiate_velocity')

@dataclass(frozen=True)
class TrajectoryEffortSettings:
    """Parameters of this node only."""

    trajectory_topic: str = parameter(
        'joint_trajectory_controller/joint_trajectory',
        'topic to which trajectories with efforts are passed on', read_only=True
    )
    joints: tuple[str, ...] = parameter(
        ('',), "the trajectory controller's joints; ['']: its parameter 'joints'", read_only=True
    )
    resample: float = parameter(
        0.02,
        'longest time between two points, s, at least 0.001, as the controller interpolates '
        'efforts linearly; 0: only the given points',
        span=(0.0, 10.0),
    )
    joint_states_timeout: float = parameter(
        0.5, 'age of joint states above which every trajectory is rejected, s', span=(0.1, 3600.0)
    )


PARAMETERS: Mapping[str, Declaration] = {
    'robot_description': replace(NODE_PARAMETERS['robot_description'], read_only=True),
    **declarations_of(TrajectoryEffortSettings),
    **{
        name: replace(NODE_PARAMETERS[name], read_only=name in _MODEL_PARAMETERS)
        for name in _SHARED
    },
    'hardware_compensates': replace(
        NODE_PARAMETERS['hardware_compensates'],
        summary="what the robot's own controller adds to every command: none, or some of "
        "gravity | friction | payload; ['']: as none",
    ),
}


def values_of(node: Any, changes: Iterable[Parameter] = ()) -> dict[str, Any]:
    """Return all values by name, with changes; unused ones of ``feedforward`` are defaults."""
    table = all_declarations((), ())
    values = {name: declaration.default for name, declaration in table.items()}
    values.update({name: node.get_parameter(name).value for name in PARAMETERS})
    values.update({change.name: change.value for change in changes if change.name in PARAMETERS})
    NodeSettings.of({**values, 'joint_states_timeout': 0.0})
    check_ranges(from_values(TrajectoryEffortSettings, values))
    if 0.0 < values['resample'] < 1e-3:
        raise InputError('resample', f'{values["resample"]} s is below 0.001 s and not 0')
    return values
