/**
 * Turns a fragment that the viewer's own server filled and escaped into nodes. It is the only place where HTML is read:
 * the page's policy (`trusted-types palazzo`) refuses every other.
 */

interface HtmlPolicy {
  createHTML(html: string): string;
  createScriptURL(url: string): string;
}
interface HtmlPolicyFactory {
  createPolicy(name: string, rules: HtmlPolicy): HtmlPolicy;
}

const factory = (window as unknown as { trustedTypes?: HtmlPolicyFactory }).trustedTypes;
const WORKER = "/static/layout.js";
const rules: HtmlPolicy = { createHTML: (html) => html, createScriptURL: () => WORKER };
const policy: HtmlPolicy = factory ? factory.createPolicy("palazzo", rules) : rules;

/** Returns the nodes of a fragment. Scripts in it would not run: the parser makes a document of its own. */
export function readNodes(html: string): Node[] {
  const parsed = new DOMParser().parseFromString(policy.createHTML(html), "text/html");
  return Array.from(parsed.body.childNodes).map((node) => document.adoptNode(node));
}

/** Fetches a part of a page from the viewer. Returns null if it was aborted or if the service does not answer. */
export async function fetchPart(address: URL, signal?: AbortSignal): Promise<string | null> {
  try {
    const answer = await fetch(address, { credentials: "same-origin", signal: signal ?? null });
    return await answer.text();
  } catch {
    return null;
  }
}

/** Starts the viewer's only worker, which lays out the graph. */
export function startWorker(): Worker {
  return new Worker(policy.createScriptURL(WORKER), { type: "module" });
}
