# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Identification: recordings and a URDF to a model that fits the arm."""

from ..recordings import Recording, RecordingError, require_scipy
from .base_parameters import BaseParameters
from .comparison import Comparison, ModelErrors
from .identify import PRIOR_WEIGHT, identify
from .payload import PayloadFit, identify_payload, payload_parameters
from .result import Identification, JointDeviations, ParameterOrigin
from .run import IdentificationError, Run, load, run_from

__all__ = [
    'PRIOR_WEIGHT', 'BaseParameters', 'Comparison', 'Identification', 'IdentificationError',
    'JointDeviations', 'ModelErrors', 'ParameterOrigin', 'PayloadFit', 'Recording',
    'RecordingError', 'Run', 'identify', 'identify_payload', 'load', 'payload_parameters',
    'require_scipy', 'run_from',
]
