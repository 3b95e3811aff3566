/**
 * One process of `palazzo mcp`, and JSON-RPC with it, one message per line.
 *
 * Each child knows only itself: a late answer from a child that was given up has no pending request, and cannot affect
 * the child that replaced it.
 */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { StringDecoder } from "node:string_decoder";

/** The child has ended without an answer. `wasSent` says whether it may have carried out the request. */
export class Gone extends Error {
	readonly wasSent: boolean;

	constructor(why: string, wasSent: boolean) {
		super(why);
		this.wasSent = wasSent;
	}
}

/** There was no answer in time. */
export class TooLate extends Error {}

/** The server answered with an error. */
export class Refused extends Error {}

interface PendingRequest {
	readonly resolve: (result: unknown) => void;
	readonly reject: (error: Error) => void;
}

export interface ChildOptions {
	readonly cwd: string;
	/** Called with each line of standard error, and with each line of standard output that is not a message. */
	readonly debug: (line: string) => void;
	/** Called for each notification from the server. */
	readonly onNotification: (method: string) => void;
	/** Called once when the child has ended or was given up, with the reason. */
	readonly onEnd: (why: string) => void;
}

/** The most characters of a line; an answer is far shorter. */
const LONGEST_LINE = 64 << 20;
/** Milliseconds between the end of a child's input, SIGTERM and SIGKILL. */
const GRACE = 1_500;

export class Child {
	private readonly process: ChildProcessWithoutNullStreams;
	private readonly options: ChildOptions;
	private readonly pending = new Map<number, PendingRequest>();
	private readonly ended: Promise<void>;
	private requests = 0;
	private lastErrorLine = "";
	private why: string | undefined;

	constructor(program: string, args: readonly string[], options: ChildOptions) {
		this.options = options;
		this.process = spawn(program, [...args], { cwd: options.cwd, stdio: "pipe", windowsHide: true });
		for (const handle of [this.process, this.process.stdin, this.process.stdout, this.process.stderr]) {
			(handle as { unref?: () => void }).unref?.(); // so that pi can end without announcing the end of the session
		}
		this.process.stdin.on("error", () => {}); // the exit event reports that the child has ended
		lines(this.process.stdout, (line) => this.receive(line), () => this.stop("it sent a line that is too long"));
		lines(this.process.stderr, (line) => this.noteErrorLine(line), () => {});
		this.ended = new Promise((resolve) => {
			this.process.on("error", (error) => {
				if (this.process.pid !== undefined) return options.debug(error.message); // a signal could not be sent
				this.markEnded(error.message);
				resolve();
			});
			this.process.once("exit", (code, signal) => {
				const ending = signal ?? `exit code ${code}`;
				this.markEnded(`it ended with ${ending}${this.lastErrorLine && `: ${this.lastErrorLine}`}`);
				resolve();
			});
		});
	}

	get isRunning(): boolean {
		return this.why === undefined;
	}

	/** Send a request. Rejects with Gone, TooLate, Refused, or the reason for which `signal` was aborted. */
	request(method: string, params: unknown, within: number, signal?: AbortSignal): Promise<unknown> {
		if (this.why !== undefined) return Promise.reject(new Gone(this.why, false));
		if (signal?.aborted) return Promise.reject(aborted(signal));
		const id = ++this.requests;
		return new Promise((resolve, reject) => {
			const timer = within > 0 ? setTimeout(() => giveUp(new TooLate(`no answer within ${within / 1000} s`)), within) : undefined;
			const onAbort = () => giveUp(aborted(signal));
			const settle = () => {
				clearTimeout(timer);
				signal?.removeEventListener("abort", onAbort);
				this.pending.delete(id);
				if (this.pending.size === 0) this.process.unref();
			};
			const giveUp = (error: Error) => {
				settle();
				this.notify("notifications/cancelled", { requestId: id, reason: error.message });
				reject(error);
			};
			signal?.addEventListener("abort", onAbort, { once: true });
			this.process.ref(); // a pending request keeps pi running
			this.pending.set(id, {
				resolve: (result) => (settle(), resolve(result)),
				reject: (error) => (settle(), reject(error)),
			});
			this.send({ id, method, params });
		});
	}

	notify(method: string, params: unknown = {}): void {
		if (this.why === undefined) this.send({ method, params });
	}

	/** End the child: close its input, then send SIGTERM, then SIGKILL. Resolves when it has ended. */
	async end(): Promise<void> {
		this.markEnded("it was ended");
		this.process.stdin.end();
		if (await this.endsWithin(GRACE)) return;
		await this.kill();
	}

	/** Stop a child that no longer answers: send SIGTERM, then SIGKILL. */
	async stop(why: string): Promise<void> {
		this.markEnded(why);
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

	private receive(line: string): void {
		const message = parseMessage(line);
		if (message === undefined) {
			if (line.trim()) this.options.debug(`not a message: ${line.slice(0, 500)}`);
			return;
		}
		const { id, method } = message;
		if (typeof method === "string") {
			if (id === undefined) this.options.onNotification(method);
			else if (method === "ping") this.send({ id, result: {} });
			else this.send({ id, error: { code: -32601, message: "this client does not support that method" } });
			return;
		}
		const request = typeof id === "number" ? this.pending.get(id) : undefined;
		if (request === undefined) return; // the request was given up
		if (message["error"] === undefined) request.resolve(message["result"]);
		else request.reject(new Refused(errorText(message["error"])));
	}

	private noteErrorLine(line: string): void {
		if (line.trim()) this.lastErrorLine = line.trim().slice(0, 300);
		this.options.debug(line);
	}

	/** Record that the child has ended, and reject the pending requests; later reasons are ignored. */
	private markEnded(why: string): void {
		if (this.why !== undefined) return;
		this.why = why;
		for (const request of [...this.pending.values()]) request.reject(new Gone(why, true));
		this.options.onEnd(why);
	}
}

function lines(stream: NodeJS.ReadableStream, onLine: (line: string) => void, onTooLong: () => void): void {
	const decoder = new StringDecoder("utf8");
	let pieces: string[] = [];
	let length = 0;
	stream.on("error", () => {}); // the exit event reports that the child has ended
	stream.on("data", (bytes: Buffer) => {
		const parts = decoder.write(bytes).split("\n");
		for (const [at, piece] of parts.entries()) {
			pieces.push(piece);
			length += piece.length;
			if (at < parts.length - 1) {
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

function parseMessage(line: string): Record<string, unknown> | undefined {
	try {
		const message: unknown = JSON.parse(line);
		const isMessage = typeof message === "object" && message !== null && "jsonrpc" in message;
		return isMessage ? (message as Record<string, unknown>) : undefined;
	} catch {
		return undefined;
	}
}

function errorText(error: unknown): string {
	const message = typeof error === "object" && error !== null ? (error as Record<string, unknown>)["message"] : undefined;
	return typeof message === "string" && message ? message : JSON.stringify(error);
}

function aborted(signal: AbortSignal | undefined): Error {
	return signal?.reason instanceof Error ? signal.reason : new Error("aborted");
}
