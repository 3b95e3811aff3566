/** The MCP server of a session, however it behaves: every call ends, with an answer or with a sentence that says why. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Unavailable } from "../src/server.ts";
import { behave, NOWHERE, REMEMBER, SEARCH, serve, textOf, until } from "./fake.ts";

test("tools are listed over all pages, with the schemas that the server gives; what has none is left out", async () => {
	behave("");
	const { server, tools } = serve();
	await server.start();
	assert.deepEqual(tools.map((tool) => tool.name), ["search", "remember"]);
	assert.deepEqual(tools[0]?.inputSchema["required"], ["query"]);
	await server.end();
});

test("a call is answered, though the server says what is no message, and what nobody asked for", async () => {
	behave("garbage");
	const { server } = serve();
	assert.match(textOf(await server.call(SEARCH, { query: "ü\u2028" })), /^search {"query":"ü\u2028"}/);
	await server.end();
});

test("an answer of some megabytes arrives whole", async () => {
	behave("huge");
	const { server } = serve({ call: 30_000 });
	assert.equal(textOf(await server.call(SEARCH, {})).length, 6_000_000);
	await server.end();
});

test("one that answers slowly is waited for", async () => {
	behave("slow");
	const { server } = serve();
	const answers = await Promise.all([server.call(SEARCH, { n: 1 }), server.call(SEARCH, { n: 2 })]);
	assert.deepEqual(answers.map((one) => textOf(one).includes('{"n":2}')), [false, true]);
	await server.end();
});

test("an error that the server answers is told, and costs it nothing", async () => {
	const log = behave("refuses");
	const { server } = serve();
	await assert.rejects(server.call(SEARCH, {}), /could not do search: no such thing/);
	await assert.rejects(server.call(SEARCH, {}), /no such thing/);
	assert.equal(log().filter((line) => line.startsWith("start")).length, 1);
	await server.end();
});

test("one that dies during a question is started again and asked again", async () => {
	const log = behave("dies-once");
	const { server } = serve();
	assert.match(textOf(await server.call(SEARCH, {})), /^search/);
	assert.equal(log().filter((line) => line.startsWith("start")).length, 2);
	await server.end();
});

test("one that dies during a change is not told to do it twice", async () => {
	const log = behave("dies-once");
	const { server } = serve();
	await assert.rejects(server.call(REMEMBER, {}), /lost during remember .*look before doing it again/);
	assert.equal(log().filter((line) => line === "tools/call remember").length, 1);
	assert.match(textOf(await server.call(REMEMBER, {})), /^remember/);
	await server.end();
});

test("one that was killed between calls is started again, for a change as well", async () => {
	const log = behave("");
	const { server } = serve();
	const before = Number(textOf(await server.call(REMEMBER, {})).split(" ").at(-1));
	process.kill(before, "SIGKILL");
	await until(() => !server.isThere);
	const after = Number(textOf(await server.call(REMEMBER, {})).split(" ").at(-1));
	assert.notEqual(after, before);
	assert.equal(log().filter((line) => line === "tools/call remember").length, 2);
	await server.end();
});

test("one that dies every time is given up after so many tries", async () => {
	const log = behave("dies");
	const { server } = serve();
	await assert.rejects(server.call(SEARCH, {}), /lost during search: it ended with exit code 3/);
	assert.equal(log().filter((line) => line.startsWith("start")).length, 3);
	await server.end();
});

test("one that does not answer is ended by SIGTERM, then by SIGKILL; the next call starts another", async () => {
	const log = behave("hangs-once");
	const { server } = serve({ call: 200 });
	await assert.rejects(server.call(SEARCH, {}), /did not answer search within 0\.2 s, so its server was ended/);
	assert.match(textOf(await server.call(SEARCH, {})), /^search/);
	await until(() => log().includes("SIGTERM"));
	await new Promise((resolve) => setTimeout(resolve, 2_000)); // the first is killed now: the second is not touched
	assert.ok(server.isThere);
	assert.match(textOf(await server.call(SEARCH, {})), /^search/);
	await server.end();
});

test("a time-out of 0 is none", async () => {
	behave("slow");
	const { server } = serve({ call: 0, initialize: 0 });
	assert.match(textOf(await server.call(SEARCH, {})), /^search/);
	await server.end();
});

test("a call that is broken off ends at once, and is told to the server", async () => {
	const log = behave("hangs");
	const { server } = serve();
	await server.start();
	const breaks = new AbortController();
	const call = server.call(SEARCH, {}, breaks.signal);
	setTimeout(() => breaks.abort(new Error("the person pressed escape")), 100);
	await assert.rejects(call, /pressed escape/);
	await until(() => log().includes("notifications/cancelled"));
	assert.ok(server.isThere);
	await server.end();
});

for (const [how, what, initialize, why] of [
	["crash", "crashes at once", 20_000, /cannot be reached: it ended with exit code 7: Traceback: no palace/],
	["mute", "never answers the greeting", 3_000, /cannot be reached: no answer within 3 s/],
] as const) {
	test(`a server that ${what} is tried three times, then no more for a while`, async () => {
		const log = behave(how);
		const { server } = serve({ initialize });
		await assert.rejects(server.start(), why);
		const starts = () => log().filter((line) => line.startsWith("start")).length;
		assert.equal(starts(), 3);
		await assert.rejects(server.call(SEARCH, {}), Unavailable);
		assert.equal(starts(), 3);
		await server.end();
	});
}

test("a program that is not there is said to be not there, at once", async () => {
	const { server } = serve({ pause: 60_000 }, NOWHERE);
	await assert.rejects(server.start(), /the program '.*no such palazzo' was not found.*pi continues without it/);
	await server.end();
});

test("its end closes the server's input and waits for it", async () => {
	const log = behave("");
	const { server } = serve();
	await server.start();
	await server.end();
	assert.equal(log().at(-1), "end");
	await assert.rejects(server.call(SEARCH, {}), /session has ended/);
});
