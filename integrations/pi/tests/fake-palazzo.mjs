#!/usr/bin/env node
// A program `palazzo` of which a test says how it behaves: FAKE (for `mcp`), FAKE_HOOK (for everything else).
// Each start of it is a line in $FAKE_LOG, each request that it reads another.
import { appendFileSync, readFileSync } from "node:fs";

const log = (line) => process.env.FAKE_LOG && appendFileSync(process.env.FAKE_LOG, `${line}\n`);
const started = (process.env.FAKE_LOG && read(process.env.FAKE_LOG).filter((line) => line.startsWith("start")).length) || 0;
log(`start ${process.argv.slice(2).join(" ")}`);

function read(path) {
	try {
		return readFileSync(path, "utf8").split("\n");
	} catch {
		return [];
	}
}

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const TOOLS = [
	{
		name: "search", description: "Find it. In words.", annotations: { readOnlyHint: true },
		inputSchema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
	},
	{ name: "remember", description: "Keep it.", inputSchema: { type: "object", properties: { text: { type: "string" } } } },
];

const BEHAVIOUR = {
	async crash() {
		console.error("Traceback: no palace");
		process.exit(7);
	},
	async deaf() {
		process.on("SIGTERM", () => log("SIGTERM"));
		for (;;) await sleep(1_000);
	},
};

async function answer({ id, method, params }) {
	log(method + (params?.name ? ` ${params.name}` : ""));
	const mode = process.env.FAKE ?? "";
	if (id === undefined) return;
	if (mode === "garbage") process.stdout.write('no JSON\n[1, 2\n{"jsonrpc": "2.0", "id": 99999, "result": {}}\nnull\n"x"\n\n');
	if (mode === "slow") await sleep(300);
	if (method === "initialize") {
		if (mode === "mute") return;
		say({ id: "from the server", method: "ping" });
		say({ id, result: { protocolVersion: "2025-06-18", instructions: "Search first.\nThen say.", serverInfo: { name: "fake" } } });
	} else if (method === "tools/list") {
		const second = params?.cursor === "2";
		say({ id, result: second ? { tools: [TOOLS[1], { name: "no schema" }, 5] } : { tools: [TOOLS[0]], nextCursor: "2" } });
	} else if (method === "tools/call") {
		if (mode === "dies" || (mode === "dies-once" && started === 0)) process.exit(3);
		if (mode === "hangs" || (mode === "hangs-once" && started === 0)) return;
		if (mode === "refuses") say({ id, error: { code: -32602, message: "no such thing" } });
		else if (mode === "fails") say({ id, result: { isError: true, content: [{ type: "text", text: "the palace is locked" }] } });
		else if (mode === "huge") say({ id, result: { content: [{ type: "text", text: "ü\n".repeat(3_000_000) }] } });
		else say({ id, result: { content: [{ type: "text", text: `${params.name} ${JSON.stringify(params.arguments)} ${process.pid}` }] } });
	}
}

if (process.argv[2] === "mcp") {
	await BEHAVIOUR[process.env.FAKE]?.();
	if (process.env.FAKE === "mute" || process.env.FAKE?.startsWith("hangs")) process.on("SIGTERM", () => log("SIGTERM"));
	let rest = "";
	let answered = Promise.resolve();
	process.stdin.on("data", (piece) => {
		const lines = (rest + piece).split("\n");
		rest = lines.pop();
		for (const line of lines) answered = answered.then(() => answer(JSON.parse(line)));
	});
	process.stdin.on("end", () => {
		log("end");
		if (!process.env.FAKE?.startsWith("hangs") && process.env.FAKE !== "mute") process.exit(0);
	});
} else {
	const behaviour = process.env.FAKE_HOOK ?? "{}";
	if (behaviour === "crash") process.exit(9);
	if (behaviour === "hang") await BEHAVIOUR.deaf();
	if (behaviour === "slow") await sleep(300);
	process.stdout.write(behaviour === "echo" ? readFileSync(0, "utf8") : behaviour === "slow" ? "{}" : behaviour);
}
