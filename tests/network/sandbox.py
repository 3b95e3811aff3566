"""Run a program where each packet is seen and each file that it writes is listed.

`python -m tests.network.sandbox SCRATCH HOME COMMAND…`, started by `unshare` in its own network, mount and process
namespaces (`command`). The network has a default route and a name server, both on a virtual Ethernet pair that nobody
answers on: what is sent is seen, and goes nowhere. The file system is an overlay over the machine's own: what is
written lies in a memory file system and is listed from there. A file that is removed again before the end is not.

It prints a JSON document: the exit code, the packets and the paths. Its own exit code is 77 where the kernel does not
let it make all this.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNAVAILABLE = 77
NAME_SERVER = "198.51.100.1"
"""Of a range that is for documentation, and routed nowhere."""

_NETWORK = (
    "link set lo up",
    "link add out0 type veth peer name out1",
    "address add 198.51.100.2/24 dev out0",
    "-6 address add 2001:db8::2/64 dev out0 nodad",
    "link set out0 up",
    "link set out1 up",
    "neighbour add 198.51.100.1 lladdr 02:00:00:00:00:01 dev out0 nud permanent",
    "-6 neighbour add 2001:db8::1 lladdr 02:00:00:00:00:01 dev out0 nud permanent",
    "route add default via 198.51.100.1 dev out0",
    "-6 route add default via 2001:db8::1 dev out0",
)
_EVERY_PROTOCOL = 0x0003
_IPV4, _IPV6 = 0x0800, 0x86DD
_TCP, _UDP, _HOP_BY_HOP, _ICMPV6 = 6, 17, 0, 58


@dataclass(frozen=True)
class Packet:
    """A packet that left a process: where to, and the name that it asks for if it is a look-up."""

    interface: str
    protocol: str
    destination: str
    port: int
    name: str = ""


@dataclass(frozen=True)
class Report:
    """What a program did in the sandbox. Paths are absolute; they are of files and of symbolic links."""

    code: int
    packets: list[Packet]
    written_paths: list[str]


def command(scratch: Path, home: Path, program: Iterable[str]) -> list[str]:
    """Return the command that runs a program in a sandbox. It needs root: Linux lays no overlay over `/` for others."""
    unshare = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child"]
    return [*unshare, sys.executable, "-m", "tests.network.sandbox", str(scratch), str(home), *program]


def main(scratch: Path, home: str, program: list[str]) -> int:
    """Run the program and print the report."""
    try:
        upper = mount_overlay(scratch)
        connect()
    except (OSError, subprocess.CalledProcessError) as error:
        detail = getattr(error, "stderr", b"") or str(error).encode()
        print(f"no sandbox can be made: {detail.decode(errors='replace').strip()}", file=sys.stderr)
        return UNAVAILABLE
    states_before = files_below(upper)
    sniffer = Sniffer()
    path = f"{Path(sys.executable).parent}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    process = subprocess.run(
        ["chroot", str(scratch / "root"), "env", f"--chdir={ROOT}", *program],
        env={"HOME": home, "PATH": path, "TERM": "dumb"}, cwd="/", stdin=subprocess.DEVNULL, stdout=sys.stderr,
    )  # fmt: skip
    changed_paths = sorted(path for path, state in files_below(upper).items() if states_before.get(path) != state)
    print(json.dumps(asdict(Report(process.returncode, sniffer.stop(), changed_paths))))
    return 0


def mount_overlay(scratch: Path) -> Path:
    """Mount overlays over what the program needs of this machine, below `root`; return what is written into."""
    _call("mount", "-t", "tmpfs", "tmpfs", str(scratch))
    root = scratch / "root"
    for number, point in enumerate(needed_mounts()):
        layers = scratch / f"layer{number}"
        upper, work, target = scratch / "upper" / str(point).lstrip("/"), layers / "work", root / str(point).lstrip("/")
        if number:  # below the first: a directory of its own, so that no layer lies in another
            upper = layers / "upper" / str(point).lstrip("/")
        for directory in (upper, work, target):
            directory.mkdir(parents=True, exist_ok=True)
        _call(
            "mount", "-t", "overlay", "overlay", "-o", f"lowerdir={point},upperdir={upper},workdir={work}", str(target)
        )
    for room in ("dev", "sys"):
        _call("mount", "--rbind", f"/{room}", str(root / room))
    _call("mount", "-t", "proc", "proc", str(root / "proc"))
    _call("mount", "-t", "tmpfs", "tmpfs", str(root / "run"))  # no socket of a daemon that looks names up
    if (root / "dev" / "shm").is_dir():
        _call("mount", "-t", "tmpfs", "tmpfs", str(root / "dev" / "shm"))
    for name, content in (("resolv.conf", f"nameserver {NAME_SERVER}\n"), ("nsswitch.conf", "hosts: files dns\n")):
        file = root / "etc" / name
        file.unlink(missing_ok=True)
        file.write_text(content)
    return scratch


def needed_mounts() -> list[Path]:
    """Return the mount points that hold the machine's programs, this Python and this checkout; outer ones first."""
    needed_paths = [Path("/"), Path("/usr"), Path("/etc"), ROOT, *map(Path, (sys.prefix, sys.base_prefix))]
    return sorted({_mount_point(path.resolve()) for path in needed_paths}, key=lambda point: len(point.parts))


def _mount_point(path: Path) -> Path:
    return next(point for point in (path, *path.parents) if point.is_mount())


def connect() -> None:
    """Make a network whose packets all leave by one interface that nobody answers on."""
    for name, value in (("accept_ra", "0"), ("router_solicitations", "0"), ("dad_transmits", "0")):
        setting = Path("/proc/sys/net/ipv6/conf/default") / name
        if setting.exists():
            setting.write_text(value)
    has_ipv6 = Path("/proc/sys/net/ipv6").is_dir()
    for line in _NETWORK:
        if has_ipv6 or not line.startswith("-6"):
            _call("ip", *line.split())


def _call(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


class Sniffer:
    """Notes every packet that leaves a process of this network namespace, on any interface, until it is stopped."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_EVERY_PROTOCOL))
        self._socket.settimeout(0.5)
        self._packets: list[Packet] = []
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def stop(self) -> list[Packet]:
        """Return what was sent: all but TCP between programs of this machine, and what the kernel says by itself."""
        self._stopped.set()
        self._thread.join()
        self._socket.close()
        return self._packets

    def _listen(self) -> None:
        while True:
            try:
                content, (interface, protocol, kind, *_) = self._socket.recvfrom(65_536)
            except TimeoutError:
                if self._stopped.is_set():
                    return
                continue
            if kind == socket.PACKET_OUTGOING:
                packet = describe_packet(interface, protocol, content)
                if packet is not None and packet not in self._packets:
                    self._packets.append(packet)


def describe_packet(interface: str, protocol: int, content: bytes) -> Packet | None:
    """Return what a packet is, or None where it concerns nobody."""
    if protocol == _IPV4:
        transport, body, address_family = content[9], content[4 * (content[0] & 0x0F) :], socket.AF_INET
        destination = socket.inet_ntop(address_family, content[16:20])
    elif protocol == _IPV6:
        transport, body, address_family = content[6], content[40:], socket.AF_INET6
        destination = socket.inet_ntop(address_family, content[24:40])
        if transport in (_HOP_BY_HOP, _ICMPV6):
            return None  # the kernel's own: neighbours and groups
    else:
        return Packet(interface, f"ethernet {protocol:#06x}", "", 0)
    if transport not in (_TCP, _UDP):
        return Packet(interface, f"IP {transport}", destination, 0)
    if transport == _TCP and interface == "lo":
        return None
    port = int.from_bytes(body[2:4])
    name = ".".join(_labels(body[20:])) if transport == _UDP and port == 53 else ""
    return Packet(interface, "TCP" if transport == _TCP else "UDP", destination, port, name)


def _labels(question: bytes) -> Iterator[str]:
    """The labels of the name that a DNS query asks for."""
    while question and 0 < question[0] < 64:
        yield question[1 : 1 + question[0]].decode("ascii", "replace")
        question = question[1 + question[0] :]


def files_below(scratch: Path) -> dict[str, tuple[int, int]]:
    """Return each file that lies in an upper layer or in a memory file system, with its time and its size."""
    tops = [
        scratch / "upper",
        *scratch.glob("layer*/upper"),
        scratch / "root" / "run",
        scratch / "root" / "dev" / "shm",
    ]
    state_by_path = {}
    for top in tops:
        base = scratch / "root" if scratch / "root" in top.parents else top
        for directory, _, names in os.walk(top):
            for name in names:
                path = Path(directory, name)
                state = path.lstat()
                state_by_path[f"/{path.relative_to(base)}"] = (state.st_mtime_ns, state.st_size)
    return state_by_path


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
