/** The server's tools as pi's: their names, schemas and descriptions are the server's own. */
import type { ExtensionAPI, ToolDefinition } from "@earendil-works/pi-coding-agent";
import type { Result, Server, Tool } from "./server.ts";

type Content = { type: "text"; text: string } | { type: "image"; data: string; mimeType: string };

/** pi has tools called `read` and `ls` itself, so each of ours says whose it is. */
export function nameInPi(tool: string): string {
	return /^(palazzo|mempalace)_/.test(tool) ? tool : `palazzo_${tool}`;
}

/** Register them all; doing it again brings them up to date. What the server says of itself stands with the first. */
export function register(pi: ExtensionAPI, server: Server, tools: readonly Tool[], instructions: string): void {
	for (const [at, tool] of tools.entries()) pi.registerTool(definition(server, tool, at === 0 ? guidelines(tools, instructions) : []));
}

function definition(server: Server, tool: Tool, promptGuidelines: string[]): ToolDefinition {
	const name = nameInPi(tool.name);
	const description = tool.description ?? "";
	return {
		name,
		label: tool.title ?? tool.annotations?.title ?? name,
		description,
		promptSnippet: firstSentence(description),
		...(promptGuidelines.length > 0 && { promptGuidelines }),
		parameters: tool.inputSchema as ToolDefinition["parameters"],
		async execute(_id, given, signal) {
			const result = await server.call(tool, given ?? {}, signal);
			const content = contentOf(result);
			if (result.isError === true) throw new Error(textOf(content) || `${name} failed without saying why`);
			return { content, details: undefined }; // pi keeps these in its file, beside the same in words
		},
	};
}

/** The server's own guidance, and by which names its tools go here. */
function guidelines(tools: readonly Tool[], instructions: string): string[] {
	const renamed = tools.filter((tool) => nameInPi(tool.name) !== tool.name);
	const called = renamed.length > 0 ? [`Palazzo's tools have the prefix palazzo_ here: its \`${renamed[0]?.name}\` is \`${nameInPi(renamed[0]?.name ?? "")}\`.`] : [];
	const said = instructions.replace(/\s*\n\s*/g, " ").trim();
	return said ? [said, ...called] : called;
}

function firstSentence(description: string): string {
	return description.split(/(?<=[.;:])\s|\n/, 1)[0] ?? description;
}

function contentOf(result: Result): Content[] {
	const found = (result.content ?? []).map((part): Content => {
		const { type, text, data, mimeType } = part;
		if (type === "text" && typeof text === "string") return { type, text };
		if (type === "image" && typeof data === "string" && typeof mimeType === "string") return { type, data, mimeType };
		return { type: "text", text: JSON.stringify(part) };
	});
	if (found.length > 0 || result.structuredContent === undefined) return found;
	return [{ type: "text", text: JSON.stringify(result.structuredContent) }];
}

function textOf(content: readonly Content[]): string {
	return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
