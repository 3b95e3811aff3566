"""An explicit model of sync and erase epochs, and a breadth-first search over all that its devices can do in any order.

    device    its links and their texts, what it has erased; for each remote what it recorded of it (`sync_seen`,
              `sync_chain`, `sync_sent`, the newest erasure of its last push, the head that it was about to write)
    remote    for each device a head, and segments of links, texts and erasures

A step is: write a note, erase one, pull one device's segments from one remote, push to one remote. A push may be killed
at each of the moments between which others can see a difference, and a device may be lost for ever. The rules are those
of `sync/push`, `push_delta`, `pull`, `own_heads` and `remotes/folder_remote`, without signatures, limits and words.

In every state that can be reached, if the devices that are left pull and push until nothing changes: they hold the same
texts; none is missing that one of them held; no erased text is on a device, or in a remote's segments of these devices;
and a new device that reads a remote gets every text from it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Link = tuple[int, int]
"""A device, and the number of a link in its chain. Each link is the link of a text of its own."""
Place = tuple[int, int]
"""An epoch, and the number of a segment in it."""
NOWHERE: Place = (0, 0)
MOMENTS = ("segments written", "head noted", "head written", "earlier segments removed", "")
"""After which part of a push its process may be killed; '' is never."""


class Segment(NamedTuple):
    place: Place
    links: frozenset[Link]
    texts: frozenset[Link]
    """The links that come with their text."""
    erasures: frozenset[Link]


class Shelf(NamedTuple):
    """What a remote has of one device."""

    head: Place = NOWHERE
    segments: frozenset[Segment] = frozenset()


class Notes(NamedTuple):
    """What a device has recorded of a remote."""

    own: Place = NOWHERE
    pending: Place = NOWHERE
    seen: tuple[Place, ...] = ()
    chains: tuple[int, ...] = ()
    """By device, the link up to which its chain is on the remote."""
    own_chains: tuple[int, ...] = ()
    """By device, the link up to which that device itself has put its chain there."""
    sent: frozenset[Link] = frozenset()
    """The erasures that are on the remote."""
    erasure_count: int = 0


class Device(NamedTuple):
    links: frozenset[Link] = frozenset()
    texts: frozenset[Link] = frozenset()
    erasures: frozenset[Link] = frozenset()
    notes: tuple[Notes | None, ...] = ()
    """By remote; None for a remote that this device does not use."""
    is_lost: bool = False


class State(NamedTuple):
    devices: tuple[Device, ...]
    remotes: tuple[tuple[Shelf, ...], ...]
    kills: int = 0


@dataclass(frozen=True)
class Bounds:
    """What may happen at most. `members` are the remotes of each device."""

    members: tuple[tuple[int, ...], ...]
    notes: tuple[int, ...]
    erasures: int = 1
    kills: int = 1
    losses: int = 0
    others_tell: Literal["noted", "own"] = "own"
    """Which links of another device a new epoch leaves out: all that were noted there, or those that the device itself
    put there. The first was Palazzo's rule once.
    """
    tells_own: bool = True
    """Whether a device puts its own chain there even if another device has done so. It once did not."""

    @property
    def remote_count(self) -> int:
        """The number of remotes."""
        return 1 + max(remote for remotes in self.members for remote in remotes)


@dataclass
class Search:
    """The outcome: how many states there are, and the first one in which something is wrong, with the way to it."""

    states: int = 0
    is_complete: bool = True
    wrong: str = ""
    way: list[str] = field(default_factory=list)


def begin(bounds: Bounds) -> State:
    count = len(bounds.members)
    notes = Notes(seen=(NOWHERE,) * count, chains=(0,) * count, own_chains=(0,) * count)
    devices = tuple(
        Device(notes=tuple(notes if remote in remotes else None for remote in range(bounds.remote_count)))
        for remotes in bounds.members
    )
    return State(devices, ((Shelf(),) * count,) * bounds.remote_count)


def explore(bounds: Bounds, most: int) -> Search:
    """Visit states breadth first, at most so many; stop at the first in which something is wrong."""
    first = begin(bounds)
    before: dict[State, tuple[State, str] | None] = {first: None}
    waiting = deque([first])
    search = Search()
    while waiting:
        state = waiting.popleft()
        search.states += 1
        if wrong := find_wrong(state, bounds):
            search.wrong = wrong
            search.way = _way_to(state, before)
            return search
        for name, after in steps(state, bounds):
            if after not in before:
                if len(before) >= most:
                    search.is_complete = False
                    continue
                before[after] = (state, name)
                waiting.append(after)
    return search


def _way_to(state: State, before: dict[State, tuple[State, str] | None]) -> list[str]:
    way: list[str] = []
    while (step := before[state]) is not None:
        state, name = step
        way.append(name)
    return way[::-1]


# --- steps -------------------------------------------------------------------------------------------------


def steps(state: State, bounds: Bounds) -> Iterator[tuple[str, State]]:
    """Yield every step that a state allows, with its name and the state after it."""
    erased = frozenset().union(*(device.erasures for device in state.devices))
    losses = sum(device.is_lost for device in state.devices)
    for d, device in enumerate(state.devices):
        if device.is_lost:
            continue
        if sum(link[0] == d for link in device.links) < bounds.notes[d]:
            yield f"{d} writes", _with_device(state, d, _write(device, d))
        if len(erased) < bounds.erasures:
            for link in device.texts:
                yield f"{d} erases {link}", _with_device(state, d, _erase(device, link))
        if losses < bounds.losses:
            yield f"{d} is lost", _with_device(state, d, device._replace(is_lost=True))
        for remote in bounds.members[d]:
            for other in range(len(state.devices)):
                if other != d and _is_news(state, d, remote, other):
                    yield f"{d} pulls {other} at {remote}", pull(state, d, remote, other, bounds)
            if _has_news(state, d, remote, bounds):
                for moment in MOMENTS if state.kills < bounds.kills else ("",):
                    after = push(state, d, remote, bounds, moment)
                    killed = after._replace(kills=after.kills + 1) if moment else after
                    yield f"{d} pushes to {remote}{moment and f', killed: {moment}'}", killed


def _write(device: Device, d: int) -> Device:
    link = (d, 1 + sum(chain == d for chain, _ in device.links))
    return device._replace(links=device.links | {link}, texts=device.texts | {link})


def _erase(device: Device, link: Link) -> Device:
    return device._replace(texts=device.texts - {link}, erasures=device.erasures | {link})


def _is_news(state: State, d: int, remote: int, other: int) -> bool:
    notes, shelf = _notes(state, d, remote), state.remotes[remote][other]
    return notes.seen[other] != shelf.head


def pull(state: State, d: int, remote: int, other: int, bounds: Bounds) -> State:
    """Let a device take in what another has put on a remote since it last looked."""
    state = _recover(state, d, remote)
    device, notes, shelf = state.devices[d], _notes(state, d, remote), state.remotes[remote][other]
    seen = notes.seen[other]
    first = seen[1] + 1 if seen[0] == shelf.head[0] else 1
    by_number = {segment.place[1]: segment for segment in shelf.segments if segment.place[0] == shelf.head[0]}
    segments = [by_number[number] for number in range(first, shelf.head[1] + 1)]  # KeyError: one is missing
    links = frozenset().union(*(segment.links for segment in segments))
    erasures = device.erasures.union(*(segment.erasures for segment in segments))
    texts = device.texts.union(*(segment.texts for segment in segments)) - erasures
    own_links = frozenset(link for link in links if link[0] == other)
    notes = notes._replace(
        seen=_set(notes.seen, other, shelf.head),
        chains=_raise_to(notes.chains, frozenset(link for link in links if link[0] != d or not bounds.tells_own)),
        own_chains=_raise_to(notes.own_chains, own_links),
        sent=notes.sent.union(*(segment.erasures for segment in segments)),
    )
    after = device._replace(links=device.links | links, texts=texts, erasures=erasures)
    return _with_device(state, d, _with_notes(after, remote, notes))


def _recover(state: State, d: int, remote: int) -> State:
    """As `own_heads.own_head`: a head that was about to be written, and is there, is this device's."""
    notes, head = _notes(state, d, remote), state.remotes[remote][d].head
    if head == notes.pending != NOWHERE:
        notes = notes._replace(own=head)
    assert head == notes.own, "the remote has a head of this device that it did not write"
    return _with_device(state, d, _with_notes(state.devices[d], remote, notes))


def _delta(state: State, d: int, remote: int, bounds: Bounds) -> tuple[bool, frozenset[Link], frozenset[Link]]:
    """Return whether the next push is anew, and the links and erasures that it sends."""
    device, notes = state.devices[d], _notes(state, d, remote)
    is_anew = notes.own != NOWHERE and len(device.erasures) > notes.erasure_count
    chains: tuple[int, ...] = notes.chains
    if is_anew:
        stay = notes.own_chains if bounds.others_tell == "own" else notes.chains
        heads = [shelf.head for shelf in state.remotes[remote]]
        chains = tuple(seq if other != d and heads[other] != NOWHERE else 0 for other, seq in enumerate(stay))
    links = frozenset(link for link in device.links if link[1] > chains[link[0]])
    return is_anew, links, device.erasures if is_anew else device.erasures - notes.sent


def _has_news(state: State, d: int, remote: int, bounds: Bounds) -> bool:
    state = _recover(state, d, remote)
    is_anew, links, erasures = _delta(state, d, remote, bounds)
    return is_anew or bool(links) or bool(erasures) or _notes(state, d, remote).own == NOWHERE


def push(state: State, d: int, remote: int, bounds: Bounds, killed: str = "") -> State:
    """Let a device send to a remote what that lacks; it is killed after the part of the push that `killed` names."""
    state = _recover(state, d, remote)
    device, notes, shelf = state.devices[d], _notes(state, d, remote), state.remotes[remote][d]
    is_anew, links, erasures = _delta(state, d, remote, bounds)
    place = (notes.own[0] + 1, 1) if is_anew or notes.own == NOWHERE else (notes.own[0], notes.own[1] + 1)
    segment = Segment(place, links, links & device.texts, erasures)
    shelf = Shelf(shelf.head, _leading_to(shelf.segments, notes.own) | {segment})
    state = _with_shelf(state, remote, d, shelf)
    if killed == "segments written":
        return state
    state = _with_device(state, d, _with_notes(device, remote, notes._replace(pending=place)))
    if killed == "head noted":
        return state
    state = _with_shelf(state, remote, d, shelf._replace(head=place))
    if killed == "head written":
        return state
    if is_anew:
        state = _with_shelf(state, remote, d, Shelf(place, _leading_to(shelf.segments, place)))
    if killed:
        return state
    notes = notes._replace(
        own=place,
        pending=NOWHERE,
        chains=_raise_to(notes.chains, links),
        sent=erasures if is_anew else notes.sent | erasures,
        erasure_count=len(device.erasures),
    )
    return _with_device(state, d, _with_notes(device, remote, notes))


def _leading_to(segments: frozenset[Segment], head: Place) -> frozenset[Segment]:
    return frozenset(segment for segment in segments if segment.place[0] == head[0] and segment.place[1] <= head[1])


# --- what must hold ----------------------------------------------------------------------------------------


def find_wrong(state: State, bounds: Bounds) -> str:
    """Return what is wrong when the devices that are left have exchanged everything; '' if nothing is."""
    alive = [d for d, device in enumerate(state.devices) if not device.is_lost]
    known = frozenset().union(*(state.devices[d].texts for d in alive))
    try:
        state = settle(state, alive, bounds)
    except (KeyError, AssertionError) as error:
        return f"a device cannot go on: {error!r}"
    erased = frozenset().union(*(state.devices[d].erasures for d in alive))
    groups = [[d for d in alive if remote in bounds.members[d]] for remote in range(bounds.remote_count)]
    for d in alive:
        if state.devices[d].texts & erased:
            return f"device {d} holds an erased text"
        if known - erased - state.devices[d].texts:
            return f"device {d} lacks {sorted(known - erased - state.devices[d].texts)}"
    for remote, group in enumerate(groups):
        told = {segment for shelf in state.remotes[remote] for segment in _leading_to(shelf.segments, shelf.head)}
        texts = frozenset().union(*(segment.texts for segment in told))
        if group and known - erased - texts:
            return f"a new device does not get {sorted(known - erased - texts)} from remote {remote}"
        for d in group:
            if any(segment.texts & erased for segment in state.remotes[remote][d].segments):
                return f"remote {remote} has an erased text in a segment of device {d}"
    return ""


def settle(state: State, alive: list[int], bounds: Bounds) -> State:
    """Let devices pull and push until nothing is new."""
    while True:
        before = state
        for d in alive:
            for remote in bounds.members[d]:
                for other in range(len(state.devices)):
                    if other != d and _is_news(state, d, remote, other):
                        state = pull(state, d, remote, other, bounds)
                if _has_news(state, d, remote, bounds):
                    state = push(state, d, remote, bounds)
        if state == before:
            return state


# --- parts of states ---------------------------------------------------------------------------------------


def _notes(state: State, d: int, remote: int) -> Notes:
    notes = state.devices[d].notes[remote]
    assert notes is not None
    return notes


def _set(values: tuple[Place, ...], at: int, value: Place) -> tuple[Place, ...]:
    return (*values[:at], value, *values[at + 1 :])


def _raise_to(chains: tuple[int, ...], links: frozenset[Link]) -> tuple[int, ...]:
    return tuple(max([seq, *(n for chain, n in links if chain == d)]) for d, seq in enumerate(chains))


def _with_device(state: State, d: int, device: Device) -> State:
    return state._replace(devices=(*state.devices[:d], device, *state.devices[d + 1 :]))


def _with_notes(device: Device, remote: int, notes: Notes) -> Device:
    return device._replace(notes=(*device.notes[:remote], notes, *device.notes[remote + 1 :]))


def _with_shelf(state: State, remote: int, d: int, shelf: Shelf) -> State:
    shelves = state.remotes[remote]
    shelves = (*shelves[:d], shelf, *shelves[d + 1 :])
    return state._replace(remotes=(*state.remotes[:remote], shelves, *state.remotes[remote + 1 :]))
