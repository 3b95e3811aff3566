// An extension as somebody wrote it for MemPalace: it starts `mempalace-mcp`, registers whatever tools that has, searches
// before the agent starts, and writes in the diary when the session ends. Nothing in it knows of Palazzo.
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

export default async function (pi: any) {
	const child = spawn("mempalace-mcp", [], { stdio: ["pipe", "pipe", "inherit"] });
	const waiting = new Map<number, (message: any) => void>();
	let id = 0;
	createInterface({ input: child.stdout }).on("line", (line) => {
		const message = JSON.parse(line);
		waiting.get(message.id)?.(message);
		waiting.delete(message.id);
	});
	const send = (message: object) => child.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
	const request = (method: string, params: object) =>
		new Promise<any>((resolve) => {
			waiting.set(++id, resolve);
			send({ id, method, params });
		});
	const call = async (tool: string, given: object) => {
		const { result, error } = await request("tools/call", { name: tool, arguments: given });
		const text = result?.content?.[0]?.text ?? "";
		let said: unknown = text;
		try {
			said = JSON.parse(text);
		} catch {}
		const failed = Boolean(error) || result?.isError === true || typeof said === "string";
		appendFileSync(process.env.BRIDGE_LOG!, JSON.stringify({ tool, failed, said }) + "\n");
		return text;
	};

	await request("initialize", {
		protocolVersion: "2024-11-05",
		capabilities: {},
		clientInfo: { name: "pi-mempalace", version: "0.3.0" },
	});
	send({ method: "notifications/initialized" });
	const { result } = await request("tools/list", {});
	for (const tool of result.tools) {
		pi.registerTool({
			name: tool.name,
			label: tool.name,
			description: tool.description,
			parameters: tool.inputSchema,
			execute: async (_id: string, given: object) => ({ content: [{ type: "text", text: await call(tool.name, given) }] }),
		});
	}
	pi.on("before_agent_start", async (event: any) => {
		await call("mempalace_status", {});
		const found = await call("mempalace_search", { query: event.prompt, limit: 3 });
		return { message: { customType: "mempalace", content: `Memory: ${found}`, display: false } };
	});
	pi.on("session_shutdown", async () => {
		await call("mempalace_diary_write", { agent_name: "pi", entry: "SESSION:done|used.all.of.it", topic: "general" });
		child.stdin.end();
	});
}
