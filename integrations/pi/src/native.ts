/** pi's own MCP client, from 0.99 on: where it has our server already, its tools are not offered a second time. */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Variables } from "./surroundings.ts";

/** Whether pi starts `palazzo mcp` by its own settings. */
export function hasServer(pi: ExtensionAPI, ctx: ExtensionContext, variables: Variables): boolean {
	if (!("registerMcpServer" in pi)) return false; // it does not read these files
	const own = join(variables["PI_CODING_AGENT_DIR"] || join(homedir(), ".pi", "agent"), "mcp.json");
	const project = ctx.isProjectTrusted?.() === true ? [join(ctx.cwd, ".pi", "mcp.json")] : [];
	return [own, ...project].some((path) => entries(path).some(isOurs));
}

function entries(path: string): unknown[] {
	if (!existsSync(path)) return [];
	try {
		const said: unknown = JSON.parse(readFileSync(path, "utf8"));
		const servers = typeof said === "object" && said !== null ? (said as Record<string, unknown>)["mcpServers"] : {};
		return typeof servers === "object" && servers !== null ? Object.values(servers) : [];
	} catch {
		return []; // pi says what is wrong with it
	}
}

function isOurs(entry: unknown): boolean {
	if (typeof entry !== "object" || entry === null) return false;
	const { command, args, enabled, disabled } = entry as Record<string, unknown>;
	if (typeof command !== "string" || enabled === false || disabled === true) return false;
	return /(^|[/\\])palazzo(\.exe|\.cmd)?$/i.test(command) && Array.isArray(args) && args[0] === "mcp";
}
