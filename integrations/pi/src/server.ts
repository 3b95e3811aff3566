/**
 * The MCP server of a session: started in the background, greeted, its tools listed; started again when it is needed
 * and gone. Nobody waits for it who does not ask for something.
 */
import { Child, Gone, Refused, TooLate } from "./child.ts";
import { isDebugged, LONGEST_PAUSE, type Limits, type Palazzo, type Variables } from "./surroundings.ts";

/** A tool as the server describes it. */
export interface Tool {
	readonly name: string;
	readonly title?: string;
	readonly description?: string;
	readonly inputSchema: Record<string, unknown>;
	readonly annotations?: { readonly title?: string; readonly readOnlyHint?: boolean; readonly idempotentHint?: boolean };
}

/** What a tool answered. */
export interface Result {
	readonly content?: readonly Record<string, unknown>[];
	readonly structuredContent?: unknown;
	readonly isError?: boolean;
}

/** What the server says of itself, each time that it has been started. */
export type OnTools = (tools: readonly Tool[], instructions: string) => void;

/** There is no server, and there will be none for a while. */
export class Unavailable extends Error {}

const PROTOCOL = "2025-06-18";
/** Milliseconds after which one that ended too often is tried again: meanwhile somebody may have mended it. */
const REST = 60_000;
/** Pages of tools. */
const MOST_PAGES = 100;

export class Server {
	private readonly palazzo: Palazzo;
	private readonly limits: Limits;
	private readonly cwd: string;
	private readonly variables: Variables;
	private readonly onTools: OnTools;
	private child: Child | undefined;
	private connecting: Promise<Child> | undefined;
	private generation = 0;
	/** How often one was started again since there was an answer. */
	private spent = 0;
	private gaveUp: { readonly at: number; readonly error: Unavailable } | undefined;
	private lastWhy = "";
	private instructions = "";
	private isOver = false;

	constructor(palazzo: Palazzo, limits: Limits, cwd: string, variables: Variables, onTools: OnTools) {
		this.palazzo = palazzo;
		this.limits = limits;
		this.cwd = cwd;
		this.variables = variables;
		this.onTools = onTools;
	}

	/** Whether it has answered and is there. */
	get isThere(): boolean {
		return this.child?.isRunning ?? false;
	}

	/** Resolves once the tools are known; rejects with Unavailable where there is no server. */
	async start(): Promise<void> {
		await this.connected();
	}

	/** Call a tool. Rejects with a sentence for the agent where there is no answer, or with what `signal` says. */
	async call(tool: Tool, given: unknown, signal?: AbortSignal): Promise<Result> {
		const mayRepeat = tool.annotations?.readOnlyHint === true || tool.annotations?.idempotentHint === true;
		for (let again = 0; ; again++) {
			const child = await unless(signal, this.connected());
			try {
				const result = await child.request("tools/call", { name: tool.name, arguments: given }, this.limits.call, signal);
				this.spent = 0;
				return result as Result;
			} catch (error) {
				if (error instanceof Refused) {
					this.spent = 0;
					throw new Error(`Palazzo could not do ${tool.name}: ${error.message}`);
				}
				if (error instanceof TooLate) {
					void child.stop("it did not answer any more");
					const within = this.limits.call / 1000;
					throw new Error(
						`Palazzo did not answer ${tool.name} within ${within} s, so its server was ended; the next call starts it again.`,
					);
				}
				if (!(error instanceof Gone)) throw error;
				if (error.wasSent && !mayRepeat) {
					throw new Error(
						`Palazzo's server was lost during ${tool.name} (${error.message}). It may have been done: look before doing it again.`,
					);
				}
				if (again >= this.limits.tries) throw new Error(`Palazzo's server was lost during ${tool.name}: ${error.message}.`);
			}
		}
	}

	/** End it for good. */
	async end(): Promise<void> {
		this.isOver = true;
		await this.child?.end();
	}

	// --- starting -------------------------------------------------------------------------------------------------

	private connected(): Promise<Child> {
		if (this.child?.isRunning && !this.connecting) return Promise.resolve(this.child);
		this.connecting ??= this.connect().finally(() => {
			this.connecting = undefined;
		});
		return this.connecting;
	}

	private async connect(): Promise<Child> {
		if (this.gaveUp) {
			if (Date.now() - this.gaveUp.at < REST) throw this.gaveUp.error;
			this.gaveUp = undefined;
			this.spent = 0;
		}
		for (;;) {
			if (this.isOver) throw new Unavailable("The session has ended.");
			if (this.generation > 0) await this.pause();
			try {
				return await this.begun();
			} catch (error) {
				this.lastWhy = error instanceof Error ? error.message : String(error);
				if (this.lastWhy.includes("ENOENT")) throw this.givenUp(`the program '${this.palazzo.program}' was not found`);
			}
		}
	}

	/** Wait before one more is started; Unavailable where that was tried often enough. */
	private async pause(): Promise<void> {
		if (this.spent >= this.limits.tries) throw this.givenUp(this.lastWhy || "it ended again and again");
		const pause = Math.min(this.limits.pause * 2 ** this.spent, LONGEST_PAUSE);
		this.spent += 1;
		await new Promise((resolve) => setTimeout(resolve, pause));
		if (this.isOver) throw new Unavailable("The session has ended.");
	}

	private givenUp(why: string): Unavailable {
		const error = new Unavailable(
			`Palazzo's memory cannot be reached: ${why}. pi continues without it; run 'palazzo doctor' for details.`,
		);
		this.gaveUp = { at: Date.now(), error };
		return error;
	}

	private async begun(): Promise<Child> {
		const generation = ++this.generation;
		const child = new Child(this.palazzo.program, ["mcp", ...this.palazzo.options], {
			cwd: this.cwd,
			debug: (line) => this.debug(`[palazzo mcp ${generation}] ${line}`),
			onNotification: (method) => {
				if (method === "notifications/tools/list_changed") this.listAgain(child);
			},
			onEnd: (why) => {
				if (generation === this.generation) this.lastWhy = why; // one that ends late says nothing of the next
			},
		});
		this.child = child;
		try {
			const about = (await child.request("initialize", GREETING, this.limits.initialize)) as Record<string, unknown> | null;
			child.notify("notifications/initialized");
			const tools = await this.listed(child);
			this.spent = 0;
			const said = about?.["instructions"];
			this.instructions = typeof said === "string" ? said : "";
			this.onTools(tools, this.instructions);
			return child;
		} catch (error) {
			await child.stop("it could not be greeted");
			throw error;
		}
	}

	private async listed(child: Child): Promise<Tool[]> {
		const found: Tool[] = [];
		let cursor: unknown;
		for (let page = 0; page < MOST_PAGES; page++) {
			const asked = cursor === undefined ? {} : { cursor };
			const said = (await child.request("tools/list", asked, this.limits.call)) as Record<string, unknown> | null;
			const tools = Array.isArray(said?.["tools"]) ? said["tools"] : [];
			found.push(...tools.filter(isTool));
			cursor = said?.["nextCursor"];
			if (typeof cursor !== "string" || !cursor) break;
		}
		return found;
	}

	private listAgain(child: Child): void {
		this.listed(child)
			.then((tools) => this.onTools(tools, this.instructions))
			.catch((error: unknown) => this.debug(`[palazzo mcp] its tools could not be listed again: ${String(error)}`));
	}

	private debug(line: string): void {
		if (isDebugged(this.variables)) console.error(line);
	}
}

const GREETING = {
	protocolVersion: PROTOCOL,
	capabilities: {},
	clientInfo: { name: "pi", title: "Palazzo in pi", version: "1" },
};

function isTool(one: unknown): one is Tool {
	if (typeof one !== "object" || one === null) return false;
	const { name, inputSchema } = one as Record<string, unknown>;
	return typeof name === "string" && name !== "" && typeof inputSchema === "object" && inputSchema !== null;
}

/** The promise, unless the signal is aborted before it is settled. */
function unless<T>(signal: AbortSignal | undefined, promise: Promise<T>): Promise<T> {
	if (signal === undefined) return promise;
	return new Promise((resolve, reject) => {
		const onAbort = () => reject(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
		if (signal.aborted) onAbort();
		signal.addEventListener("abort", onAbort, { once: true });
		promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
	});
}
