"""A page waits for its site while the machine gets an interface, as each container brings one.

A program for a network namespace of its own:

    disturbed.py own|flags    prints what became of the page's request
"""

from __future__ import annotations

import asyncio
import socket
import sys
from contextlib import AsyncExitStack
from typing import Final

from aiohttp import web

from orchestrator.browser.process import namespace_keeper
from orchestrator.browser.process.chromium import BrowserOptions
from orchestrator.browser.process.launch import launch
from orchestrator.browser.session.context import SessionOptions
from orchestrator.gateway.policy import Policy, Route, SocketAddress
from orchestrator.gateway.server import Gateway

# How long Chromium may take to notice; it is told at once where a request breaks off.
_TAKES_NOTICE_S: Final = 4.0
_PAGE: Final = """<!doctype html><title>waits</title><script>
// More than Chromium has connections to one host: some wait for theirs.
Promise.all([...Array(9).keys()].map(each => fetch(`/slow?${each}`)))
  .then(() => 'arrived', String).then(it => fetch('/told?it=' + encodeURI(it)))
</script>"""


async def _became(isolated: bool) -> str:  # noqa: FBT001
    asked, told = asyncio.Event(), asyncio.get_running_loop().create_future()
    disturbed = asyncio.Event()

    async def page(_: web.Request) -> web.Response:
        return web.Response(text=_PAGE, content_type="text/html")

    async def slow(_: web.Request) -> web.Response:
        asked.set()
        await disturbed.wait()
        return web.Response(text="here")

    async def hear(request: web.Request) -> web.Response:
        if not told.done():
            told.set_result(request.query["it"])
        return web.Response()

    app = web.Application()
    app.add_routes([web.get("/", page), web.get("/slow", slow), web.get("/told", hear)])
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    to = SocketAddress("127.0.0.1", int(runner.addresses[0][1]))
    policy = Policy(
        (Route(site="shop", live=False, host="shop.arena.test", port=80, connect_to=to),)
    )
    async with AsyncExitStack() as stack:
        browser = await stack.enter_async_context(launch(BrowserOptions(isolated=isolated)))
        bind = await browser.listen()
        gateway = await stack.enter_async_context(Gateway.open(policy, bind=bind))
        options = SessionOptions(proxy_url=gateway.url)
        session = await stack.enter_async_context(browser.session(options))
        opening = asyncio.create_task(session.open(["http://shop.arena.test/"]))
        await asked.wait()
        _bring_interface()
        await asyncio.wait({told}, timeout=_TAKES_NOTICE_S)
        disturbed.set()
        async with asyncio.timeout(60):
            became: str = await told
        await opening
    await runner.cleanup()
    return became


def _bring_interface() -> None:
    namespace_keeper._lay_cable("veth0", "veth1")
    for name in ("veth0", "veth1"):
        namespace_keeper._set_up(name)
    namespace_keeper._give_address(socket.if_nametoindex("veth0"), bytes((172, 31, 0, 1)))


if __name__ == "__main__":
    namespace_keeper._furnish()
    sys.stdout.write(asyncio.run(_became(sys.argv[1] == "own")))
