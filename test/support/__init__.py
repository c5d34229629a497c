# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
What the tests share, from small to large. Take the first that suffices.

- ``models``: robots and random trees; ``oracles`` and ``oracle_pairs`` compare with Pinocchio,
  MuJoCo and plain numpy. ``recorded``: recordings of real and of exactly known arms, and bags.
- ``control``: one part of the control on the bench, without ROS, where time is a number:
  ``control_rig.Rig`` for the whole control, ``wrench_rig`` and ``base_rig`` for sensors,
  ``closed_loop`` for control and simulated robot together.
- ``ros.virtual_node``: the node in virtual time; ``ros.fake_robot`` and
  ``ros.ros_process``: the node as a process over DDS, with a robot made of topics.
- ``fuzz``: random command lines, files, parameters and URDFs.
- ``cases``: many small cases in one test. ``python_process``: code in another Python process.
  ``tools``: a command-line tool in the test's process.
"""
