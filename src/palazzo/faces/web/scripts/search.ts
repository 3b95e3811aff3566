/** Search while typing: the form's own address is fetched, and its hits replace those on the page. */

import { fetchPart, readNodes } from "./html.js";

const PAUSE_MS = 150;
const DAY_MS = 86_400_000;

export function searchWhileTyping(page: Document): void {
  const form = page.getElementById("search-form");
  const hits = page.getElementById("hits");
  if (!(form instanceof HTMLFormElement) || !hits) return;
  let timer = 0;
  let running = new AbortController();

  async function search(): Promise<void> {
    running.abort();
    running = new AbortController();
    const signal = running.signal;
    const address = addressOf(form as HTMLFormElement);
    history.replaceState(null, "", address);
    const hasQuery = address.searchParams.has("q");
    address.searchParams.set("part", "hits");
    const html = await fetchPart(address, signal);
    if (signal.aborted) return;
    const recent = page.getElementById("recent");
    if (recent) recent.hidden = hasQuery;
    hits?.replaceChildren(...(html === null ? [lostNotice(page)] : readNodes(html)));
  }

  form.addEventListener("input", () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => void search(), PAUSE_MS);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    window.clearTimeout(timer);
    void search();
  });
  followSlider(page, form);
}

/** Returns the address that a form would open, without its empty fields. */
export function addressOf(form: HTMLFormElement): URL {
  const address = new URL(form.action);
  for (const [name, value] of new FormData(form)) {
    if (typeof value === "string" && value.trim() !== "") address.searchParams.set(name, value);
  }
  return address;
}

function lostNotice(page: Document): Node {
  const notice = page.createElement("p");
  notice.className = "notice";
  notice.textContent = "The service does not answer. Run ‘palazzo view’ to start it again.";
  return notice;
}

/** The slider sets the date: its right end is today, which means no date. */
function followSlider(page: Document, form: HTMLFormElement): void {
  const slider = page.getElementById("as-of-slider");
  const date = page.getElementById("as-of");
  if (!(slider instanceof HTMLInputElement) || !(date instanceof HTMLInputElement)) return;
  const label = slider.closest("label");
  if (label) label.hidden = false;
  const most = Number(slider.max);
  const place = (): void => {
    const age = date.value ? Math.round((Date.now() - Date.parse(date.value)) / DAY_MS) : 0;
    slider.value = String(most - age);
  };
  place();
  date.addEventListener("input", place);
  slider.addEventListener("input", () => {
    date.value = dayBefore(new Date(), most - Number(slider.value));
    form.dispatchEvent(new Event("input"));
  });
}

/** Returns the ISO date a number of days before a day; an empty text for 0 days. */
export function dayBefore(today: Date, days: number): string {
  if (days <= 0) return "";
  const day = new Date(today.getTime() - days * DAY_MS);
  const pad = (value: number): string => String(value).padStart(2, "0");
  return `${day.getFullYear()}-${pad(day.getMonth() + 1)}-${pad(day.getDate())}`;
}
