# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Asks a feedforward node's services, as chance will have it: parameters, tares, transitions."""

from collections import Counter
import math
import time
from typing import Any

from lifecycle_msgs.srv import ChangeState
import numpy as np
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger

from support.ros.ros_process import wait_until

REQUESTS = ('good parameter', 'bad parameter', 'tare', 'impossible transition')

GOOD_PARAMETERS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ('mode', ('computed_torque', 'gravity', 'feedforward', 'gravity_feedback', 'feedback')),
    ('gains.kp', ([4.0], [9.0])), ('gains.kd', ([4.0], [6.0])),
    ('compensate_coriolis', (True, False)), ('friction.model', ('none', 'urdf', 'parameters')),
    ('friction.smoothing_velocity', ([0.05], [0.2])), ('payload.mass', ([0.0], [0.5], [1.0])),
    ('payload.com', ([0.0, 0.0, 0.0], [0.0, 0.0, 0.1])), ('payload.blend_duration', (0.0, 0.5)),
    ('contact.action', ('none', 'flag', 'hold', 'gravity')),
)
BAD_PARAMETERS: tuple[tuple[str, Any], ...] = (
    ('mode', 'levitate'), ('mode', 3), ('contact.action', 'strike back'), ('gains.kp', [-1.0]),
    ('gains.kp', [math.nan]), ('gains.kd', [1.0, 2.0]), ('gains.kd', []),
    ('friction.coulomb', [math.inf]), ('payload.link', ['nose']), ('payload.mass', [-1.0]),
    ('payload.inertia', [1.0, 0.0]), ('payload.blend_duration', -1.0), ('rate', 1e9),
    ('joints', ['a', 'a']), ('armature', [0.1]), ('effort_limits', [1e9]),
    ('command_topic', 'elsewhere'), ('nonsense', 1.0),
)

ANSWER_PAUSE = 0.004
"""Time in which the request that is being made is made, s."""


class Requests:
    """
    Asks services, only while ``asking`` is set.

    :param node: asks; spun elsewhere
    :param rng: chance
    :ivar sent: number of requests by kind
    :ivar results: number of answers by kind
    :ivar lost: number of requests without an answer by kind
    """

    def __init__(self, node: Any, rng: np.random.Generator) -> None:
        self.asking = False
        self.sent: Counter[str] = Counter()
        self.results: Counter[str] = Counter()
        self.lost: Counter[str] = Counter()
        self._unanswered: list[tuple[str, Any]] = []
        self._rng = rng
        self._set = node.create_client(SetParameters, 'feedforward/set_parameters')
        self._change = node.create_client(ChangeState, 'feedforward/change_state')
        self._tare = node.create_client(Trigger, 'feedforward/tare')

    def cease_to_ask(self) -> None:
        """
        Ask no more, and wait until all is answered that was asked.

        Where the machine stalls, DDS now and then drops an answer; :attr:`lost` counts them.
        """
        self.asking = False
        time.sleep(ANSWER_PAUSE)  # the request that is being made
        if not wait_until(lambda: all(future.done() for _, future in self._unanswered)):
            self.lost.update(what for what, future in self._unanswered if not future.done())
        self._unanswered.clear()

    def forget_answers(self) -> None:
        """Stop requests: the node is about to end."""
        self.asking = False
        time.sleep(ANSWER_PAUSE)
        self._unanswered.clear()

    def make(self, chance: float) -> None:
        """
        Make a request.

        :param chance: from 0 to 1
        """
        if chance < 0.83:
            self._set_parameters()
        elif chance < 0.94:
            self._ask(self._tare, Trigger.Request(), 'tare')
        else:
            request = ChangeState.Request()
            # None is possible while the node is active, or before it is configured.
            request.transition.id = int(self._rng.choice([0, 2, 50, 99, 255]))
            self._ask(self._change, request, 'impossible transition')

    def _set_parameters(self) -> None:
        rng = self._rng
        good = rng.random() < 0.5
        if good:
            name, values = GOOD_PARAMETERS[rng.integers(len(GOOD_PARAMETERS))]
            chosen = [(name, values[rng.integers(len(values))])]
        else:
            chosen = [BAD_PARAMETERS[rng.integers(len(BAD_PARAMETERS))]]
        # An empty list has no type of its own.
        parameters = [
            Parameter(name, Parameter.Type.DOUBLE_ARRAY if value == [] else None, value)
            for name, value in chosen
        ]
        request = SetParameters.Request(
            parameters=[parameter.to_parameter_msg() for parameter in parameters]
        )
        self._ask(self._set, request, f'{"good" if good else "bad"} parameter')

    def _ask(self, client: Any, request: Any, what: str) -> None:
        if not (self.asking and client.service_is_ready()):
            return
        self.sent[what] += 1
        future = client.call_async(request)
        self._unanswered.append((what, future))
        future.add_done_callback(lambda done: self._note(what, done))

    def _note(self, what: str, future: Any) -> None:
        response = future.result()
        if response is None:
            return
        results = getattr(response, 'results', [response])
        for result in results:
            success = getattr(result, 'successful', getattr(result, 'success', None))
            self.results[f'{what}: {"done" if success else "rejected"}'] += 1
