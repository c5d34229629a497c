# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Listeners on the command topic that come and go at random times, until the process is ended.

``python -m support.ros.listeners [seed] [at once]``; it prints the number of each that has come.
"""

import itertools
import random
import signal
import sys
import threading
import time
from typing import Any

import rclpy
from std_msgs.msg import Float64MultiArray

from support.ros.ros_process import end

TOPIC = '/effort_controller/commands'


def main(seed: int = 0, at_once: int = 3) -> None:
    """Let them come and go; each is a DDS participant of its own, as a recorder is."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    rng = random.Random(seed)
    listeners: list[tuple[Any, Any]] = []
    for number in itertools.count(1):
        context = rclpy.Context()
        rclpy.init(context=context)
        node = rclpy.create_node(f'listener_{number}', context=context, enable_rosout=False)
        node.create_subscription(Float64MultiArray, TOPIC, lambda _: None, 10)
        listeners.append((node, context))
        print('listener', number, flush=True)
        time.sleep(rng.uniform(0.0, 0.2))
        while len(listeners) > rng.randint(0, at_once):
            old, context = listeners.pop(rng.randrange(len(listeners)))
            # Once in some hundred times Fast DDS waits for ever in here.
            threading.Thread(target=end, args=(old, context), daemon=True).start()


if __name__ == '__main__':
    main(*map(int, sys.argv[1:]))
