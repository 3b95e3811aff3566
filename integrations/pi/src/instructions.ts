/** What `palazzo instructions` says; where it cannot be asked, what came with this package. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { NoAnswer, run } from "./program.ts";
import type { Palazzo } from "./surroundings.ts";

export const BUNDLED = ["help", "init", "search", "mine", "status", "doctor", "diary", "save_session"] as const;
export type Name = (typeof BUNDLED)[number];

const WITHIN = 5_000;

export async function instructions(palazzo: Palazzo, name: Name): Promise<string> {
	try {
		const said = await run(palazzo, ["instructions", name], { within: WITHIN });
		if (said.trim()) return said;
	} catch (error) {
		if (!(error instanceof NoAnswer)) throw error;
	}
	return readFileSync(fileURLToPath(new URL(`../instructions/${name}.md`, import.meta.url)), "utf8");
}
