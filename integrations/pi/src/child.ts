/**
 * One process of `palazzo mcp` and the JSON-RPC that is spoken with it, a line for each message.
 *
 * Each child knows only of itself: what comes late from one that was given up finds nobody who waits for it, and cannot
 * touch the one that took its place.
 */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { StringDecoder } from "node:string_decoder";

/** The child is gone, and with it the answer. `wasSent` says that it may have done what it was asked. */
export class Gone extends Error {
	readonly wasSent: boolean;

	constructor(why: string, wasSent: boolean) {
		super(why);
		this.wasSent = wasSent;
	}
}

/** No answer came in time. */
export class TooLate extends Error {}

/** The server answered that it could not. */
export class Refused extends Error {}

interface Waiting {
	readonly resolve: (result: unknown) => void;
	readonly reject: (error: Error) => void;
}

export interface Around {
	readonly cwd: string;
	/** Told of each line on standard error, and of what on standard output is no message. */
	readonly debug: (line: string) => void;
	/** Told of what the server says without being asked. */
	readonly onNotification: (method: string) => void;
	/** Told once that the child is gone, and why. */
	readonly onEnd: (why: string) => void;
}

/** Characters of a line; an answer is far below it, and what never ends a line is no server. */
const LONGEST_LINE = 64 << 20;
/** Milliseconds between asking a child to end, telling it to, and ending it. */
const GRACE = 1_500;

export class Child {
	private readonly process: ChildProcessWithoutNullStreams;
	private readonly around: Around;
	private readonly waiting = new Map<number, Waiting>();
	private readonly ended: Promise<void>;
	private requests = 0;
	private lastWords = "";
	private why: string | undefined;

	constructor(program: string, words: readonly string[], around: Around) {
		this.around = around;
		this.process = spawn(program, [...words], { cwd: around.cwd, stdio: "pipe", windowsHide: true });
		for (const one of [this.process, this.process.stdin, this.process.stdout, this.process.stderr]) {
			(one as { unref?: () => void }).unref?.(); // pi can end though it never says that the session does
		}
		this.process.stdin.on("error", () => {}); // that it is gone is told by its end
		lines(this.process.stdout, (line) => this.heard(line), () => this.stop("it said a line without end"));
		lines(this.process.stderr, (line) => this.complained(line), () => {});
		this.ended = new Promise((resolve) => {
			this.process.on("error", (error) => {
				if (this.process.pid !== undefined) return around.debug(error.message); // it could not be told to end
				this.gone(error.message);
				resolve();
			});
			this.process.once("exit", (code, signal) => {
				this.gone(`it ended with ${signal ?? code}${this.lastWords && `: ${this.lastWords}`}`);
				resolve();
			});
		});
	}

	get isThere(): boolean {
		return this.why === undefined;
	}

	/** Ask; rejects with Gone, TooLate, Refused, or what `signal` was aborted for. */
	request(method: string, params: unknown, within: number, signal?: AbortSignal): Promise<unknown> {
		if (this.why !== undefined) return Promise.reject(new Gone(this.why, false));
		if (signal?.aborted) return Promise.reject(aborted(signal));
		const id = ++this.requests;
		return new Promise((resolve, reject) => {
			const timer = within > 0 ? setTimeout(() => give(new TooLate(`no answer within ${within / 1000} s`)), within) : undefined;
			const onAbort = () => give(aborted(signal));
			const done = () => {
				clearTimeout(timer);
				signal?.removeEventListener("abort", onAbort);
				this.waiting.delete(id);
				if (this.waiting.size === 0) this.process.unref();
			};
			const give = (error: Error) => {
				done();
				this.notify("notifications/cancelled", { requestId: id, reason: error.message });
				reject(error);
			};
			signal?.addEventListener("abort", onAbort, { once: true });
			this.process.ref(); // while an answer is waited for, it keeps pi alive
			this.waiting.set(id, {
				resolve: (result) => (done(), resolve(result)),
				reject: (error) => (done(), reject(error)),
			});
			this.send({ id, method, params });
		});
	}

	notify(method: string, params: unknown = {}): void {
		if (this.why === undefined) this.send({ method, params });
	}

	/** End it: by the end of its input, then by SIGTERM, then by SIGKILL; resolves when it is no more. */
	async end(): Promise<void> {
		this.gone("it was ended");
		this.process.stdin.end();
		if (await this.endsWithin(GRACE)) return;
		await this.kill();
	}

	/** End one that answers no more: by SIGTERM, then by SIGKILL. */
	async stop(why: string): Promise<void> {
		this.gone(why);
		await this.kill();
	}

	private async kill(): Promise<void> {
		this.process.kill("SIGTERM");
		if (await this.endsWithin(GRACE)) return;
		this.process.kill("SIGKILL");
		await this.endsWithin(GRACE);
	}

	private endsWithin(milliseconds: number): Promise<boolean> {
		return new Promise((resolve) => {
			const timer = setTimeout(() => resolve(false), milliseconds);
			void this.ended.then(() => (clearTimeout(timer), resolve(true)));
		});
	}

	private send(message: object): void {
		this.process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
	}

	private heard(line: string): void {
		const message = parsed(line);
		if (message === undefined) {
			if (line.trim()) this.around.debug(`no message: ${line.slice(0, 500)}`);
			return;
		}
		const { id, method } = message;
		if (typeof method === "string") {
			if (id === undefined) this.around.onNotification(method);
			else if (method === "ping") this.send({ id, result: {} });
			else this.send({ id, error: { code: -32601, message: "not offered by this client" } });
			return;
		}
		const waiting = typeof id === "number" ? this.waiting.get(id) : undefined;
		if (waiting === undefined) return; // one that was given up
		if (message["error"] === undefined) waiting.resolve(message["result"]);
		else waiting.reject(new Refused(words(message["error"])));
	}

	private complained(line: string): void {
		if (line.trim()) this.lastWords = line.trim().slice(0, 300);
		this.around.debug(line);
	}

	/** Once, whatever tells of it first. */
	private gone(why: string): void {
		if (this.why !== undefined) return;
		this.why = why;
		for (const one of [...this.waiting.values()]) one.reject(new Gone(why, true));
		this.around.onEnd(why);
	}
}

function lines(stream: NodeJS.ReadableStream, onLine: (line: string) => void, onTooLong: () => void): void {
	const decoder = new StringDecoder("utf8");
	let pieces: string[] = [];
	let length = 0;
	stream.on("error", () => {}); // the same
	stream.on("data", (bytes: Buffer) => {
		const read = decoder.write(bytes).split("\n");
		for (const [at, piece] of read.entries()) {
			pieces.push(piece);
			length += piece.length;
			if (at < read.length - 1) {
				onLine(pieces.join(""));
				pieces = [];
				length = 0;
			}
		}
		if (length > LONGEST_LINE) {
			pieces = [];
			length = 0;
			onTooLong();
		}
	});
}

function parsed(line: string): Record<string, unknown> | undefined {
	try {
		const message: unknown = JSON.parse(line);
		const isMessage = typeof message === "object" && message !== null && "jsonrpc" in message;
		return isMessage ? (message as Record<string, unknown>) : undefined;
	} catch {
		return undefined;
	}
}

function words(error: unknown): string {
	const said = typeof error === "object" && error !== null ? (error as Record<string, unknown>)["message"] : undefined;
	return typeof said === "string" && said ? said : JSON.stringify(error);
}

function aborted(signal: AbortSignal | undefined): Error {
	return signal?.reason instanceof Error ? signal.reason : new Error("aborted");
}
