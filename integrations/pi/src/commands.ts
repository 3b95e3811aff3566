/** `/palazzo:help`, `:init`, `:search`, `:mine`, `:status`, `:doctor`, and `/palazzo-diary`: the agent reads how, and does it. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { instructions, type Name } from "./instructions.ts";
import { COMMAND, message } from "./session.ts";
import type { Palazzo } from "./surroundings.ts";

const COMMANDS: readonly (readonly [command: string, says: Name, about: string])[] = [
	["palazzo:help", "help", "What the memory is for, and how it is asked and told"],
	["palazzo:init", "init", "Set up the memory for this project"],
	["palazzo:search", "search", "Search the memory for what was said, decided or tried before"],
	["palazzo:mine", "mine", "Read this project's documents, or other files, into the memory"],
	["palazzo:status", "status", "How much is remembered, and whether all is well"],
	["palazzo:doctor", "doctor", "Find out what is wrong with the memory, and mend it"],
	["palazzo-diary", "diary", "Write in this agent's diary, or read it: /palazzo-diary [topic]"],
];

export function offerCommands(pi: ExtensionAPI, palazzo: Palazzo): void {
	for (const [command, says, description] of COMMANDS) {
		pi.registerCommand(command, {
			description,
			async handler(given, ctx) {
				const said = (await instructions(palazzo, says)).trim();
				const content = given.trim() ? `${said}\n\nThe person says: ${given.trim()}` : said;
				pi.sendMessage(message(COMMAND, content), { triggerTurn: true, deliverAs: "followUp" });
				await ctx.waitForIdle(); // without a screen pi ends with the command
			},
		});
	}
}
