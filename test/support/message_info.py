# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Callbacks of subscriptions that take ``(message, info)``, on Humble too."""

import inspect
from typing import Any

from rclpy import executors, subscription


def pass_message_info() -> None:
    """Let all executors of this process pass the info; later distributions do it themselves."""
    if hasattr(subscription.Subscription, 'CallbackType'):
        return
    for name, method in (('take', _take), ('execute', _execute)):
        setattr(executors.Executor, f'_{name}_subscription', method)


def _take(_: Any, taken_from: Any) -> Any:
    with taken_from.handle:
        return taken_from.handle.take_message(taken_from.msg_type, taken_from.raw)


async def _execute(_: Any, taken_from: Any, taken: Any) -> None:
    if taken is not None:
        parameters = inspect.signature(taken_from.callback).parameters.values()
        needed = sum(each.default is each.empty for each in parameters)
        await executors.await_or_execute(taken_from.callback, *taken[: max(needed, 1)])
