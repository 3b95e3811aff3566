/** The session as hooks are told of it: which, where, where it is written; and what a handler does with an answer. */
import type { ExtensionContext, SessionStartEvent } from "@earendil-works/pi-coding-agent";
import { tell, type Answer, type Happening, type HookEvent } from "./hooks.ts";
import { NoAnswer } from "./program.ts";
import type { Palazzo } from "./surroundings.ts";

/** Marks of the messages that we insert. */
export const WAKE_UP = "palazzo-wake-up";
export const MEMORY = "palazzo-memory";
export const CHECKPOINT = "palazzo-checkpoint";
export const COMMAND = "palazzo-command";

export class Session {
	readonly palazzo: Palazzo;
	private hasComplained = false;

	constructor(palazzo: Palazzo) {
		this.palazzo = palazzo;
	}

	/** Tell a hook; null where it gave no answer. What it has to say to the person is said. */
	async tell(ctx: ExtensionContext, event: HookEvent, more: Partial<Happening> = {}): Promise<Answer | null> {
		try {
			const answer = await tell(this.palazzo, event, { ...place(ctx), ...more });
			if (answer.tell) notify(ctx, answer.tell, answer.hold_back ? "warning" : "info");
			return answer;
		} catch (error) {
			if (!(error instanceof NoAnswer)) throw error;
			this.complain(ctx, error.message);
			return null;
		}
	}

	/** Say once in a session that there is no memory. */
	complain(ctx: ExtensionContext, why: string): void {
		if (this.hasComplained) return;
		this.hasComplained = true;
		const said = why.startsWith("Palazzo") ? why : `Palazzo's memory does not answer: ${why}. pi continues without it.`;
		notify(ctx, said, "warning");
	}
}

/** Say a line to the person; without a screen only what is wrong, where it spoils no output. */
export function notify(ctx: ExtensionContext, message: string, type: "info" | "warning"): void {
	if (ctx.hasUI) ctx.ui.notify(message, type);
	else if (type === "warning") console.error(message);
}

/**
 * How the session begins. pi says `startup` also of one that it goes on with (`-c`, `--session`, `--fork`), but has its
 * history then.
 */
export function beginning(event: SessionStartEvent, ctx: ExtensionContext): string {
	if (event.reason === "resume" || event.reason === "fork" || event.reason === "reload") return event.reason;
	const before = ctx.sessionManager.getBranch();
	const goesOn = before.some(
		(entry) =>
			entry.type === "message" && (entry.message.role === "user" || entry.message.role === "assistant") ||
			entry.type === "custom_message" && entry.customType === WAKE_UP,
	);
	return goesOn ? "resume" : event.reason;
}

/** A message that the model reads, and the person as well, as one that was inserted, unless it is only context. */
export function message(customType: string, content: string, display = true) {
	return { customType, content, display };
}

function place(ctx: ExtensionContext): Happening {
	// pi names the file before it writes it, with the first answer.
	return {
		session: ctx.sessionManager.getSessionId(),
		cwd: ctx.cwd,
		transcript: ctx.sessionManager.getSessionFile() ?? "",
	};
}
