/** Parts of a page that take long: the page is fetched again with the part, which then replaces its section. */

import { fetchPart, readNodes } from "./html.js";

export function fetchLater(page: Document): void {
  for (const notice of page.querySelectorAll<HTMLElement>("[data-later]")) {
    const link = notice.querySelector("a");
    const section = notice.closest("section");
    const part = notice.dataset["later"];
    if (!link || !section || !part) continue;
    link.hidden = true;
    void fetchPart(new URL(link.href)).then((html) => {
      const fetched = document.createElement("div");
      if (html !== null) fetched.append(...readNodes(html));
      const next = fetched.querySelector(`#${CSS.escape(part)}`)?.closest("section");
      if (next) section.replaceChildren(...next.childNodes);
      else link.hidden = false;
      const count = `.chip[href="#${CSS.escape(part)}"]`; // at the top of the page: how many there are
      const chip = fetched.querySelector(count);
      if (chip) page.querySelector(count)?.replaceChildren(...chip.childNodes);
    });
  }
}
