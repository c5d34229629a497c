# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Keys of the nodes' diagnostics, for the interface reference; tests compare them."""

from __future__ import annotations

from collections.abc import Mapping

TELEOPERATION_DIAGNOSTICS: Mapping[str, str] = {
    'state': '`uncoupled`, `aligning` or `coupled`',
    'reason': 'why the arms are [not coupled](teleoperation.md#what-ends-the-coupling)',
    'uncoupled': 'how often they were uncoupled',
    'limited': 'joints of the follower that a limit keeps from following',
    'energy': 'energy that the feedback took from the leader in about 0.2 s, J',
    'damping': 'damping of the leader that keeps it passive, 1/s',
}

CONTROL_DIAGNOSTICS: Mapping[str, str] = {
    'state': '[state](control.md#states) of the control',
    'reason': 'why the control ended or is ending',
    'flags': 'current warnings',
    'mode': 'active control law',
    'achieved_rate': 'measured since the last report, Hz',
    'late_ticks': 'ticks more than half a period late, since activation',
    'missed_ticks': 'skipped ticks, since activation',
    'untriggered_ticks': 'ticks without a new joint state, with `trigger: joint_states`',
    'cpu_share': 'of the process, 1 is one core',
    'speed_scaling': 'current factor',
    'joint_states_age': 'age of the newest sample, of the commanded joint with the oldest one, s',
    'joint_states_rejected': 'why most joint states of the last second were rejected',
    'stale_joints': 'uncommanded joints whose last valid value counts, and why',
    'joint_state_publishers': 'nodes that publish joint states',
    'saturated_joints': 'joints at their effort limit',
    'stale_wrenches': 'sensors whose term is faded out or fading',
    'overloaded_joints': 'joints with `limits_cannot_hold`',
    'contact': '[joint in contact](external_effort.md#contact), its external effort and threshold '
    'when the contact began, N m or N',
    'external_wrench_determined': 'directions of `~/external_wrench` that the joints determine; '
    'below 6 near a singularity',
    'effort_controller': '`absent`, `withheld` or `confirmed`: '
    '[the command topic](control.md#the-command-topic)',
    'other_publishers': 'other publishers of the command topic',
    'lateness_p99_us': 'delay of the start of a tick: 99th percentile, microseconds',
    'lateness_max_us': 'maximum',
    'compute_p99_us': 'duration of a tick: 99th percentile, microseconds',
    'compute_max_us': 'maximum',
}

COUNTS: Mapping[str, str] = {
    'joint_states': (
        'rejected [joint states](control.md#checks-of-the-joint-states), and clock steps'
    ),
    'wrenches': 'rejected readings of all [sensors](wrenches.md)',
    'base_sensor': 'rejected messages of the [IMU](base.md#when-it-goes-silent)',
    'joint_trajectory': 'rejected [trajectories](trajectories.md#what-is-rejected)',
    'follow_joint_trajectory': 'rejected [goals](trajectories.md#action)',
    'target_pose': 'rejected [target poses](cartesian_impedance.md#target)',
    'speed_scaling': 'rejected factors: `out_of_range`',
    'additional_effort': 'rejected [additional efforts](hand_guiding.md#additional-efforts)',
    'controller_state': 'rejected references of a [trajectory '
    'controller](trajectory_controllers.md)',
    '': 'how often the flag was set',
}

FOLLOWING_DIAGNOSTICS: Mapping[str, str] = {
    'controller_state_age': 'age of the newest reference, s',
    'tare/<name>': 'offset of a force-torque sensor, and its age; empty before the first '
    '[tare](wrenches.md#tare)',
}
"""Additional keys with ``reference_source: controller_state``, and of each sensor."""

EFFORT_DIAGNOSTICS: Mapping[str, str] = {
    'ready': 'the node accepts trajectories',
    'missing': 'missing inputs',
    'rejected_last': 'reason, if the newest trajectory was rejected',
    'passed_on': 'number of trajectories passed on',
    'points': 'of the newest trajectory passed on',
    'greatest_share_of_limit': 'maximum of effort / limit in it',
    'greatest_deviation': 'maximum error of the linear interpolation of efforts, N m or N',
}

WATCHDOG_DIAGNOSTICS: Mapping[str, str] = {
    'state': '[state](watchdog.md#what-it-does) of the watchdog',
    'last_command_age': 's',
    'acted': 'number of ramps to zero',
    'handed_back': 'how often commands resumed during a ramp',
    'rejected': 'number of invalid commands: empty, or not finite',
}
