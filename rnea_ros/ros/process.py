# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The process of a node: command line, signals, transitions."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
import functools
import math
import re
import signal
import sys
import time
import traceback
from typing import Any, NoReturn, TypeVar

import rclpy
from rclpy.exceptions import NameValidationException
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args

from ..command_line import BAD_INPUT, node_parser
from ..errors import InputError, RneaError, clipped, one_line
from .rclpy_internals import ROS_ERROR, UNKNOWN_ARGUMENTS, missing

Made = TypeVar('Made')

ARGUMENT_ERRORS = (NameValidationException, ROS_ERROR, UNKNOWN_ARGUMENTS)

SOURCE_LOCATION = re.compile(r', at /\S+:\d+')  # source file and line in the messages of ROS
SAME_STOP = 0.5  # time in which signals count once, s: launch repeats one that its group got
PAUSE = 0.01  # pause after an exception in a callback, so that repeated ones leave some time, s

# Signals that end a node in good order. A closed terminal and a lost SSH connection send SIGHUP;
# SIGXCPU announces a kill for a limit of processor time.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU)

# Signals that keep their default effect: crashes; suspend and resume; without effect; SIGKILL. All
# others are ignored: by default they kill a process, and nobody sends them to a node on purpose.
UNTOUCHED = (
    signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSYS,
    signal.SIGTRAP, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU,
    signal.SIGCONT, signal.SIGCHLD, signal.SIGURG, signal.SIGWINCH, signal.SIGKILL,
)


class RosError(RneaError):
    """ROS rejects a command-line argument, or the name of a node or topic."""


class NodeProcess:
    """
    The process of a node; it runs until a signal of :data:`ENDING`.

    SIGHUP stays ignored if it is ignored at the start, as with ``nohup``. An invalid command line
    ends the process with one log line and exit code 2.

    :param parameters: default and description by name, for ``--help``
    :param arguments: of the command line; None for those of the process
    :ivar signals: number of signals of :data:`ENDING`; those within :data:`SAME_STOP` count once
    """

    def __init__(
        self, name: str, description: str, parameters: Mapping[str, tuple[Any, str]],
        arguments: Sequence[str] | None,
    ) -> None:
        self._name = name
        words = sys.argv[1:] if arguments is None else list(arguments)
        try:
            if lacking := missing():
                raise RosError(f'this version of rclpy lacks {", ".join(lacking)}')
            own = without_ros_arguments(words)
            node_parser(name, description, parameters).parse_args(own)
            with ros_errors():
                rclpy.init(args=words, signal_handler_options=SignalHandlerOptions.NO)
        except RosError as error:
            self._reject(error)
        self.signals, self._signalled_at = 0, -math.inf
        atexit.register(_ignore_signals)
        for number in signal.valid_signals().difference(UNTOUCHED):
            before = signal.getsignal(number)
            with_nohup = number == signal.SIGHUP and before is signal.SIG_IGN
            if number in ENDING and not with_nohup:
                signal.signal(number, self._on_signal)
            elif before is signal.SIG_DFL:
                signal.signal(number, signal.SIG_IGN)

    def create(self, make: Callable[[], Made]) -> Made:
        """Create a node; an RneaError ends the process with one log line and exit code 2."""
        try:
            with ros_errors():
                return make()
        except RneaError as error:
            self._reject(error)

    def spin(
        self, *nodes: Any, running: Callable[[], bool] = lambda: True,
        finishing: Callable[[], bool] = lambda: False,
    ) -> None:
        """
        Run nodes until a signal of :data:`ENDING`.

        An exception in a callback is only logged: the process must not end with an effort applied.

        :param running: called ten times a second; False ends the run too
        :param finishing: called repeatedly at the end; True runs the nodes a little longer
        """
        executor = SingleThreadedExecutor()
        for node in nodes:
            executor.add_node(node)
        logger = rclpy.logging.get_logger(self._name)
        while (running() and not self.signals) or finishing():
            try:
                executor.spin_once(timeout_sec=0.1)
            except Exception:
                logger.error(traceback.format_exc(), throttle_duration_sec=1.0)
                time.sleep(PAUSE)

    def _on_signal(self, *_: object) -> None:
        """Count a signal, without locks: another one may interrupt this method."""
        now = time.monotonic()
        if now - self._signalled_at > SAME_STOP:
            self._signalled_at = now
            self.signals += 1

    def _reject(self, error: RneaError) -> NoReturn:
        rclpy.logging.get_logger(self._name).fatal(one_line(error))
        rclpy.try_shutdown()
        sys.exit(BAD_INPUT)


def _ignore_signals() -> None:
    """Ignore the signals that end a node: while Python ends, it restores their default effect."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def without_ros_arguments(arguments: Sequence[str]) -> list[str]:
    """Return the arguments that are not for ROS; raise a RosError for an invalid one of ROS."""
    with ros_errors():
        return list(remove_ros_args(['', *arguments])[1:])


@contextmanager
def ros_errors() -> Iterator[None]:
    """Turn rclpy's errors about arguments and names into a RosError of one line."""
    try:
        yield
    except ARGUMENT_ERRORS as error:
        unknown = type(error).__name__ == 'UnknownROSArgsError'
        reason = SOURCE_LOCATION.sub('', one_line(error)).rstrip(' ^')
        raise RosError(f'unknown ROS arguments {reason}' if unknown else reason) from error


def transition(
    step: Callable[[Any], None]
) -> Callable[[Any, LifecycleState], TransitionCallbackReturn]:
    """
    Return a lifecycle callback of a method; an exception is logged, which rclpy does not do.

    An RneaError rejects a configure or an activate with one line. Every other one is logged with
    its traceback, and the node goes to ``on_error``.
    """
    name = step.__name__

    @functools.wraps(step)
    def callback(node: Any, _: LifecycleState) -> TransitionCallbackReturn:
        try:
            with ros_errors():
                step(node)
        except Exception as error:
            if isinstance(error, RneaError) and name in ('on_configure', 'on_activate'):
                node.get_logger().error(f'cannot {name[3:]}: {error}')
                return TransitionCallbackReturn.FAILURE
            node.get_logger().error(f'{name} failed: {traceback.format_exc()}')
            return TransitionCallbackReturn.ERROR
        return TransitionCallbackReturn.SUCCESS

    return callback


def check_topic(node: Any, parameter: str, topic: str) -> None:
    """Raise an InputError for a parameter whose value is not a name of a topic or node."""
    try:
        with ros_errors():
            node.resolve_topic_name(topic)
    except RosError as error:
        raise InputError(parameter, clipped(f'{topic!r}: {error}', 200)) from error
