# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The process of a node: its command line, its start, and the signals that end it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
import functools
import re
import signal
import sys
import threading
import time
import traceback
from typing import Any, NoReturn, TypeVar

import rclpy
from rclpy.exceptions import NameValidationException
from rclpy.executors import SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args

from ..command_line import BAD_INPUT, node_parser
from ..errors import InputError, RneaError, clipped, one_line

Started = TypeVar('Started')

REFUSALS = (
    NameValidationException,
    rclpy_implementation.RCLError,
    rclpy_implementation.UnknownROSArgsError,
)

SOURCE_PLACE = re.compile(r', at /\S+:\d+')
"""Where in its own code ROS noticed something."""


PAUSE = 0.01
"""After an exception in a callback, so that one that repeats leaves time for the rest, s."""


Transition = Callable[[Any, LifecycleState], TransitionCallbackReturn]


class RosError(RneaError):
    """ROS refuses an argument, or a name."""


class NodeProcess:
    """
    The process of a node, until SIGINT or SIGTERM.

    A command line that cannot be used ends it with one line and exit code 2.

    :param name: of the executable
    :param description: what it is, for ``--help``
    :param parameters: of the node: default and description by name, for ``--help``
    :param arguments: of the command line; None for those of the process
    """

    def __init__(
        self,
        name: str,
        description: str,
        parameters: Mapping[str, tuple[Any, str]],
        arguments: Sequence[str] | None,
    ) -> None:
        self._name = name
        given = sys.argv[1:] if arguments is None else list(arguments)
        try:
            own = without_ros_arguments(given)
            node_parser(name, description, parameters).parse_args(own)
            with ros_errors():
                rclpy.init(args=given, signal_handler_options=SignalHandlerOptions.NO)
        except RosError as error:
            self._refuse(error)
        self._ended = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self._ended.set())

    def start(self, make: Callable[[], Started]) -> Started:
        """
        Return what is made; where it refuses to be, the process ends with one line and code 2.

        :param make: such as the class of a node
        """
        try:
            with ros_errors():
                return make()
        except RneaError as error:
            self._refuse(error)

    def spin(self, *nodes: Any, running: Callable[[], bool] = lambda: True) -> None:
        """
        Run nodes until a signal comes.

        What a callback raises is logged, and the nodes go on: the process must not end with an
        effort applied.

        :param running: looked at ten times a second; ends it too where it returns False
        """
        executor = SingleThreadedExecutor()
        for node in nodes:
            executor.add_node(node)
        logger = rclpy.logging.get_logger(self._name)
        while running() and not self._ended.is_set():
            try:
                executor.spin_once(timeout_sec=0.1)
            except Exception:
                logger.error(traceback.format_exc(), throttle_duration_sec=1.0)
                time.sleep(PAUSE)

    def _refuse(self, error: RneaError) -> NoReturn:
        rclpy.logging.get_logger(self._name).fatal(one_line(error))
        rclpy.try_shutdown()
        sys.exit(BAD_INPUT)


def without_ros_arguments(arguments: Sequence[str]) -> list[str]:
    """
    Return the arguments of a command line that are not for ROS.

    :raises RosError: those that are for ROS, which it refuses
    """
    with ros_errors():
        return list(remove_ros_args(['', *arguments])[1:])


@contextmanager
def ros_errors() -> Iterator[None]:
    """
    Let what ROS refuses in the block be told in one line.

    :raises RosError: in place of rclpy's own errors for arguments and names
    """
    try:
        yield
    except rclpy_implementation.UnknownROSArgsError as error:
        raise RosError(f'unknown ROS arguments {error}') from error
    except REFUSALS as error:
        raise RosError(SOURCE_PLACE.sub('', one_line(error)).rstrip(' ^')) from error


def logged_transition(transition: Transition) -> Transition:
    """Log what a lifecycle transition raises: rclpy turns it into an error without a word."""

    @functools.wraps(transition)
    def wrapper(node: Any, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            return transition(node, state)
        except Exception:
            node.get_logger().error(f'{transition.__name__} failed: {traceback.format_exc()}')
            return TransitionCallbackReturn.ERROR

    return wrapper


def check_topic(node: Any, parameter: str, topic: str) -> None:
    """
    Check the name of a topic, or of a node, that a parameter gives.

    :raises InputError: ROS would not take it
    """
    try:
        with ros_errors():
            node.resolve_topic_name(topic)
    except RosError as error:
        raise InputError(parameter, clipped(f'{topic!r}: {error}', 200)) from error
