# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Feedforward control of one robot. Time is an argument: no ROS, no clock, no thread.

An argument means the same in all modules, and is described only where it does not:

- ``model``, ``robot``: the robot with n joints, and its dynamics with payloads, on its base;
  ``states``: measured state of all n joints
- ``settings``: checked settings, with m commanded ``joints``; another ``configure`` is for the
  same joints
- ``now``: monotonic time, s; ``dt``: time since the last tick, s
- ``stamp``: stamp of a message, s; 0 for none, its order is then not checked. ``clock``: time of
  the clock that gives the stamps, s. ``received``: monotonic time of receipt, s
- ``q``, ``qd``, ``qdd``: joint positions, velocities and accelerations, shape (n,), with rad or m;
  efforts: N m or N
- ``reason``: why something is rejected or ends; a function that accepts returns None
- ``rules``: rules for the commanded joints' trajectories
"""

from ..modes import MODES
from .cartesian_impedance import CartesianImpedance
from .controller import FeedforwardController
from .joint_samples import JointBounds
from .laws import LAWS
from .measured import JointStateMonitor
from .reasons import Reason
from .settings import acceleration_limits, check_efforts
from .state import CONTROLLING, Snapshot, State

__all__ = [
    'CONTROLLING', 'CartesianImpedance', 'FeedforwardController', 'JointBounds',
    'JointStateMonitor', 'Reason', 'Snapshot', 'State', 'acceleration_limits', 'check_efforts',
]

if (*LAWS,) != MODES:
    raise TypeError(f'rnea_ros.modes lists {MODES}; the laws are {(*LAWS,)}')
