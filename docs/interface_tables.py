# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Topics and services of the nodes, for the interface reference.

Tests compare these tables with what the nodes really have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rnea_ros.node.publishers import TERMS

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
    :param optional: it needs a package that nothing else needs
    """

    name: str
    type: str
    meaning: str
    qos: str = ''
    optional: bool = False


@dataclass(frozen=True)
class NodeInterface:
    """
    Topics, services and actions of a node.

    :param name: of the node
    :param about: links to the pages that explain it
    :param lifecycle: whether it is a lifecycle node
    """

    name: str
    about: str
    subscribes: Sequence[Endpoint]
    publishes: Sequence[Endpoint]
    services: Sequence[Endpoint] = ()
    actions: Sequence[Endpoint] = ()
    lifecycle: bool = False


COMMANDS = 'std_msgs/msg/Float64MultiArray'
DIAGNOSTICS = Endpoint(
    '/diagnostics', 'diagnostic_msgs/msg/DiagnosticArray', 'once a second', RELIABLE
)

TERM_MEANINGS: Mapping[str, str] = {
    'gravity': 'gravity torques',
    'coriolis': 'Coriolis and centrifugal efforts',
    'inertia': 'efforts for the reference acceleration',
    'friction': 'friction compensation',
    'external': 'compensation of measured wrenches',
    'feedback': 'gains times tracking error, and `damping`',
    'trajectory': 'efforts given in the trajectory',
    'soft_limits': 'efforts away from position limits',
    'additional': 'efforts from `~/additional_effort`',
    'limited': 'change of the sum by ramps and limits',
    'sum': 'their sum, the commanded effort',
}

FEEDFORWARD = NodeInterface(
    'feedforward',
    '[Control laws and states](control.md), [trajectories](trajectories.md), '
    '[wrenches](wrenches.md), [external effort](external_effort.md), [moving base](base.md), '
    '[real time](real_time.md). `~/effort`, `~/external_*`, `~/terms/*` and `~/reference` '
    '(100 Hz) are published only while there is a subscriber.',
    subscribes=(
        Endpoint(
            'robot_description', 'std_msgs/msg/String',
            'URDF; not read if the parameter `robot_description` is set', LATCHED,
        ),
        Endpoint(
            'joint_states', 'sensor_msgs/msg/JointState',
            'matched by name; several publishers are allowed; QoS can be overridden', BEST_EFFORT,
        ),
        Endpoint(
            '~/joint_trajectory', 'trajectory_msgs/msg/JointTrajectory',
            'reference motion, or a set-point (one point at time 0)', RELIABLE,
        ),
        Endpoint(
            '~/target_pose', 'geometry_msgs/msg/PoseStamped',
            'where [`cartesian_impedance`](cartesian_impedance.md) goes', RELIABLE,
        ),
        Endpoint(
            '~/additional_effort', 'sensor_msgs/msg/JointState',
            '[efforts of another program](hand_guiding.md#additional-efforts), if '
            '`additional_effort.limits` is set',
            BEST_EFFORT,
        ),
        Endpoint(
            'parameter:wrench_inputs.<name>.topic', 'geometry_msgs/msg/WrenchStamped',
            'force-torque sensor', BEST_EFFORT,
        ),
        Endpoint(
            'parameter:base_sensor.topic', 'sensor_msgs/msg/Imu',
            'IMU on the base', BEST_EFFORT,
        ),
        Endpoint(
            'parameter:speed_scaling_topic', 'std_msgs/msg/Float64',
            'speed factor of the robot', RELIABLE,
        ),
        Endpoint(
            'parameter:controller_state_topic', 'control_msgs/msg/JointTrajectoryControllerState',
            'reference of a [trajectory controller](trajectory_controllers.md)',
            BEST_EFFORT,
            optional=True,
        ),
        Endpoint(
            'effort_controller/commands/watchdog', COMMANDS,
            "the watchdog's commands, on `<command_topic>/watchdog`: after a stall the control "
            'starts from them',
            BEST_EFFORT,
        ),
        Endpoint(
            '/clock', 'rosgraph_msgs/msg/Clock', 'with `use_sim_time`', BEST_EFFORT
        ),
    ),
    publishes=(
        Endpoint(
            'parameter:command_topic', COMMANDS,
            "efforts in the controller's order and unit (`command_scale`), at `rate` while active",
            RELIABLE,
        ),
        Endpoint(
            '~/effort', 'sensor_msgs/msg/JointState',
            'the same with joint names, in N m or N', RELIABLE,
        ),
        Endpoint(
            '~/external_effort', 'sensor_msgs/msg/JointState',
            '[efforts of the environment](external_effort.md) on the joints', RELIABLE,
        ),
        Endpoint(
            '~/external_wrench', 'geometry_msgs/msg/WrenchStamped',
            'wrench of the environment on `external_effort.link`, if that is set', RELIABLE,
        ),
        *(
            Endpoint(
                f'~/terms/{name}', 'sensor_msgs/msg/JointState',
                TERM_MEANINGS[name], RELIABLE,
            )
            for name in (*TERMS, 'limited', 'sum')
        ),
        Endpoint(
            '~/reference', 'sensor_msgs/msg/JointState',
            'positions of the reference motion, while there is one', RELIABLE,
        ),
        Endpoint(
            '~/wrench/<name>', 'geometry_msgs/msg/WrenchStamped',
            '[external wrench](wrenches.md#published-wrench) of a force-torque sensor', RELIABLE,
        ),
        DIAGNOSTICS,
    ),
    services=(
        Endpoint(
            '~/tare', 'std_srvs/srv/Trigger',
            '[tares](wrenches.md#tare) the force-torque sensors; also while the node is inactive',
        ),
        Endpoint(
            '~/rest', 'std_srvs/srv/Trigger',
            'moves the arm to [`rest_pose`](control.md#rest-pose), and answers with the duration',
        ),
    ),
    actions=(
        Endpoint(
            '~/follow_joint_trajectory', 'control_msgs/action/FollowJointTrajectory',
            'motions with [tolerances](trajectories.md#action), feedback and a result, for '
            '[MoveIt](moveit.md); only if `control_msgs` is installed',
            optional=True,
        ),
    ),
    lifecycle=True,
)

SIMULATED_ROBOT = NodeInterface(
    'simulated_robot',
    'Simulates a robot under ros2_control with MuJoCo at 1 kHz. Brakes hold it until the first '
    'command. Parameters are read at the start.',
    subscribes=(
        Endpoint(
            '~/hand', 'trajectory_msgs/msg/JointTrajectory',
            'path along which a hand guides the joints, by springs and dampers; an empty '
            'trajectory releases them',
            RELIABLE,
        ),
    ),
    publishes=(
        Endpoint('robot_description', 'std_msgs/msg/String', 'the URDF', LATCHED),
        Endpoint(
            'joint_states', 'sensor_msgs/msg/JointState',
            'at `state_rate`; the effort is the applied one, in units of `effort_scale`', RELIABLE,
        ),
        Endpoint(
            'force_torque_sensor_broadcaster/wrench', 'geometry_msgs/msg/WrenchStamped',
            'in-line sensor in front of `wrench_link`, if that is set', RELIABLE,
        ),
        Endpoint(
            '/clock', 'rosgraph_msgs/msg/Clock',
            'simulated time at 1 kHz, with `publish_clock`', RELIABLE,
        ),
    ),
)

EFFORT_CONTROLLER = NodeInterface(
    'effort_controller',
    "The simulated robot's forward controller, named by the parameter `controller`. It has the "
    'read-only parameters `joints` and `interface_name`.',
    subscribes=(
        Endpoint(
            '~/commands', COMMANDS,
            'as in ros2_control: a command of wrong length stops the controller; the last command '
            'acts for ever',
            RELIABLE,
        ),
    ),
    publishes=(),
)

EFFORT_WATCHDOG = NodeInterface(
    'effort_watchdog',
    '[The watchdog](watchdog.md). Parameters are read at the start.',
    subscribes=(
        Endpoint('parameter:command_topic', COMMANDS, 'the watched commands', BEST_EFFORT),
    ),
    publishes=(
        Endpoint(
            'parameter:command_topic', COMMANDS,
            'ramp to zero and zeros, only when commands stop', RELIABLE,
        ),
        Endpoint(
            'effort_controller/commands/watchdog', COMMANDS,
            'the same, on `<command_topic>/watchdog`, for the watched node', RELIABLE,
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
            'URDF; not read if the parameter `robot_description` is set', LATCHED,
        ),
        Endpoint(
            'joint_states', 'sensor_msgs/msg/JointState', 'start of motions', BEST_EFFORT
        ),
        Endpoint(
            '~/joint_trajectory', 'trajectory_msgs/msg/JointTrajectory',
            'input', RELIABLE,
        ),
    ),
    publishes=(
        Endpoint(
            'parameter:trajectory_topic', 'trajectory_msgs/msg/JointTrajectory',
            'the same motion with efforts', RELIABLE,
        ),
        DIAGNOSTICS,
    ),
)

TELEOPERATION = NodeInterface(
    'teleoperation',
    '[Leader and follower](teleoperation.md). `leader` and `follower` are the namespaces in the '
    'parameters of these names.',
    subscribes=(
        Endpoint(
            'leader/robot_description', 'std_msgs/msg/String',
            'URDF; not read with the parameter `leader_description`, or without `leader_node`',
            LATCHED,
        ),
        Endpoint(
            'follower/robot_description', 'std_msgs/msg/String',
            'URDF; not read if the parameter `follower_description` is set', LATCHED,
        ),
        Endpoint(
            'leader/joint_states', 'sensor_msgs/msg/JointState', 'motion to follow', BEST_EFFORT
        ),
        Endpoint(
            'follower/joint_states', 'sensor_msgs/msg/JointState', 'where it is', BEST_EFFORT
        ),
        Endpoint(
            'leader/feedforward/external_effort', 'sensor_msgs/msg/JointState',
            'shows that the node is active; with `leader_node` only', BEST_EFFORT,
        ),
        Endpoint(
            'follower/feedforward/external_effort', 'sensor_msgs/msg/JointState',
            'shows that the node is active; what the leader feels', BEST_EFFORT,
        ),
        Endpoint(
            'parameter:dead_man_topic', 'std_msgs/msg/Bool', 'dead-man switch', BEST_EFFORT
        ),
    ),
    publishes=(
        Endpoint(
            'follower/feedforward/joint_trajectory', 'trajectory_msgs/msg/JointTrajectory',
            'set-points: one point at time 0', RELIABLE,
        ),
        Endpoint(
            'leader/feedforward/additional_effort', 'sensor_msgs/msg/JointState',
            'what the leader feels', RELIABLE,
        ),
        DIAGNOSTICS,
    ),
)
