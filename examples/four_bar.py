# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Dynamics of a four-bar: a tree with one cut joint."""

import numpy as np

import rnea_ros
from rnea_ros.closed_loops import ClosedLoopModel, LoopJoint
from rnea_ros.dynamics.tree import Placement

BAR = """<link name="{0}"><inertial><origin xyz="{1} 0 0"/><mass value="{2}"/>
<inertia ixx="0" ixy="0" ixz="0" iyy="{3}" iyz="0" izz="{3}"/></inertial></link>"""
JOINT = """<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{0}"/>
<origin xyz="{2} 0 0"/><axis xyz="0 -1 0"/></joint>"""


def four_bar() -> ClosedLoopModel:
    """Return the linkage; the ground pivots are 100 mm apart."""
    urdf = '<robot name="four_bar"><link name="ground"/>'
    for name, length, mass in (
        ('crank', 0.04, 0.2), ('coupler', 0.12, 0.5), ('rocker', 0.08, 0.3)
    ):
        urdf += BAR.format(name, length / 2, mass, mass * length**2 / 12)
    for name, parent, x in (
        ('crank', 'ground', 0), ('coupler', 'crank', 0.04), ('rocker', 'ground', 0.1)
    ):
        urdf += JOINT.format(name, parent, x)
    tree = rnea_ros.RobotModel.from_urdf(urdf + '</robot>')
    pin = LoopJoint(
        'pin', 'revolute', 'coupler', 'rocker',
        Placement.from_xyz_rpy((0.12, 0, 0), (0, 0, 0)),     # frame 1 in the coupler
        Placement.from_xyz_rpy((0.08, 0, 0), (0, 0, 0)),     # frame 2 in the rocker
        axis=(0, 1, 0),
    )
    return ClosedLoopModel(tree, [pin], ['crank'], guess=(0.7, -0.3, 1.0))


def main() -> tuple[float, float, float]:
    """Return the angles of coupler and rocker, degrees, and the crank's acceleration, rad/s^2."""
    linkage = four_bar()
    q = linkage.positions([np.radians(40)])                  # crank, coupler, rocker
    tau = linkage.inverse_dynamics(q, [5.0], [20.0])         # effort of the crank's motor
    coupler, rocker = np.degrees([q[0] + q[1], q[2]])
    print(f'coupler {coupler:.2f}, rocker {rocker:.2f} degrees; motor {1e3 * tau[0]:.1f} mN m')
    return float(coupler), float(rocker), float(linkage.forward_dynamics(q, [5.0], tau)[0])


if __name__ == '__main__':
    main()
