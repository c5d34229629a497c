# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Set the payload of the running node ``feedforward``, all of it in one request."""

import sys
import time

from rcl_interfaces.srv import SetParametersAtomically
import rclpy
from rclpy.parameter import Parameter

from rnea_ros.ros import RepeatedRequest

LINK, MASS, COM = 'fer_link7', 2.0, [0.0, 0.0, 0.15]
"""Link that carries it; mass, kg; centre of mass in that link's frame, m."""


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
    repeated = RepeatedRequest(client, request)  # a busy computer can lose the first answer
    end = time.monotonic() + 60.0
    while not repeated.poll() and time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.1)
    assert repeated.response, 'no answer from the node feedforward'
    result = repeated.response.result
    assert result.successful, result.reason
    print(f'{MASS} kg on {LINK}')
    rclpy.shutdown()


if __name__ == '__main__':
    try:
        main()
    except AssertionError as error:
        sys.exit(f'payload_at_run_time: {error}')
