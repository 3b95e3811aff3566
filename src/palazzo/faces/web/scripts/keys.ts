/** Keys: `/` to search, `j` and `k` to walk through entries, `o` to open one, `g` and a letter for a page, `?` for help. */

const PAGES: Readonly<Record<string, string>> = {
  s: "/sessions",
  p: "/palace",
  k: "/knowledge",
  t: "/told",
  r: "/review",
  c: "/code",
  h: "/health",
};

export function followKeys(page: Document): void {
  const help = page.getElementById("help");
  const button = page.getElementById("help-button");
  if (!(help instanceof HTMLDialogElement)) return;
  if (button) {
    button.hidden = false;
    button.addEventListener("click", () => help.showModal());
  }
  let isChoosingPage = false;
  page.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const target = event.target as HTMLElement;
    if (isField(target)) {
      if (event.key === "Escape") target.blur();
      return;
    }
    if (help.open) return;
    if (isChoosingPage) {
      isChoosingPage = false;
      const path = PAGES[event.key];
      if (path) location.assign(path);
      return;
    }
    switch (event.key) {
      case "/":
        goToSearch(page);
        break;
      case "j":
        step(page, 1);
        break;
      case "k":
        step(page, -1);
        break;
      case "o":
        openCurrent(page);
        break;
      case "g":
        isChoosingPage = true;
        break;
      case "?":
        help.showModal();
        break;
      default:
        return;
    }
    event.preventDefault();
  });
}

/** Returns the entry to go to from the current one: `step` is 1 or -1; without a current one, the first or the last. */
export function nextIndex(current: number, step: number, count: number): number {
  if (count === 0) return -1;
  if (current < 0) return step > 0 ? 0 : count - 1;
  return Math.min(Math.max(current + step, 0), count - 1);
}

function isField(element: HTMLElement): boolean {
  if (element instanceof HTMLInputElement) return !["checkbox", "radio", "button", "submit"].includes(element.type);
  return element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement || element.isContentEditable;
}

function goToSearch(page: Document): void {
  const field = page.getElementById("q");
  if (field instanceof HTMLInputElement) {
    field.focus();
    field.select();
  } else {
    location.assign("/");
  }
}

function step(page: Document, direction: number): void {
  const entries = Array.from(page.querySelectorAll<HTMLElement>("[data-entry]"));
  const current = entries.findIndex((entry) => "current" in entry.dataset);
  const next = entries[nextIndex(current, direction, entries.length)];
  if (!next) return;
  entries[current]?.removeAttribute("data-current");
  next.dataset["current"] = "";
  next.scrollIntoView({ block: "nearest" });
  next.querySelector<HTMLElement>("a.open, summary, a, button")?.focus({ preventScroll: true });
}

function openCurrent(page: Document): void {
  const current = page.querySelector<HTMLElement>("[data-current]");
  const link = current?.querySelector<HTMLElement>("a.open, summary, a");
  link?.click();
}
