# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""viser's server, closed to other web pages and to viser's public tunnel."""

from __future__ import annotations

from contextlib import suppress
from ipaddress import ip_address
import socket
from typing import Any
from urllib.parse import urlsplit

from viser import ViserServer
import websockets.asyncio.server

from ..errors import RneaError


class UnguardedError(RneaError):
    """Other web pages could use the server."""


class Server(ViserServer):
    """Serves its own page only; viser itself accepts WebSockets of every web page."""

    def __init__(self, host: str, port: int = 8080) -> None:
        module: Any = websockets.asyncio.server
        serve, guards = module.serve, []
        name = socket.gethostname().lower()
        own = ('localhost', host, name, f'{name}.local')

        def guarded(*args: Any, process_request: Any = None, **options: Any) -> Any:
            def checked(connection: Any, request: Any) -> Any:
                if 'Origin' in request.headers:
                    origin = urlsplit(request.headers['Origin'])
                    known = origin.hostname in own or _is_address(origin.hostname)
                    if origin.netloc != request.headers.get('Host') or not known:
                        return connection.respond(403, 'not for other web pages\n')
                return process_request and process_request(connection, request)

            guards.append(checked)
            return serve(*args, process_request=checked, **options)

        # viser has no option for it. Its constructor returns when the server listens.
        module.serve = guarded
        try:
            super().__init__(host, port, label='rnea_ros', verbose=False)
        finally:
            module.serve = serve
        if not guards:
            self.stop()
            raise UnguardedError('this version of viser lets other web pages in; use viser 1.1.1')

    def request_share_url(self, verbose: bool = True) -> None:
        """Publish nothing: any client may ask for a public address at share.viser.studio."""


def _is_address(host: str | None) -> bool:
    """Return whether a host is an IP address; foreign names can be led here (DNS rebinding)."""
    with suppress(ValueError):
        return bool(ip_address(host or ''))
    return False
