/** Ties the parts to one instance of the extension. pi makes one for each session that it opens in its process. */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { keepCheckpoints } from "./checkpoints.ts";
import { offerCommands } from "./commands.ts";
import { keepBeforeCompaction } from "./compaction.ts";
import { giveContext } from "./context.ts";
import { hasServer } from "./native.ts";
import { Server } from "./server.ts";
import { Session } from "./session.ts";
import { limits, type Palazzo } from "./surroundings.ts";
import { register } from "./tools.ts";

/** Milliseconds that the first prompt of a session waits for the tools, where the server is slow to say them. */
const PATIENCE = 10_000;
/** Who is at which session: of two copies that are loaded, one is to be at work. */
const AT_WORK = Symbol.for("palazzo.pi.sessions");

export function wire(pi: ExtensionAPI, palazzo: Palazzo): void {
	const session = new Session(palazzo);
	const place = new Place();
	let server: Server | undefined;
	let tools: Promise<void> | undefined;
	const isActive = () => place.isTaken;

	const start = (ctx: ExtensionContext) => {
		if (server !== undefined || hasServer(pi, ctx, process.env)) return;
		const started = new Server(palazzo, limits(process.env), ctx.cwd, process.env, (found, instructions) => {
			if (server === started) register(pi, started, found, instructions);
		});
		server = started;
		tools = started.start().catch((error: unknown) => {
			if (server === started) session.complain(ctx, error instanceof Error ? error.message : String(error));
		});
	};

	pi.on("session_start", (_event, ctx) => {
		if (place.take(ctx.sessionManager.getSessionId())) start(ctx);
	});
	// Before the prompt's own events: what they are given of the system prompt has the tools that are there by then.
	pi.on("input", async () => {
		if (tools === undefined) return;
		const found = tools;
		tools = undefined; // the next prompt waits for nothing; tools that come later are offered then
		await within(PATIENCE, found);
	});
	offerCommands(pi, palazzo);
	giveContext(pi, session, isActive);
	keepCheckpoints(pi, session, isActive);
	keepBeforeCompaction(pi, session, isActive, () => server?.isThere ?? false);
	pi.on("session_shutdown", async (event, ctx) => {
		if (!place.isTaken) return;
		place.leave();
		const ended = server?.end();
		server = undefined;
		if (event.reason !== "reload") await session.tell(ctx, "session-end", { trigger: event.reason });
		await ended;
	});
}

/** An instance's place at a session; the first that takes it has it. */
class Place {
	private session: string | undefined;

	get isTaken(): boolean {
		return this.session !== undefined;
	}

	take(session: string): boolean {
		const taken = places();
		const owner = taken.get(session);
		if (owner !== undefined && owner !== this) return false;
		this.leave();
		taken.set(session, this);
		this.session = session;
		return true;
	}

	leave(): void {
		if (this.session !== undefined) places().delete(this.session);
		this.session = undefined;
	}
}

function places(): Map<string, unknown> {
	const all = globalThis as { [AT_WORK]?: Map<string, unknown> };
	all[AT_WORK] ??= new Map();
	return all[AT_WORK];
}

function within(milliseconds: number, promise: Promise<void>): Promise<void> {
	return new Promise((resolve) => {
		const timer = setTimeout(resolve, milliseconds);
		void promise.then(() => (clearTimeout(timer), resolve()));
	});
}
