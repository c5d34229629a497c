# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The node ``feedforward``.

The path of a joint state, or of a wrench, from the wire to the effort:

1. :mod:`rnea_ros.ros.rclpy_internals` takes its bytes at a tick of :mod:`.loop`.
2. :mod:`rnea_ros.messages.fixed_layout` reads the bytes as a sample: names and arrays.
3. :mod:`.inputs` gives the sample, its stamp and its time of receipt to the control.
4. :mod:`rnea_ros.feedforward.measured` checks a joint state, :mod:`rnea_ros.feedforward.wrench` a
   wrench; each keeps the newest valid one.
5. :mod:`rnea_ros.feedforward.controller` runs one tick: :mod:`~rnea_ros.feedforward.wrench` turns
   wrenches into joint efforts, :mod:`~rnea_ros.feedforward.laws` computes the effort, by
   ``loaded_model``, ``dynamics.workspace`` and ``kernels.rnea``, and
   :mod:`~rnea_ros.feedforward.limiter` limits it.
6. :mod:`.loop` sends the command by :mod:`.publishers`, if :mod:`.command_topic` permits.

A trajectory: :mod:`.activation` subscribes, :mod:`.motion_requests` has the request compiled by
:mod:`rnea_ros.feedforward.motion`, and the control follows the result from its next tick on.

Arguments in all modules: ``values``, parameter values by name; ``now``, the loop's time, s, on the
executor monotonic time; ``clock``, the loop's clock; ``stamp``, of messages, s; ``controller``,
the control; ``joints``, the m commanded joints, or those of the effort controller.
"""
