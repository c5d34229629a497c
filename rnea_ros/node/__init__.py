# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The node ``feedforward``.

The path of a joint state, or of a wrench, from the wire to the effort:

1. :mod:`rnea_ros.ros.polled_subscription` takes its bytes at a tick of :mod:`.loop`.
2. :mod:`rnea_ros.messages.fixed_layout` reads the bytes as a sample: names and arrays.
3. :mod:`.inputs` gives the sample, its stamp and its time of receipt to the control.
4. :mod:`rnea_ros.feedforward.inputs` checks it and keeps the measured joint state or wrench;
   ``inputs.wrench.wrench_inputs`` turns wrenches into joint efforts for the active law (5).
5. :mod:`rnea_ros.feedforward.controller` runs one tick: :mod:`~rnea_ros.feedforward.control_tick`
   computes the effort by :mod:`~rnea_ros.feedforward.active_law`, and limits it by
   :mod:`~rnea_ros.feedforward.effort_limiter`. From the active law it goes on to
   ``law.control_law``, ``law.loaded_model``, ``dynamics.workspace`` and ``kernels.rnea``.
6. :mod:`.loop` sends the command, if permitted, by :mod:`.publishers`.

A trajectory: :mod:`.activation` subscribes, :mod:`.motion_requests` judges;
:mod:`rnea_ros.feedforward.motion` lists the rest.

Arguments in all modules: ``values``, parameter values by name; ``now``, the loop's time, s, on the
executor monotonic time; ``clock``, the loop's clock; ``stamp``, of messages, s; ``controller``,
the control; ``joints``, the m commanded joints, or those of the effort controller.
"""
