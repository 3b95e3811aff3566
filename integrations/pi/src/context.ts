/** What the model is given unasked: an orientation when a session begins, memory for a prompt, past fixes for a failure. */
import type { ExtensionAPI, ToolResultEvent } from "@earendil-works/pi-coding-agent";
import { beginning, MEMORY, message, WAKE_UP, type Session } from "./session.ts";

/** Tools whose results hooks are told of: what was read may have notes, what failed may have failed before. */
const TOLD_OF = new Set(["read", "grep", "bash", "powershell"]);
const COMMANDS = new Set(["bash", "powershell"]);
/** Characters of an output that are told of, from its end. */
const LONGEST = 200_000;

export function giveContext(pi: ExtensionAPI, session: Session, isActive: () => boolean): void {
	/** How the session began, or goes on, until the hook was told of it. */
	let begins: string | undefined;

	pi.on("session_start", (event, ctx) => {
		if (isActive()) begins = beginning(event, ctx); // in RPC it comes twice
	});
	pi.on("session_compact", () => {
		begins = "compact"; // what the session was told is gone
	});
	pi.on("before_agent_start", async (_event, ctx) => {
		if (!isActive() || begins === undefined) return undefined;
		const source = begins;
		begins = undefined;
		const answer = await session.tell(ctx, "session-start", { source });
		return answer?.inject ? { message: message(WAKE_UP, answer.inject, false) } : undefined;
	});
	pi.on("before_agent_start", async (event, ctx) => {
		if (!isActive()) return undefined;
		const answer = await session.tell(ctx, "prompt", { prompt: event.prompt });
		return answer?.inject ? { message: message(MEMORY, answer.inject, false) } : undefined;
	});
	pi.on("tool_result", async (event, ctx) => {
		if (!isActive() || !TOLD_OF.has(event.toolName)) return undefined;
		const failed = event.isError && COMMANDS.has(event.toolName);
		const said = textOf(event).slice(-LONGEST);
		const tool = { name: event.toolName, input: event.input, ...(event.isError ? { error: said } : { output: said }) };
		const answer = await session.tell(ctx, failed ? "tool-failure" : "post-tool", { tool });
		return answer?.inject ? { content: [...event.content, { type: "text" as const, text: answer.inject }] } : undefined;
	});
}

function textOf(event: ToolResultEvent): string {
	return event.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
