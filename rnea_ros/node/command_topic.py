# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The command topic: the effort controller and its joints, other nodes, permission to send."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
import math
import time
from typing import Any, NamedTuple

from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters

from ..errors import clipped
from ..feedforward import FeedforwardController, Reason
from ..ros import HINT, Endpoint, EndpointReader, OtherPublishers, PolledRequest

# If the first announcements of a node are lost, Fast DDS repeats them after 3 s. So a controller
# without a parameter service for the first time, s, counts as one without joints; a publisher that
# is discovered within the second time after the start, s, was there before.
SERVICE_TIMEOUT = DISCOVERY = 4.0

READ_INTERVAL = 0.01  # time between two readings until the graph is settled and complete, s
SETTLING_TIME = 0.1  # maximum delay of the graph behind the publisher's number of listeners, s


class Receiver(NamedTuple):
    """The effort controller as found last; replaced as a whole, so any thread may read it."""

    endpoints: frozenset[bytes] = frozenset()  # GIDs of its subscriptions of the topic
    joints: tuple[str, ...] | None = None      # empty: it names none; None: before its answer
    answered: bool = False                     # joints: answered, not for want of a service
    confirmed: frozenset[bytes] = frozenset()  # GIDs of those that take the commanded joints


class CommandTopic:
    """
    Finds the effort controller and other publishers; permits and monitors the commands.

    The controller is the node ``<topic>/..``. Its parameter ``joints`` is requested whenever a new
    subscription of it appears: it may have been restarted with other joints. Commands go to a
    controller of the commanded joints:

    - Other listeners (recorders, plots) have no effect then. If the user listed the joints and the
      graph shows no controller, any named listener but a watchdog counts as a driver.
    - If the controller has left, or a new one is not confirmed yet, commands are withheld from the
      same tick on. A controller of other joints ends the control.
    - DDS counts a new listener up to 0.1 s before the graph shows it with the name of its node.
      Commands wait for the name, because the listener may be the controller. They do not wait
      while a controller that has answered, or such a driver, takes the commands.

    Another publisher that is discovered soon after the start was there before: the control ends. A
    later one, such as one test command, is flagged and named; so is a second controller.

    :ivar appeared_at: when the newest of the controller's subscriptions was discovered, s
    :ivar unconfirmed: whether a listener is, or may be, a controller that is not confirmed yet
    :ivar counts: how often each flag was raised since the start
    """

    def __init__(self, node: Any, topic: str) -> None:
        self._node, self.topic = node, topic
        self.controller = topic.rpartition('/')[0]
        self.others = OtherPublishers(node, topic)
        self.receiver = Receiver()
        self.appeared_at = -math.inf
        self._request: PolledRequest[Any] = PolledRequest(
            node, GetParameters, f'{self.controller}/get_parameters',
            GetParameters.Request(names=['joints']),
        )
        self._endpoints = EndpointReader()
        self._control: FeedforwardController | None = None

    def begin(
        self, control: FeedforwardController, publisher: Any, *, joints_given: bool, now: float
    ) -> None:
        """Permit and monitor the commands of a control; ``joints_given``: by the user."""
        self._publisher, self._joints_given = publisher, joints_given
        self.receiver = self.receiver._replace(confirmed=frozenset())
        self.unconfirmed = self._permitted = self._ended = False
        self.counts: Counter[Reason] = Counter()
        self._known_others = frozenset(self.others.names)
        self._discovery_ends = now + DISCOVERY
        self._listeners = EndpointReader()
        self._last_count, self._last_receiver = -1, self.receiver
        self._next_read = self._settled_after = 0.0
        self._control = control

    def end(self) -> None:
        """Go on without a control."""
        self._control = None

    @property
    def joints(self) -> tuple[str, ...] | None:
        """The joints of the controller in its order; empty or None if they are not known."""
        return self.receiver.joints

    @property
    def missing(self) -> str:
        """Why the controller's joints are not known; empty if they are."""
        if not self.receiver.endpoints:
            return f'{self.controller} does not listen on {self.topic}; start it or set joints'
        if self.joints is None:
            return f'{self.controller} has not answered which joints it commands'
        return '' if self.joints else f'{self.controller} names no joints; set joints'

    @property
    def conflict(self) -> str:
        """Which other nodes prevent a start, in words: DDS lists a killed one for ten seconds."""
        if self.others.names:
            return self._second_publishers(self.others.names)
        return self._second_controller

    @property
    def controller_status(self) -> str:
        """Status of the effort controller: ``absent``, ``withheld`` or ``confirmed``."""
        endpoints, _, _, confirmed = self.receiver
        if not endpoints:
            return 'absent'
        return 'confirmed' if endpoints <= confirmed else 'withheld'

    def other_joints(self, commanded: Sequence[str]) -> str:
        """Return in words how the controller's joints differ from the commanded ones."""
        return f'{self.controller} takes commands {difference(self.joints or (), commanded)}'

    def poll(self, now: float, *, publishing: bool = True) -> None:
        """Find controller and publishers; ``publishing``: one of these is this node's own."""
        self._find_controller(now)
        self.others.poll(now, publishing)
        if self._control is not None:
            self._monitor(self._control, now)

    def check(self) -> bool:
        """
        Return whether the next command may be sent; for the loop's thread, before every command.

        If the number of listeners (1 us) or the controller has changed, the graph is read until it
        is settled and shows every listener.
        """
        now, receiver = time.monotonic(), self.receiver
        count = self._publisher.get_subscription_count()
        changed = count != self._last_count or receiver is not self._last_receiver
        if changed or now >= self._next_read:
            infos = self._node.get_subscriptions_info_by_topic(self.topic)
            listeners = self._listeners.read(infos, now)
            # A listener that the graph does not show, or not by name, may be the controller. Only
            # numbers can be compared: the publisher does not say which listeners it counts.
            complete = all(listener.node for listener in listeners) and count <= len(listeners)
            controllers = self._controllers(listeners)
            self._permitted = self._permits(listeners, controllers, receiver, complete)
            if changed:
                self._last_count, self._last_receiver = count, receiver
                self._settled_after = now + SETTLING_TIME
            unsettled = now < self._settled_after or not complete
            self._next_read = now + READ_INTERVAL if unsettled else math.inf
            self.unconfirmed = not self._permitted and (not complete or bool(controllers))
        return self._permitted

    def _permits(
        self, listeners: Sequence[Endpoint], controllers: frozenset[bytes], receiver: Receiver,
        complete: bool,
    ) -> bool:
        if controllers:
            return controllers <= receiver.confirmed and (receiver.answered or complete)
        drivers = (listener.node and not listener.is_watchdog for listener in listeners)
        return self._joints_given and (complete or any(drivers))

    def _controllers(self, listeners: Iterable[Endpoint]) -> frozenset[bytes]:
        return frozenset(gid for gid, node in listeners if node == self.controller)

    def _find_controller(self, now: float) -> None:
        """Look for the controller's subscriptions; send a request if due, or take the answer."""
        infos = self._node.get_subscriptions_info_by_topic(self.topic)
        present = self._controllers(self._endpoints.read(infos, now))
        new = present - self.receiver.endpoints
        if new:
            self.appeared_at = now
        if new or not present:
            self._request.restart()
            self._set(endpoints=present, joints=None, answered=False)
        self._set(endpoints=present)
        if not present or self.receiver.answered:
            return
        response = self._request.poll(now)
        if response is not None:
            self._set(joints=_joints(response), answered=True)
        elif (
            self.joints is None and not self._request.ready
            and now - self.appeared_at > SERVICE_TIMEOUT
        ):
            self._set(joints=())

    def _set(self, **fields: Any) -> None:
        """Replace the receiver if a field has changed."""
        receiver = self.receiver._replace(**fields)
        if receiver != self.receiver:
            self.receiver = receiver

    def _monitor(self, control: FeedforwardController, now: float) -> None:
        """Confirm the controller's joints; report and count other controllers and publishers."""
        joints, commanded = self.joints, control.joints
        if joints == commanded or (self._joints_given and joints == ()):
            self._set(confirmed=self.receiver.endpoints)
        elif joints is not None:
            self._end_control(
                Reason.CONTROLLER_JOINTS_CHANGED,
                f'{self.other_joints(commanded)} now; configure again',
            )
        new_others = frozenset(self.others.names) - self._known_others
        self._known_others |= new_others
        if new_others and now < self._discovery_ends:
            self._end_control(Reason.SECOND_PUBLISHER, self._second_publishers(new_others))
        else:
            for name in sorted(new_others):
                self._warn(f'{name} publishes commands to {self.controller} too')
        flags = {
            Reason.COMMANDS_WITHHELD: control.withheld,
            Reason.SECOND_PUBLISHER: bool(self.others.names),
            Reason.SECOND_CONTROLLER: bool(self._second_controller),
        }
        raised = frozenset(reason for reason, present in flags.items() if present)
        new = raised - control.outside_flags
        if Reason.SECOND_CONTROLLER in new:
            self._warn(self._second_controller)
        self.counts.update(new)
        control.outside_flags = raised

    def _second_publishers(self, names: Iterable[str]) -> str:
        return f'{", ".join(sorted(names))} publishes on {self.topic} already'

    @property
    def _second_controller(self) -> str:
        """Which number of controllers has one name, in words; empty if there is one or none."""
        number = len({Endpoint(gid, '').process for gid in self.receiver.endpoints})
        said = f'{number} controllers named {self.controller} listen on {self.topic}: {HINT}'
        return said if number > 1 else ''

    def _warn(self, text: str) -> None:
        self._node.get_logger().warning(text)

    def _end_control(self, reason: Reason, message: str) -> None:
        if not self._ended and self._control is not None:
            self._ended = True
            self._control.request_fault(reason)
            self._node.get_logger().error(message)


def difference(joints: Sequence[str], commanded: Sequence[str]) -> str:
    """Return in words how a controller's joints differ from the commanded ones."""
    absent = [name for name in commanded if name not in joints]
    more = [name for name in joints if name not in commanded]
    words = []
    if absent:
        words.append(f'without {", ".join(absent)}')
    if more:
        words.append(f'with {", ".join(more)}')
    if not words:
        words.append(f'in another order: {", ".join(joints)}')
    return clipped(' and '.join(words))


def _joints(response: Any) -> tuple[str, ...]:
    values = response.values
    if values and values[0].type == ParameterType.PARAMETER_STRING_ARRAY:
        return tuple(values[0].string_array_value)
    return ()
