# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A recording played through the control: what would have been commanded, beside what was measured.

Without ROS and without a clock: the stamps of the recording are the time. To read:
:mod:`.recorded_robot`, :mod:`.playback`, :mod:`.residuals`, :mod:`.report`; :mod:`.review` puts
them together.
"""
