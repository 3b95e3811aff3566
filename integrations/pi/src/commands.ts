/** `/palazzo:help`, `:init`, `:search`, `:mine`, `:status`, `:doctor`, and `/palazzo-diary`: the agent reads their instructions and follows them. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { instructions, type Name } from "./instructions.ts";
import { COMMAND, message } from "./session.ts";
import type { Palazzo } from "./surroundings.ts";

const COMMANDS: readonly (readonly [command: string, says: Name, about: string])[] = [
	["palazzo:help", "help", "Explain what the memory is for and how to use it"],
	["palazzo:init", "init", "Set up the memory for this project"],
	["palazzo:search", "search", "Search the memory for what was said, decided or tried before"],
	["palazzo:mine", "mine", "Index this project's documents, or other files, in the memory"],
	["palazzo:status", "status", "Show how much the memory holds, and whether it is in order"],
	["palazzo:doctor", "doctor", "Find problems with the memory, and fix them"],
	["palazzo-diary", "diary", "Write or read this agent's diary: /palazzo-diary [topic]"],
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
