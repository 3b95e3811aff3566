/**
 * Live: when the service says that something has changed, the page is fetched again, and what is new in its live parts
 * appears without reloading. When the service is lost, the page says so, and connects again.
 */

import { fetchPart, readNodes } from "./html.js";

export interface Change {
  readonly sessions: readonly { readonly session: string; readonly title: string }[];
  readonly injections: boolean;
  readonly digests: boolean;
  readonly erased: boolean;
}

const LOST = "The service has stopped. The page goes on as soon as it runs again: ‘palazzo view’ starts it.";
const LOST_AFTER_MS = 4_000;

export function followChanges(page: Document): void {
  const status = page.getElementById("live");
  if (!status) return;
  const events = new EventSource("/events");
  let lost = 0;
  events.addEventListener("begin", () => {
    window.clearTimeout(lost);
    lost = 0;
    const wasLost = status.dataset["state"] === "lost";
    show(status, wasLost ? "The service runs again." : "", "");
  });
  events.addEventListener("error", () => {
    if (lost === 0) lost = window.setTimeout(() => show(status, LOST, "lost"), LOST_AFTER_MS);
    if (events.readyState === EventSource.CLOSED) {
      window.setTimeout(() => followChanges(page), LOST_AFTER_MS);
    }
  });
  events.addEventListener("change", (event) => {
    const change = JSON.parse((event as MessageEvent<string>).data) as Change;
    if (change.erased) {
      location.reload(); // what was erased must not stay on the screen
      return;
    }
    const text = describe(change);
    if (text) show(status, text, "new");
    void renew(page, change);
  });
  window.addEventListener("pagehide", () => events.close());
}

/** Returns a change in words; an empty text for a digest, which only renews what shows it. */
export function describe(change: Change): string {
  const [first, ...others] = change.sessions;
  if (first) {
    const more = others.length ? ` and ${others.length} more` : "";
    return `New messages in ${(first.title || first.session).slice(0, 60)}${more}`;
  }
  return change.injections ? "An agent was told something" : "";
}

function show(status: HTMLElement, text: string, state: string): void {
  status.hidden = text === "";
  status.dataset["state"] = state;
  if (status.textContent !== text) status.textContent = text;
}

/** Returns whether a live part shows something of a change. */
export function concerns(part: { live: string; session: string }, change: Change): boolean {
  if (part.live === "session") return change.sessions.some((changed) => changed.session === part.session);
  if (part.live === "digest") return change.digests;
  if (part.live === "told") return change.injections;
  return change.sessions.length > 0 || change.digests;
}

async function renew(page: Document, change: Change): Promise<void> {
  const parts = Array.from(page.querySelectorAll<HTMLElement>("[data-live][id]")).filter((part) =>
    concerns({ live: part.dataset["live"] ?? "", session: part.dataset["session"] ?? "" }, change),
  );
  if (parts.length === 0) return;
  const html = await fetchPart(new URL(location.href));
  if (html === null) return;
  const fetched = document.createElement("div");
  fetched.append(...readNodes(html));
  for (const part of parts) {
    const next = fetched.querySelector(`#${CSS.escape(part.id)}`);
    if (!next) continue;
    if (part.dataset["live"] === "session") addNew(part, next);
    else if (!part.contains(page.activeElement)) part.replaceChildren(...next.childNodes);
  }
}

/** Adds the messages that a page does not have yet, and leaves the others as they are: open, closed, or with the focus. */
function addNew(part: HTMLElement, next: Element): void {
  for (const child of Array.from(next.children)) {
    if (child.id && !document.getElementById(child.id)) part.append(child);
  }
}
