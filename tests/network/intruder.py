"""What the sandbox must see: look-ups, packets over both protocols, and files outside Palazzo's directories.

Each look-up fails, since nobody answers; `options` of the resolver make that quick.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path


def main() -> None:
    """Send, look up and write."""
    os.environ["RES_OPTIONS"] = "timeout:1 attempts:1"
    with suppress(OSError):
        socket.getaddrinfo("telemetry.example", 443)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.sendto(b"x", ("203.0.113.7", 9))
        out.sendto(b"\0" * 12 + b"\5local\7example\0\0\1\0\1", ("127.0.0.53", 53))
    if Path("/proc/sys/net/ipv6").is_dir():
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as out:
            out.settimeout(0.2)
            with suppress(OSError):
                out.connect(("2001:db8:1::7", 443))
    for path in (Path.home() / ".cache" / "Microsoft" / "deviceid", Path("/var/tmp/left"), Path("/run/left")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    with Path("/etc/hosts").open("a") as hosts:
        hosts.write("# changed\n")


if __name__ == "__main__":
    main()
