/** The extension in a pi that tells it of one event after the other. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { wire } from "../src/wire.ts";
import { behave, FAKE, FakePi, NOWHERE, until } from "./fake.ts";

let sessions = 0;

async function begun(palazzo = FAKE, reason = "startup", branch: unknown[] = []): Promise<FakePi> {
	const pi = new FakePi();
	pi.session = `s${++sessions}`;
	pi.branch = branch;
	wire(pi.api, palazzo);
	await pi.emit("session_start", { reason });
	return pi;
}

async function ended(pi: FakePi): Promise<void> {
	await pi.emit("session_shutdown", { reason: "quit" });
}

const starts = (log: string[]) => log.filter((line) => line.startsWith("start hook pi")).map((line) => line.split(" ")[3]);

test("the first prompt finds the tools registered, with names of their own and the server's guidance", async () => {
	behave("slow");
	const pi = await begun();
	assert.equal(pi.tools.size, 0); // nothing has been waited for
	await pi.emit("input", { text: "hello" });
	assert.deepEqual([...pi.tools.keys()], ["palazzo_search", "palazzo_remember"]);
	const search = pi.tools.get("palazzo_search");
	assert.equal(search?.["promptSnippet"], "Find it.");
	assert.match(String(search?.["promptGuidelines"]), /Search first\. Then say\..*`search` is `palazzo_search`/);
	await ended(pi);
});

test("a session that begins is told where things stand once, though its start is told twice", async () => {
	const log = behave("", '{"inject": "where things stand"}');
	const pi = await begun();
	await pi.emit("session_start", { reason: "startup" });
	const first = await pi.emit("before_agent_start", { prompt: "hello" });
	assert.deepEqual(first.map((one) => (one["message"] as Record<string, unknown>)["customType"]), ["palazzo-wake-up", "palazzo-memory"]);
	const second = await pi.emit("before_agent_start", { prompt: "and again" });
	assert.equal(second.length, 1);
	assert.deepEqual(starts(log()), ["session-start", "prompt", "prompt"]);
	await pi.emit("session_compact");
	assert.equal((await pi.emit("before_agent_start", { prompt: "after" })).length, 2);
	await ended(pi);
});

test("pi says startup of a session that it goes on with; its history says otherwise", async () => {
	const source = async (reason: string, branch: unknown[]) => {
		behave("", "echo");
		const pi = await begun(FAKE, reason, branch);
		const heard: string[] = [];
		pi.ctx.ui.notify = (message) => heard.push(message);
		await ended(pi);
		const { beginning } = await import("../src/session.ts");
		return beginning({ type: "session_start", reason } as never, pi.ctx as never);
	};
	assert.equal(await source("startup", []), "startup");
	assert.equal(await source("new", [{ type: "model_change" }, { type: "message", message: { role: "system" } }]), "new");
	assert.equal(await source("startup", [{ type: "message", message: { role: "user" } }]), "resume");
	assert.equal(await source("startup", [{ type: "custom_message", customType: "palazzo-wake-up" }]), "resume");
	assert.equal(await source("fork", []), "fork");
});

test("a save that is asked for is one turn more, and that turn asks for none", async () => {
	const log = behave("", '{"ask": "save now"}');
	const pi = await begun();
	await pi.emit("turn_end", { outcome: "completed", message: { role: "assistant", content: [{ type: "text", text: "done" }] } });
	const settle = { outcome: "completed", continue: false };
	const [answer] = await pi.emit("agent_before_settle", settle);
	assert.equal(answer?.["continue"], true);
	assert.deepEqual((answer?.["entries"] as Record<string, unknown>[])[0]?.["content"], "save now");
	await pi.emit("agent_end", { messages: [] });
	assert.deepEqual(starts(log()), ["stop"]); // where a run settles, its end is told there alone
	assert.deepEqual(await pi.emit("agent_before_settle", { ...settle, outcome: "aborted" }), []);
	await ended(pi);
});

test("an older pi is asked by a message after the run", async () => {
	behave("", '{"ask": "save now"}');
	const pi = await begun();
	await pi.emit("turn_end", { message: { role: "assistant", content: [] } });
	await pi.emit("agent_end", { messages: [{ role: "assistant", stopReason: "stop", content: [] }] });
	assert.deepEqual(pi.sent, [
		{ message: { customType: "palazzo-checkpoint", content: "save now", display: true }, options: { triggerTurn: true, deliverAs: "followUp" } },
	]);
	await ended(pi);
});

test("a compaction that nothing was kept before waits once, and never after an overflow", async () => {
	behave("", '{"hold_back": true, "tell": "could not be kept"}');
	const pi = await begun();
	assert.deepEqual(await pi.emit("session_before_compact", { reason: "overflow", willRetry: true }), []);
	assert.deepEqual(await pi.emit("session_before_compact", { reason: "manual", willRetry: false }), [{ cancel: true }]);
	assert.deepEqual(await pi.emit("session_before_compact", { reason: "manual", willRetry: false }), []);
	assert.equal(pi.sent.length, 1); // what it is asked is what the program answers to `instructions`
	assert.deepEqual(pi.sent[0]?.options, { triggerTurn: true, deliverAs: "followUp" });
	assert.deepEqual(pi.told, Array(3).fill("could not be kept"));
	await ended(pi);
});

test("a compaction goes on where there is no memory at all", async () => {
	const pi = await begun(NOWHERE);
	assert.deepEqual(await pi.emit("session_before_compact", { reason: "manual", willRetry: false }), []);
	await ended(pi);
});

test("without Palazzo every event is let pass, and the person is told so once", async () => {
	const pi = await begun(NOWHERE);
	for (const [event, more] of Object.entries({
		input: { text: "x" },
		before_agent_start: { prompt: "x" },
		tool_result: { toolName: "bash", isError: true, input: {}, content: [{ type: "text", text: "no" }] },
		turn_end: { message: { role: "user", content: "x" } },
		agent_end: { messages: [] },
	})) {
		assert.deepEqual(await pi.emit(event, more), []);
	}
	await until(() => pi.told.length > 0);
	assert.equal(pi.told.length, 1);
	assert.match(pi.told[0] ?? "", /^Palazzo.*pi continues without it/);
	await pi.commands.get("palazzo:help")?.handler("", pi.ctx);
	assert.match(String(pi.sent[0]?.message["content"]), /^# /);
	await ended(pi);
});

test("what failed is told with its words, and what is known of it stands behind them", async () => {
	const log = behave("", '{"inject": "a past fix"}');
	const pi = await begun();
	const content = [{ type: "text", text: "exit 1" }];
	const [answer] = await pi.emit("tool_result", { toolName: "bash", isError: true, input: { command: "x" }, content });
	assert.deepEqual(answer?.["content"], [...content, { type: "text", text: "a past fix" }]);
	assert.deepEqual(await pi.emit("tool_result", { toolName: "write", isError: true, input: {}, content }), []);
	await pi.emit("tool_result", { toolName: "read", isError: true, input: {}, content });
	assert.deepEqual(starts(log()), ["tool-failure", "post-tool"]);
	await ended(pi);
});

test("of two copies that are loaded one is at work, and the session after has one again", async () => {
	const log = behave("", '{"inject": "words"}');
	const one = await begun();
	const other = new FakePi();
	other.session = one.session;
	wire(other.api, FAKE);
	await other.emit("session_start", { reason: "startup" });
	await Promise.all([one.emit("input"), other.emit("input")]);
	assert.deepEqual([one.tools.size, other.tools.size], [2, 0]);
	assert.deepEqual(await other.emit("before_agent_start", { prompt: "x" }), []);
	assert.equal(log().filter((line) => line === "start mcp").length, 1);
	await ended(other);
	await ended(one);
	await other.emit("session_start", { reason: "new" });
	await other.emit("input");
	assert.equal(other.tools.size, 2);
	await ended(other);
});

test("a tool's failure is an error in its own words; its answer's parts are pi's", async () => {
	behave("fails");
	const pi = await begun();
	await pi.emit("input");
	const search = pi.tools.get("palazzo_search") as { execute: (id: string, given: unknown) => Promise<unknown> };
	await assert.rejects(search.execute("1", {}), /^Error: the palace is locked$/);
	await ended(pi);
});
