# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Cartesian impedance on ``~/additional_effort``: the flange is a spring and damper.

The node ``feedforward`` in mode gravity carries the arm, limits these efforts and fades them out
if this process ends. Set ``additional_effort.limits`` in the node first.
"""

from contextlib import suppress

import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from rnea_ros import RobotModel
from rnea_ros.arrays import Array
from rnea_ros.interrupts import interrupts_held
from rnea_ros.resources import share_path

LINK = 'fer_link8'
STIFFNESS = np.array([20.0, 20.0, 20.0, 400.0, 400.0, 400.0])  # N m/rad and N/m, link's axes
NULL_STIFFNESS = 5.0  # N m/rad towards the first pose, without effect on the link


class CartesianImpedance:
    """Holds a link where it was, critically damped."""

    def __init__(self, model: RobotModel, q: Array) -> None:
        self.model, self.q0 = model, q.copy()
        self.target = model.forward_kinematics(q, LINK)

    def efforts(self, q: Array, qd: Array) -> Array:
        """Return the joint efforts, shape (n,), N m."""
        here = self.model.forward_kinematics(q, LINK)
        turn = here[:3, :3].T @ self.target[:3, :3]
        angle = 0.5 * (turn - turn.T)[[2, 0, 1], [1, 2, 0]]
        error = np.concatenate([angle, here[:3, :3].T @ (self.target - here)[:3, 3]])
        space = self.model.operational_space_dynamics(q, qd, LINK)
        values, vectors = np.linalg.eigh(space.inertia)
        mass, spring = vectors * np.sqrt(values) @ vectors.T, np.diag(np.sqrt(STIFFNESS))
        damping = mass @ spring + spring @ mass  # of the roots of inertia and stiffness
        J = space.jacobian
        force = STIFFNESS * error - damping @ (J @ qd)
        null = NULL_STIFFNESS * (self.q0 - q) - 2.0 * np.sqrt(NULL_STIFFNESS) * qd
        efforts: Array = J.T @ (force - space.inverse.T @ null) + null
        return efforts


class Impedance(Node):
    """Publishes the law's efforts for each joint state."""

    def __init__(self, model: RobotModel) -> None:
        super().__init__('cartesian_impedance')
        self.model = model
        self.law: CartesianImpedance | None = None
        self.distance = 0.0
        self.publisher = self.create_publisher(JointState, 'feedforward/additional_effort', 1)
        self.create_subscription(JointState, 'joint_states', self.on_joint_states, 1)
        self.create_timer(1.0, self.show)

    def on_joint_states(self, states: JointState) -> None:
        """Answer a joint state; the first one sets the pose that is held."""
        order = [states.name.index(name) for name in self.model.joint_names]
        q, qd = np.array(states.position)[order], np.array(states.velocity)[order]
        self.law = self.law or CartesianImpedance(self.model, q)
        here = self.model.forward_kinematics(q, LINK)
        self.distance = float(np.linalg.norm((here - self.law.target)[:3, 3]))
        efforts = self.law.efforts(q, qd)
        message = JointState(name=self.model.joint_names, effort=efforts.tolist())
        message.header.stamp = states.header.stamp  # in the robot's time, simulated or not
        self.publisher.publish(message)

    def show(self) -> None:
        """Print how far the link is from where it is held, once a second."""
        held = 'waiting for joint_states'
        if self.law is not None:
            force = STIFFNESS[-1] * self.distance
            held = f'{LINK} is {1e3 * self.distance:.1f} mm away, pulled back by {force:.1f} N'
        print(held, flush=True)


def main() -> None:
    """Hold the flange of the shipped Panda until Ctrl-C."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = Impedance(RobotModel.from_urdf(share_path('urdf/panda_arm.urdf')))
    with interrupts_held() as interrupted:  # Ctrl-C ends it between two messages
        while not interrupted():
            rclpy.spin_once(node, timeout_sec=0.1)
        rclpy.shutdown()


if __name__ == '__main__':
    with suppress(KeyboardInterrupt):
        main()
