/** A program that is run once: what it is told on standard input, what it says, and how long it may take. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Palazzo } from "./surroundings.ts";

/** Bytes of an answer; nothing that Palazzo prints for a host is near it. */
const MOST = 16 << 20;

/** Why a program said nothing that could be used. */
export class NoAnswer extends Error {}

/**
 * Run `palazzo …` and return what it printed. Rejects with NoAnswer where it is not there, fails, says too much or does
 * not end within so many milliseconds; then it is ended.
 */
export function run(
	palazzo: Palazzo,
	words: readonly string[],
	options: { readonly input?: string; readonly cwd?: string; readonly within: number },
): Promise<string> {
	return new Promise((resolve, reject) => {
		let child: ChildProcessByStdio<Writable, Readable, null>;
		try {
			child = spawn(palazzo.program, [...words, ...palazzo.options], {
				cwd: options.cwd,
				stdio: ["pipe", "pipe", "ignore"],
				windowsHide: true,
			});
		} catch (error) {
			return reject(new NoAnswer(String(error))); // what no program can be called, or no directory
		}
		const said: Buffer[] = [];
		let size = 0;
		const give = (why: string) => {
			clearTimeout(timer);
			child.kill("SIGKILL");
			child.stdout.destroy(); // a process that it left behind may hold the other end open
			reject(new NoAnswer(why));
		};
		const timer = setTimeout(() => give(`it did not answer within ${options.within / 1000} s`), options.within);
		child.on("error", (error) => give(error.message));
		child.stdin.on("error", () => {}); // it need not read what it is told
		child.stdout.on("data", (piece: Buffer) => {
			size += piece.length;
			if (size > MOST) give("it said more than anybody reads");
			else said.push(piece);
		});
		child.on("close", (code, signal) => {
			clearTimeout(timer);
			if (code === 0) resolve(Buffer.concat(said).toString("utf8"));
			else reject(new NoAnswer(`it ended with ${signal ?? code}`));
		});
		child.stdin.end(options.input ?? "");
	});
}
