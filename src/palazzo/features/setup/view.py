"""Terminal output of setup and of today's state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from palazzo.features.mining.contract import FeedResult
from palazzo.features.screen import Part, Screen, place
from palazzo.features.setup.contract import AgentSetup, HealthNote, ProjectSession, SetupResult, TodayResult
from palazzo.security.display_names import quoted_name, shown_name
from palazzo.text.count_phrases import count_noun

COMMANDS = (
    ('palazzo search "…"', "find what was said, decided or written"),
    ("palazzo sessions", "list sessions, the newest first"),
    ('palazzo remember "…"', "keep a note"),
    ("palazzo todo list", "list open to-dos"),
    ("palazzo doctor", "check the installation"),
    ("palazzo help", "list all commands"),
)
"""The commands of every day."""
_MOST_FAILED = 5
_LABEL_WIDTH = 17
_STYLES = {"failed": "bold red", "not": "yellow", "already": "dim", "history": "dim"}


def setup(screen: Screen, result: SetupResult) -> None:
    """Show the changes in a dry run; then the agents, what to do in them, numbers, and questions to try."""
    if not result.hosts:
        screen.say("No coding agent was found on this machine.")
        screen.say(("'palazzo mine PATH' indexes documents, and transcripts in other places.", "dim"))
        return
    if result.dry_run:
        for change in (change for host in result.hosts for change in host.changed_files):
            screen.diff(change.diff)
        if result.to_wire:
            screen.gap()
    _agents(screen, result)
    for host in result.hosts:
        if host.error:
            screen.say((f"{host.title}: ", "bold red"), host.error, wrap_indent=2)
    _left_out(screen, result.feed_result)
    if not result.to_wire and not result.to_index and not any(host.error for host in result.hosts):
        is_wired = any(host.wired for host in result.hosts)
        state = "the agents are wired, and their history is indexed" if is_wired else "there is no history to index"
        screen.say((f"Nothing to change: {state}.", "green"), wrap_indent=0)
    if result.dry_run:
        _plan(screen, result)
        return
    for line in dict.fromkeys(_next_steps(result.hosts)):
        screen.say(line, wrap_indent=2)
    _numbers(screen, result)


def _agents(screen: Screen, result: SetupResult) -> None:
    new_title = "to index" if result.dry_run else "indexed"
    rows: list[Sequence[Part]] = []
    for host in result.hosts:
        histories = [history for history in result.feed_result.histories if history.host == host.host]
        sessions, new = (
            sum(counts) for counts in ([h.sessions for h in histories], [h.new + h.grown for h in histories])
        )
        label = _describe_wiring(host, result.dry_run, bool(histories))
        style = _STYLES.get(label.split(" ")[0], "green")
        rows.append(((host.title, "bold"), (label, style), f"{sessions:,}", (f"{new:,}", "green" if new else "dim")))
    screen.table(("agent", "wiring", "sessions", new_title), rows, right=(2, 3))


def _left_out(screen: Screen, fed: FeedResult) -> None:
    """Say which sessions could not be read, and how many were skipped and why."""
    for failed in fed.failed[:_MOST_FAILED]:
        screen.say(("Could not be read: ", "red"), f"{place(failed.uri)}: {failed.error}", wrap_indent=2)
    if len(fed.failed) > _MOST_FAILED:
        screen.say((f"and {len(fed.failed) - _MOST_FAILED:,} more that could not be read", "red"))
    for reason, number in Counter(skipped.reason for skipped in fed.skipped).most_common():
        screen.say((f"{count_noun(number, 'file')} skipped: {reason}", "dim"), wrap_indent=2)


def _describe_wiring(host: AgentSetup, dry_run: bool, has_history: bool) -> str:
    if host.error:
        return "failed"
    if host.plugin:
        return "already wired, as a plugin"
    if not host.can_wire:
        return "history only" if has_history else "not by setup"
    if not host.changed_files:
        return "already wired"
    files = count_noun(len(host.changed_files), "file")
    return f"would be wired, {files}" if dry_run else f"wired, {files}"


def _plan(screen: Screen, result: SetupResult) -> None:
    backups = sum(change.state == "changed" for host in result.hosts for change in host.changes)
    if backups:
        files = "the changed file" if backups == 1 else f"each of the {backups} changed files"
        screen.say((f"A copy of {files} is kept beside it.", "dim"))
    if result.to_index:
        seconds = result.fed.estimate_s
        long = (
            "a second" if seconds < 1 else f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:.0f} minutes"
        )
        screen.say((f"Indexing the history takes about {long}.", "dim"))


def _next_steps(hosts: Sequence[AgentSetup]) -> Iterator[str]:
    for host in hosts:
        yield from host.note.splitlines()
        if host.others:
            names = ", ".join(dict.fromkeys(memory.name for memory in host.others))
            yield (
                f"{host.title} still has entries of {names}; two memories inject everything twice. Remove them with: "
                f"palazzo install {host.host} --clean"
            )


def _numbers(screen: Screen, result: SetupResult) -> None:
    if result.contents is None:
        return
    screen.gap()
    wired = sum(host.wired for host in result.hosts)
    numbers = (wired, result.contents.sessions, result.contents.documents, result.contents.drawers)
    columns = ("agents wired", "sessions", "documents", "drawers", "seconds")
    screen.table(columns, [[*(f"{number:,}" for number in numbers), f"{result.took_s:,.1f}"]], right=range(5))
    if result.feed_result.pending:
        passages = count_noun(result.feed_result.pending, "passage")
        screen.say((f"Searchable by keyword now; {passages} will soon be searchable by meaning.", "dim"), wrap_indent=0)
    if result.questions:
        screen.gap()
        screen.say(("Try questions from your own history:", "bold"))
        for question in result.questions:
            screen.say(f"  {question.command}")


# --- today -------------------------------------------------------------------------------------------------


def today(screen: Screen, result: TodayResult) -> None:
    """Show what is due, the last sessions, what is new, the health, and the commands of every day."""
    if not result.exists:
        screen.say("Palazzo keeps what you and your coding agents said and decided, on this machine.")
        screen.say("Wire your agents and index their history with: ", ("palazzo setup", "bold"))
        return
    _tasks(screen, result)
    if result.sessions:
        screen.say(("Last sessions", "bold"))
        screen.table(("", "", ""), [_session_row(session) for session in result.sessions])
        screen.gap()
    screen.say(("Since yesterday".ljust(_LABEL_WIDTH), "bold"), _describe_news(result))
    _health(screen, result.health)
    screen.gap()
    screen.table(("", ""), [((f"  {command}", "bold"), (what, "dim")) for command, what in COMMANDS])


def _tasks(screen: Screen, result: TodayResult) -> None:
    if not (result.due or result.todos):
        return
    screen.say(("Due and open", "bold"))
    for reminder in result.due:
        _task(screen, "due", reminder.text, reminder.wing, reminder.trust)
    for todo in result.todos:
        _task(screen, "overdue" if todo.overdue else "to do", todo.text, todo.wing, todo.trust)
    hidden_count = result.open_todos - len(result.todos)
    if hidden_count:
        screen.say((f"  and {hidden_count:,} more: palazzo todo list --everywhere", "dim"))
    screen.gap()


def _task(screen: Screen, state: str, text: str, wing: str, trust: str) -> None:
    quarantine = [("  external, in quarantine", "yellow")] if trust == "external" else []
    words = " ".join(text.split())
    style = "bold yellow" if state in ("due", "overdue") else "cyan"
    screen.say((f"  {state:<7}  ", style), words, (f"  {shown_name(wing)}", "cyan"), *quarantine, wrap_indent=11)


def _session_row(session: ProjectSession) -> Sequence[Part]:
    title = quoted_name(session.title, 40) if session.title else "untitled"
    return (
        (f"  {shown_name(session.wing, 24)}", "cyan"),
        title,
        (f"{session.age}, {session.host}", "dim"),
    )


def _describe_news(result: TodayResult) -> str:
    news = result.new
    counts = (
        (news.sessions, "session"),
        (news.decisions, "decision"),
        (news.documents, "document"),
        (news.notes, "note"),
    )
    return ", ".join(count_noun(number, noun) for number, noun in counts if number) or "nothing new"


def _health(screen: Screen, notes: Sequence[HealthNote]) -> None:
    wrong = [note for note in notes if not note.ok]
    summary = "; ".join(f"{note.detail} ({note.mend})" if note.mend else note.detail for note in wrong or notes)
    screen.say(
        ("Health".ljust(_LABEL_WIDTH), "bold"), (summary, "yellow" if wrong else "green"), wrap_indent=_LABEL_WIDTH
    )
