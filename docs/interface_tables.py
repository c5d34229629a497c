# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Topics, services and diagnostics of the nodes, for the interface reference.

Tests compare these tables with what the nodes really have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rnea_ros.node.outputs import TERMS

BEST_EFFORT = 'best effort'
RELIABLE = 'reliable'
LATCHED = 'reliable, latched'


@dataclass(frozen=True)
class Endpoint:
    """
    A topic that a node reads or writes, or a service that it serves.

    :param name: as in the code; ``~`` is the node, ``parameter:x`` is named by the parameter x
    :param type: of its messages
    :param meaning: one line
    :param qos: of a topic
    :param optional: it is only there where a package is that nothing else needs
    """

    name: str
    type: str
    meaning: str
    qos: str = ''
    optional: bool = False


@dataclass(frozen=True)
class NodeInterface:
    """
    What a node has beside its parameters.

    :param name: of the node
    :param about: where more is told
    :param lifecycle: whether it is a lifecycle node
    """

    name: str
    about: str
    subscribes: Sequence[Endpoint]
    publishes: Sequence[Endpoint]
    services: Sequence[Endpoint] = ()
    lifecycle: bool = False


COMMANDS = 'std_msgs/msg/Float64MultiArray'
DIAGNOSTICS = Endpoint(
    '/diagnostics', 'diagnostic_msgs/msg/DiagnosticArray', 'once a second; keys below', RELIABLE
)

TERM_MEANINGS: Mapping[str, str] = {
    'gravity': 'what holds the robot',
    'coriolis': 'Coriolis and centrifugal efforts',
    'inertia': 'what the wanted acceleration needs',
    'friction': 'what is added for friction',
    'external': 'what is taken off for wrenches',
    'feedback': 'what the gains make of the error',
    'trajectory': "efforts of the trajectory's points",
    'limited': 'what ramps and limits changed of the sum of the others',
}

FEEDFORWARD = NodeInterface(
    'feedforward',
    '[Control laws and states](control.md), [trajectories](trajectories.md), '
    '[wrenches](wrenches.md), [a base that moves](base.md), [real time](real_time.md)',
    subscribes=(
        Endpoint(
            'robot_description', 'std_msgs/msg/String',
            'the URDF; the parameter of the same name wins where it is set', LATCHED,
        ),
        Endpoint(
            'joint_states', 'sensor_msgs/msg/JointState',
            'matched by name, from any number of publishers; QoS may be overridden', BEST_EFFORT,
        ),
        Endpoint(
            '~/joint_trajectory', 'trajectory_msgs/msg/JointTrajectory',
            'the wanted motion; one point at time 0 is a set-point. While active', RELIABLE,
        ),
        Endpoint(
            'parameter:wrench_inputs.<name>.topic', 'geometry_msgs/msg/WrenchStamped',
            'a force-torque sensor', BEST_EFFORT,
        ),
        Endpoint(
            'parameter:base_sensor.topic', 'sensor_msgs/msg/Imu',
            'how the base tilts or moves', BEST_EFFORT,
        ),
        Endpoint(
            'parameter:speed_scaling_topic', 'std_msgs/msg/Float64',
            'how far the robot slows motions down. While active', RELIABLE,
        ),
        Endpoint(
            'parameter:controller_state_topic', 'control_msgs/msg/JointTrajectoryControllerState',
            'what a [trajectory controller](trajectory_controllers.md) wants, with '
            '`reference_source: controller_state`',
            BEST_EFFORT,
            optional=True,
        ),
        Endpoint(
            '/clock', 'rosgraph_msgs/msg/Clock', 'simulated time, with `use_sim_time`', BEST_EFFORT
        ),
    ),
    publishes=(
        Endpoint(
            'parameter:command_topic', COMMANDS,
            "efforts in the controller's order, `rate` times a second while active", RELIABLE,
        ),
        Endpoint(
            '~/effort', 'sensor_msgs/msg/JointState',
            'the same with names, while somebody listens', RELIABLE,
        ),
        *(
            Endpoint(
                f'~/terms/{name}', 'sensor_msgs/msg/JointState',
                f'{TERM_MEANINGS[name]}; 100 Hz, while somebody listens', RELIABLE,
            )
            for name in (*TERMS, 'limited')
        ),
        DIAGNOSTICS,
    ),
    services=(
        Endpoint(
            '~/tare', 'std_srvs/srv/Trigger',
            'zeroes the force-torque sensors: [tare](wrenches.md#tare). Refused while the node is '
            'not active',
        ),
    ),
    lifecycle=True,
)

SIMULATED_ROBOT = NodeInterface(
    'simulated_robot',
    'What a robot under ros2_control shows of itself: physics by MuJoCo at 1 kHz, brakes that '
    'hold until the first command. All parameters are read at the start.',
    subscribes=(),
    publishes=(
        Endpoint('robot_description', 'std_msgs/msg/String', 'the URDF', LATCHED),
        Endpoint(
            'joint_states', 'sensor_msgs/msg/JointState',
            '`state_rate` times a second; the effort is the one that acted', RELIABLE,
        ),
        Endpoint(
            'force_torque_sensor_broadcaster/wrench', 'geometry_msgs/msg/WrenchStamped',
            'an in-line sensor above `wrench_link`, where that is set', RELIABLE,
        ),
        Endpoint(
            '/clock', 'rosgraph_msgs/msg/Clock',
            'simulated time, 1000 times a second, with `publish_clock`', RELIABLE,
        ),
    ),
)

EFFORT_CONTROLLER = NodeInterface(
    'effort_controller',
    "The simulated robot's second node stands for ros2_control's forward controller (its name is "
    'the parameter `controller`). It has the parameters `joints` and `interface_name` of a real '
    'one, read-only.',
    subscribes=(
        Endpoint(
            '~/commands', COMMANDS,
            'taken as ros2_control takes it: a wrong length ends the controller, the last command '
            'stays for ever',
            RELIABLE,
        ),
    ),
    publishes=(),
)

EFFORT_WATCHDOG = NodeInterface(
    'effort_watchdog',
    '[The watchdog](watchdog.md). All parameters are read at the start.',
    subscribes=(
        Endpoint('parameter:command_topic', COMMANDS, 'the commands it watches', BEST_EFFORT),
    ),
    publishes=(
        Endpoint(
            'parameter:command_topic', COMMANDS,
            'a ramp to zero and zeros, after a silence only', RELIABLE,
        ),
        DIAGNOSTICS,
    ),
)

TRAJECTORY_EFFORT = NodeInterface(
    'trajectory_effort',
    '[Efforts for a trajectory controller](trajectory_controllers.md).',
    subscribes=(
        Endpoint(
            'robot_description', 'std_msgs/msg/String',
            'the URDF; the parameter of the same name wins where it is set', LATCHED,
        ),
        Endpoint(
            'joint_states', 'sensor_msgs/msg/JointState', 'where motions begin', BEST_EFFORT
        ),
        Endpoint(
            '~/joint_trajectory', 'trajectory_msgs/msg/JointTrajectory',
            'to be given efforts and passed on', RELIABLE,
        ),
    ),
    publishes=(
        Endpoint(
            'parameter:trajectory_topic', 'trajectory_msgs/msg/JointTrajectory',
            'the same motion with efforts at every point', RELIABLE,
        ),
        DIAGNOSTICS,
    ),
)

CONTROL_DIAGNOSTICS: Mapping[str, str] = {
    'state': '[state](control.md#states) of the control',
    'reason': 'what ended it, or ends it; empty: nothing did',
    'flags': 'what is wrong while it goes on',
    'mode': 'control law in force',
    'target_rate': 'Hz, the parameter `rate`',
    'achieved_rate': "ticks a second of the loop's clock since the last report, Hz",
    'late_ticks': 'ticks over half a period late, since activation',
    'missed_ticks': 'ticks that were skipped, since activation',
    'unprompted_ticks': 'ticks that no joint states set off though they should, since activation',
    'cpu_share': 'of one core, by the whole process',
    'speed_scaling': 'the factor that is in force',
    'joint_states_age': 'since the oldest of the newest was received, s',
    'saturated_joints': 'at their effort limit',
    'stale_wrenches': 'sensors whose term fades or has faded',
    'overloaded_joints': 'those that `limits_cannot_hold` is about',
    'effort_controller': '`absent`, `withheld` or `confirmed`: '
    '[the command topic](control.md#the-command-topic)',
    'other_publishers': 'other nodes that publish on the command topic',
    'lateness_p50_us': 'how late ticks begin: median, microseconds',
    'lateness_p99_us': '99th percentile',
    'lateness_max_us': 'maximum',
    'compute_p50_us': 'time that a tick takes: median, microseconds',
    'compute_p99_us': '99th percentile',
    'compute_max_us': 'maximum',
}

COUNTS: Mapping[str, str] = {
    'joint_states': '[joint states](control.md#states) that were refused, and clock steps',
    'wrenches': 'readings that were refused, of all [sensors](wrenches.md)',
    'base_sensor': "messages of the [base's IMU](base.md#when-it-goes-silent) that were refused",
    'joint_trajectory': '[trajectories](trajectories.md#what-is-refused) that were refused',
    'speed_scaling': 'values that were refused: `out_of_range`',
    'controller_state': "a [trajectory controller's](trajectory_controllers.md) references that "
    'were refused',
    '': 'how often something was flagged',
}

FOLLOWING_DIAGNOSTICS: Mapping[str, str] = {
    'controller_state_age': 'since the newest reference was received, s',
    'controller_state_speed': 'factor of speed that it came with',
}
"""Beside those of the control, with ``reference_source: controller_state``."""

EFFORT_DIAGNOSTICS: Mapping[str, str] = {
    'ready': 'whether a trajectory would be passed on',
    'missing': 'what that waits for',
    'refused_last': 'why the newest trajectory was refused; empty: it was not',
    'passed_on': 'how many trajectories were',
    'points': 'of the newest that was passed on',
    'greatest_share_of_limit': 'of an effort in it',
    'greatest_deviation': 'of straight lines between its efforts, N m or N',
}

WATCHDOG_DIAGNOSTICS: Mapping[str, str] = {
    'state': '[state](watchdog.md#what-it-does) of the watchdog',
    'last_command_age': 's',
    'acted': 'how often it took over',
    'handed_back': 'how often commands came again while it acted',
    'refused': 'commands that do not count: empty, or not finite',
}
