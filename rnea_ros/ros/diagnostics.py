# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Diagnostics as a message."""

from __future__ import annotations

from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue


def diagnostic_array(
    stamp: Any, name: str, level: bytes, summary: str, values: dict[str, object]
) -> DiagnosticArray:
    """Return a DiagnosticArray with one status: a line and values by key."""
    status = DiagnosticStatus(
        level=level, name=name, message=summary, hardware_id='',
        values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
    )
    message = DiagnosticArray(status=[status])
    message.header.stamp = stamp
    return message
