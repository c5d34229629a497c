# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The node ``feedforward``.

From the wire to the effort: :mod:`rnea_ros.ros.rclpy_internals` takes bytes at a tick of
:mod:`.loop`, :mod:`rnea_ros.messages.fixed_layout` reads a sample from them, :mod:`.inputs` gives
it to the control, :mod:`rnea_ros.feedforward.controller` runs the tick, and the loop sends the
command by :mod:`.publishers`, if :mod:`.command_topic` permits. A trajectory comes by
:mod:`.motion_requests`; the control follows it from its next tick on.

Arguments in all modules: ``values``, parameter values by name; ``now``, the loop's time, s, on the
executor monotonic time; ``clock``, the loop's clock; ``stamp``, of messages, s; ``controller``,
the control; ``joints``, the m commanded joints, or those of the effort controller.
"""
