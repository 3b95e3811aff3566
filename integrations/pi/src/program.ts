/** Runs a program once, with text on standard input, and returns its output within a time limit. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Palazzo } from "./surroundings.ts";

/** The most bytes of an answer; Palazzo's answers to hosts are far shorter. */
const LONGEST_ANSWER = 16 << 20;

/** Says why a program gave no usable answer. */
export class NoAnswer extends Error {}

/**
 * Run `palazzo …` and return its output. Rejects with NoAnswer if the program does not exist, fails, prints too much or
 * does not end within that many milliseconds; in that case it is killed.
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
			return reject(new NoAnswer(String(error))); // an invalid program name, or a directory that does not exist
		}
		const pieces: Buffer[] = [];
		let size = 0;
		const giveUp = (why: string) => {
			clearTimeout(timer);
			child.kill("SIGKILL");
			child.stdout.destroy(); // a process that it started may keep the other end open
			reject(new NoAnswer(why));
		};
		const timer = setTimeout(() => giveUp(`it did not answer within ${options.within / 1000} s`), options.within);
		child.on("error", (error) => giveUp(error.message));
		child.stdin.on("error", () => {}); // the program may end without reading its input
		child.stdout.on("data", (piece: Buffer) => {
			size += piece.length;
			if (size > LONGEST_ANSWER) giveUp(`it printed more than ${LONGEST_ANSWER >> 20} MB`);
			else pieces.push(piece);
		});
		child.on("close", (code, signal) => {
			clearTimeout(timer);
			if (code === 0) resolve(Buffer.concat(pieces).toString("utf8"));
			else reject(new NoAnswer(`it ended with ${signal ?? `exit code ${code}`}`));
		});
		child.stdin.end(options.input ?? "");
	});
}
