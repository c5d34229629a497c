# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The panel's server serves its own page only, and publishes nothing."""

from collections.abc import Iterator
import socket
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip('viser', reason='viser is not installed')

import viser
from viser import _messages
from viser.infra import _infra
from websockets.asyncio import server as websockets
from websockets.exceptions import InvalidStatus
from websockets.sync import client

from rnea_ros.panel.server import Server, UnguardedError
from support.models.robots import ROOT

EVIL = 'evil.example'
connect: Any = client.connect


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server('127.0.0.1', 18180)
    yield server
    server.stop()


def answer(server: Server, origin: str | None, host: str) -> int:
    """Return the status for a WebSocket of a host to a page of an origin, without the port."""
    port = server.get_port()
    try:
        with socket.create_connection(('127.0.0.1', port)) as link, connect(
            f'ws://{host}:{port}', sock=link, origin=origin and f'{origin}:{port}',
            subprotocols=[f'viser-v{viser.__version__}'], proxy=None,
        ) as connection:
            assert connection.recv(timeout=10.0)
            return 101
    except InvalidStatus as error:
        return int(error.response.status_code)


@pytest.mark.parametrize(('origin', 'host', 'accepted'), [
    ('http://127.0.0.1', '127.0.0.1', True), ('http://localhost', 'localhost', True),
    (f'http://{socket.gethostname()}', socket.gethostname(), True),
    ('http://192.0.2.1', '192.0.2.1', True), (None, 'localhost', True),  # not a browser
    (f'https://{EVIL}', '127.0.0.1', False), ('http://localhost', '127.0.0.1', False),
    (f'http://localhost.{EVIL}', 'localhost', False), ('null', 'localhost', False),
    (f'http://{EVIL}', EVIL, False),  # DNS rebinding
])
def test_only_its_own_page_is_accepted(
    server: Server, origin: str | None, host: str, accepted: bool
) -> None:
    assert answer(server, origin, host) == (101 if accepted else 403)


def test_a_page_of_another_port_is_refused(server: Server) -> None:
    port = server.get_port()
    with pytest.raises(InvalidStatus, match='403'):
        connect(f'ws://localhost:{port}', origin=f'http://localhost:{port + 1}', proxy=None)


def test_a_browser_cannot_ask_for_a_public_address(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    tunnels: list[Any] = []
    monkeypatch.setattr('viser._viser.ViserTunnel', lambda *arguments: tunnels.append(arguments))
    handlers = server._websock_server._incoming_handlers[_messages.ShareUrlRequest]
    assert handlers
    for handler in handlers:
        handler(0, _messages.ShareUrlRequest())
    server._thread_executor.shutdown(wait=True)
    assert not tunnels


def test_a_viser_that_cannot_be_guarded_is_not_served(monkeypatch: pytest.MonkeyPatch) -> None:
    ports: list[int] = []

    def serve(*arguments: Any, **options: Any) -> Any:
        ports.append(arguments[2])
        return original(*arguments, **options)

    original, real = websockets.serve, _infra.websockets
    monkeypatch.setattr(_infra, 'websockets', SimpleNamespace(
        asyncio=SimpleNamespace(server=SimpleNamespace(serve=serve)),
        datastructures=real.datastructures, exceptions=real.exceptions,
    ))
    with pytest.raises(UnguardedError, match='this version of viser'):
        Server('127.0.0.1', 18180)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(('127.0.0.1', ports[-1]))
    assert websockets.serve is original


@pytest.mark.parametrize('path', ['rnea_ros/tools/panel.py', 'examples/arms_in_browser.py'])
def test_every_page_is_guarded(path: str) -> None:
    text = (ROOT / path).read_text(encoding='utf-8')
    assert 'ViserServer(' not in text
    assert ' Server(' in text
