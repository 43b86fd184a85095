"""A receiver that responds 204 after a delay: `python -m bench.receiver MILLISECONDS HOSTS`.

Listens on 127.0.0.1, 127.0.0.2 … on one free port, which it prints.
"""

import asyncio
import sys


async def answer(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float
) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            await reader.readexactly(int(line.split(b":")[1]))
    await asyncio.sleep(seconds)
    writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
    await writer.drain()
    writer.close()


async def main(milliseconds: float, hosts: int) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await answer(reader, writer, milliseconds / 1000)

    first = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)
    port = first.sockets[0].getsockname()[1]
    others = [
        await asyncio.start_server(serve, f"127.0.0.{number}", port, backlog=1024)
        for number in range(2, hosts + 1)
    ]
    print(port, flush=True)
    await asyncio.gather(*(server.serve_forever() for server in (first, *others)))


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]), int(sys.argv[2])))
