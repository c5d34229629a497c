# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Read what the commanded efforts consist of: gravity, friction, feedback and the others."""

from functools import partial

import rclpy
from sensor_msgs.msg import JointState

TERMS = ('gravity', 'coriolis', 'inertia', 'friction', 'external', 'feedback', 'limited')


def main() -> dict[str, list[float]]:
    """Return one message of each term, N m or N by joint, and print them."""
    rclpy.init()
    node = rclpy.create_node('read_terms')
    found: dict[str, list[float]] = {}
    joints: list[str] = []

    def store(term: str, message: JointState) -> None:
        joints[:] = message.name
        found[term] = list(message.effort)

    for term in TERMS:  # published only while somebody listens
        node.create_subscription(JointState, f'feedforward/terms/{term}', partial(store, term), 1)
    while len(found) < len(TERMS):
        rclpy.spin_once(node)
    print(f'{"N m or N":24}', *(f'{term:>9}' for term in TERMS))
    for k, joint in enumerate(joints):
        print(f'{joint:24}', *(f'{found[term][k]:9.2f}' for term in TERMS))
    rclpy.shutdown()
    return found


if __name__ == '__main__':
    main()
