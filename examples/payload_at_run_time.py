# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Tell the node ``feedforward`` about a payload while it runs, all of it in one request."""

from rcl_interfaces.srv import SetParametersAtomically
import rclpy
from rclpy.parameter import Parameter

LINK, MASS, COM = 'fer_link7', 2.0, [0.0, 0.0, 0.15]
"""Where it is mounted, kg, and its centre of mass in that link's frame, m."""


def main() -> None:
    """Set the payload; the effort changes smoothly, within ``ramp_duration``."""
    rclpy.init()
    node = rclpy.create_node('payload_at_run_time')
    client = node.create_client(
        SetParametersAtomically, 'feedforward/set_parameters_atomically'
    )
    assert client.wait_for_service(timeout_sec=60.0), 'no node feedforward'
    changes = {'payload.link': [LINK], 'payload.mass': [MASS], 'payload.com': COM}
    request = SetParametersAtomically.Request(
        parameters=[Parameter(name, value=value).to_parameter_msg()
                    for name, value in changes.items()]
    )
    answer = None
    while answer is None or not answer.done():  # a busy computer can lose the first answer
        answer = client.call_async(request)
        rclpy.spin_until_future_complete(node, answer, timeout_sec=2.0)
    result = answer.result().result
    assert result.successful, result.reason
    print(f'{MASS} kg on {LINK}')
    rclpy.shutdown()


if __name__ == '__main__':
    main()
