# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The report of an identification: figures, text, picture; the same for a payload."""

from .figures import ReportFigures, figures
from .picture import picture
from .text import payload_json, payload_text, text

__all__ = ['ReportFigures', 'figures', 'payload_json', 'payload_text', 'picture', 'text']
