# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Observers: external efforts of the joints, contact, and the wrench at a link."""

from .external_effort import Contact, ExternalEffortMonitor
from .external_wrench import ExternalWrench
from .momentum_observer import MomentumObserver

__all__ = ['Contact', 'ExternalEffortMonitor', 'ExternalWrench', 'MomentumObserver']
