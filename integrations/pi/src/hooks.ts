/** `palazzo hook pi EVENT`: what happened is told, and what to do of it answered. What to say is decided there. */
import { NoAnswer, run } from "./program.ts";
import type { Palazzo } from "./surroundings.ts";

export type HookEvent =
	| "session-start"
	| "prompt"
	| "post-tool"
	| "tool-failure"
	| "stop"
	| "pre-compact"
	| "session-end";

/** What happened; `hosts/extension.py` reads it. */
export interface Happening {
	readonly session: string;
	readonly cwd: string;
	readonly transcript?: string;
	readonly source?: string;
	readonly prompt?: string;
	readonly trigger?: string;
	readonly last_message?: string;
	readonly asked?: boolean;
	readonly tool?: { readonly name: string; readonly input: unknown; readonly output?: string; readonly error?: string };
}

/** Words for the agent, a reason for one more turn, a line for the person; whether a compaction must wait. */
export interface Answer {
	readonly inject?: string;
	readonly ask?: string;
	readonly tell?: string;
	readonly hold_back?: boolean;
}

/** Until a hook is given up. It ends within a second by itself; a machine that is busy takes longer to start any. */
const WITHIN = 10_000;
/** The same before a compaction, which may take a hook ten seconds, and at a session's end. */
const WITHIN_FOR: Partial<Record<HookEvent, number>> = { "pre-compact": 20_000, "session-end": 5_000 };

/** Tell what happened. Rejects with NoAnswer where no answer came that can be read. */
export async function tell(palazzo: Palazzo, event: HookEvent, happening: Happening): Promise<Answer> {
	const said = await run(palazzo, ["hook", "pi", event], {
		input: JSON.stringify(happening),
		cwd: happening.cwd,
		within: WITHIN_FOR[event] ?? WITHIN,
	});
	return read(said);
}

function read(said: string): Answer {
	let answer: unknown;
	try {
		answer = JSON.parse(said);
	} catch {
		throw new NoAnswer("it answered what is no JSON");
	}
	if (typeof answer !== "object" || answer === null || Array.isArray(answer)) {
		throw new NoAnswer("it answered what is no object");
	}
	const { inject, ask, tell, hold_back } = answer as Record<string, unknown>;
	return {
		...(typeof inject === "string" && { inject }),
		...(typeof ask === "string" && { ask }),
		...(typeof tell === "string" && { tell }),
		...(hold_back === true && { hold_back }),
	};
}
