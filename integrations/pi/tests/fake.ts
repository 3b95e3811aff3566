/** A fake `palazzo` and a fake pi. Its processes are real ones, which hang, crash and say garbage. */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Server, type Tool } from "../src/server.ts";
import type { Limits, Palazzo } from "../src/surroundings.ts";

export const FAKE: Palazzo = { program: fileURLToPath(new URL("fake-palazzo.mjs", import.meta.url)), options: [] };
export const NOWHERE: Palazzo = { program: join(tmpdir(), "no such palazzo"), options: [] };
export const QUICK: Limits = { call: 5_000, initialize: 5_000, tries: 2, pause: 10 };

/** Let what is started from now on behave so; return what it wrote down of itself. */
export function behave(how: string, hook = "{}"): () => string[] {
	const log = join(mkdtempSync(join(tmpdir(), "palazzo-pi-")), "log");
	Object.assign(process.env, { FAKE: how, FAKE_HOOK: hook, FAKE_LOG: log });
	return () => {
		try {
			return readFileSync(log, "utf8").split("\n").filter(Boolean);
		} catch {
			return [];
		}
	};
}

export interface Served {
	readonly server: Server;
	readonly tools: Tool[];
	instructions: string;
}

export function serve(limits: Partial<Limits> = {}, palazzo: Palazzo = FAKE): Served {
	const tools: Tool[] = [];
	const server = new Server(palazzo, { ...QUICK, ...limits }, tmpdir(), {}, (found, instructions) => {
		tools.splice(0, tools.length, ...found);
		served.instructions = instructions;
	});
	const served: Served = { server, tools, instructions: "" };
	return served;
}

export const SEARCH: Tool = { name: "search", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } };
export const REMEMBER: Tool = { name: "remember", inputSchema: { type: "object" } };

export function textOf(result: { readonly content?: readonly Record<string, unknown>[] }): string {
	return (result.content ?? []).map((part) => String(part["text"])).join("\n");
}

export async function until(condition: () => boolean): Promise<void> {
	const deadline = Date.now() + 10_000;
	while (!condition()) {
		if (Date.now() > deadline) throw new Error("it did not come to pass");
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
}

type Handler = (event: unknown, ctx: unknown) => unknown;

/** As much of pi as the extension uses; `emit` tells it of an event and returns what its handlers answered. */
export class FakePi {
	readonly handlers = new Map<string, Handler[]>();
	readonly tools = new Map<string, Record<string, unknown>>();
	readonly commands = new Map<string, { handler: (given: string, ctx: unknown) => Promise<void> }>();
	readonly sent: { message: Record<string, unknown>; options: unknown }[] = [];
	readonly told: string[] = [];
	branch: unknown[] = [];
	session = "s1";

	get api(): ExtensionAPI {
		return this as unknown as ExtensionAPI;
	}

	get ctx() {
		return {
			cwd: tmpdir(),
			hasUI: true,
			ui: { notify: (message: string) => this.told.push(message) },
			waitForIdle: () => Promise.resolve(),
			sessionManager: {
				getSessionId: () => this.session,
				getSessionFile: () => "/nowhere/session.jsonl",
				getBranch: () => this.branch,
			},
		};
	}

	on(event: string, handler: Handler): void {
		this.handlers.set(event, [...(this.handlers.get(event) ?? []), handler]);
	}

	registerTool(tool: { name: string }): void {
		this.tools.set(tool.name, { ...tool });
	}

	registerCommand(name: string, command: { handler: (given: string, ctx: unknown) => Promise<void> }): void {
		this.commands.set(name, command);
	}

	sendMessage(message: Record<string, unknown>, options: unknown): void {
		this.sent.push({ message, options });
	}

	async emit(type: string, event: Record<string, unknown> = {}): Promise<Record<string, unknown>[]> {
		const answers: Record<string, unknown>[] = [];
		for (const handler of this.handlers.get(type) ?? []) {
			const answer = await handler({ type, ...event }, this.ctx);
			if (answer) answers.push(answer as Record<string, unknown>);
		}
		return answers;
	}
}
