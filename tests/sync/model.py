"""R13: machines write and tell each other by chance, messages are lost, late and repeated; in the end all tell all."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.sync.replicas import BIRDS, Replica, told_apart

from palazzo.sync.records.record_kind import Record


def converge(machines: Sequence[Replica], chances: Random, steps: int, *, thoroughly: bool = True) -> None:
    """Write and tell for so many steps; then all must be the same, to the byte, and (thoroughly) find the same."""
    on_the_way: list[tuple[Replica, list[Record]]] = []
    for _ in range(steps):
        one = chances.choice(machines)
        if chances.random() < 0.75:
            one.write()
            continue
        other = chances.choice([it for it in machines if it is not one])
        on_the_way.append((other, one.records()))
        if chances.random() < 0.7:  # it arrives, or an older one does
            n = chances.randrange(len(on_the_way))
            receiver, records = on_the_way[n]
            if chances.random() < 0.7:  # else it will arrive again
                del on_the_way[n]
            receiver.hear(records)
    told = [one.records() for one in machines]
    for one in machines:
        for n in chances.sample(range(len(machines)), len(machines)):
            if machines[n] is not one:
                one.hear(told[n])
    _same(machines)
    if thoroughly:
        _sound(machines)


def _same(machines: Sequence[Replica]) -> None:
    first = machines[0].canonical()
    for other in machines[1:]:
        assert told_apart(first, other.canonical()) == "", _done(machines)
        assert first == other.canonical()


def _sound(machines: Sequence[Replica]) -> None:
    for one in machines:
        one.palace.embed_pending()
        assert one.complaints() == [], _done(machines)
    for bird in BIRDS:
        found = [one.found(bird) for one in machines]
        assert all(other == found[0] for other in found), (bird, _done(machines))


def _done(machines: Sequence[Replica]) -> list[list[str]]:
    return [one.done for one in machines]
