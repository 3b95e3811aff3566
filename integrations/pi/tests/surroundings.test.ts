import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULTS, limits } from "../src/surroundings.ts";

test("without a word, calls have a minute and a greeting has five", () => {
	assert.deepEqual(limits({}), { call: 60_000, initialize: 300_000, tries: 2, pause: 1_000 });
});

test("MemPalace's variables are taken, ours win over them, and what is no number is passed over", () => {
	const said = {
		MEMPALACE_MCP_CALL_TIMEOUT_MS: "5",
		PALAZZO_MCP_CALL_TIMEOUT_MS: "0",
		MEMPALACE_MCP_INIT_TIMEOUT_MS: "7",
		PALAZZO_MCP_RESPAWN_TRIES: "-1",
		MEMPALACE_MCP_RESPAWN_DELAY_MS: "99999999999999",
	};
	assert.deepEqual(limits(said), { call: 0, initialize: 7, tries: DEFAULTS.tries, pause: 2 ** 31 - 1 });
});
