"""Shared code of the service operations: the service's address, its state, and how the system would start it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from palazzo.client import hook_log, rpc
from palazzo.client.rpc import address
from palazzo.client.service_address import former_addresses
from palazzo.errors import ServiceUnavailable
from palazzo.features.service.contract import ServiceState, Unit
from palazzo.model import Micros

if TYPE_CHECKING:
    from palazzo.client.rpc import Address
    from palazzo.operations.context import Context


def address_of(context: Context) -> Address:
    """Return the address where the service of this context's palace listens."""
    return address(str(context.palace_path), context.variables)


def state_of(context: Context) -> ServiceState:
    """Ask the service for its state."""
    return state_at(address_of(context))


def former_states(context: Context) -> tuple[ServiceState, ...]:
    """Return the states of services of earlier versions that still run for this palace at other addresses."""
    states = (state_at(address) for address in former_addresses(str(context.palace_path), context.variables))
    return tuple(state for state in states if state.running)


def state_at(address: Address) -> ServiceState:
    """Ask the service that listens at an address for its state."""
    try:
        stream, answer = rpc.greet(address, {"want": "state"})
    except ServiceUnavailable:
        return ServiceState(False, address.socket)
    stream.close()
    state = answer["state"]
    return ServiceState(
        running=True,
        address=address.socket,
        pid=answer["pid"],
        version=answer["version"],
        since=Micros(state["since"]),
        clients=state["guests"],
        busy=state["running"],
        calls=state["calls"],
        memory_mb=state["memory_mb"],
        watching=state["watching"],
        viewer_trouble=state.get("viewer_trouble", ""),  # a service of an earlier version does not send it
    )


def unit(context: Context, system: Unit) -> str:
    """Return a unit file that runs the service of this palace for as long as its user is logged in."""
    command = (sys.executable, "-P", "-m", "palazzo.daemon.service", "--stay", str(context.palace_path.resolve()))
    return _systemd(command) if system == "systemd" else _launchd(command)


def _systemd(command: tuple[str, ...]) -> str:
    return f"""\
# ~/.config/systemd/user/palazzo.service, then: systemctl --user enable --now palazzo
[Unit]
Description=Palazzo, a memory for coding agents

[Service]
ExecStart={" ".join(_for_systemd(part) for part in command)}
# One that makes way for a newer version ends well, and the newer one is there already.
Restart=on-failure

[Install]
WantedBy=default.target
"""


def _for_systemd(part: str) -> str:
    literal = part.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{literal}"' if any(letter.isspace() or letter in "'\"" for letter in part) else literal


def _launchd(command: tuple[str, ...]) -> str:
    arguments = "\n".join(f"    <string>{escape(part)}</string>" for part in command)
    return f"""\
<?xml version="1.0" encoding="UTF-8"?>
<!-- ~/Library/LaunchAgents/palazzo.plist, then: launchctl load -w ~/Library/LaunchAgents/palazzo.plist -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>palazzo</string>
  <key>ProgramArguments</key>
  <array>
{arguments}
  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
</dict>
</plist>
"""


def log_file(palace: Path, variables: Mapping[str, str]) -> Path:
    """Return the log of a palace's service: one for the default palace, another for each other."""
    return Path(hook_log.log_file(str(palace), variables))
