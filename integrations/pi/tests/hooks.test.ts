/** A hook, however it behaves: an answer, or NoAnswer in time. */
import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { tell } from "../src/hooks.ts";
import { instructions } from "../src/instructions.ts";
import { NoAnswer, run } from "../src/program.ts";
import { behave, FAKE, NOWHERE } from "./fake.ts";

const HERE = { session: "s", cwd: tmpdir() };

test("what happened is told, and what is answered is taken; what has another type is not", async () => {
	const log = behave("", '{"inject": "words", "ask": 5, "hold_back": true, "more": 1}');
	assert.deepEqual(await tell(FAKE, "prompt", HERE), { inject: "words", hold_back: true });
	assert.deepEqual(log(), ["start hook pi prompt"]);
	behave("", "echo");
	assert.deepEqual(await tell(FAKE, "prompt", { ...HERE, prompt: "x", ...({ inject: "told back" } as object) }), { inject: "told back" });
});

for (const how of ["crash", "no JSON", "[]", "null", ""]) {
	test(`a hook that says ${JSON.stringify(how)} gives no answer`, async () => {
		behave("", how);
		await assert.rejects(tell(FAKE, "prompt", HERE), NoAnswer);
	});
}

test("one that hangs is ended in time, and one that is not there is said to be so", async () => {
	behave("", "hang");
	await assert.rejects(run(FAKE, ["hook"], { within: 300 }), /did not answer within 0\.3 s/);
	await assert.rejects(tell(NOWHERE, "prompt", HERE), /ENOENT/);
	await assert.rejects(tell(FAKE, "prompt", { ...HERE, cwd: "/no such place" }), NoAnswer);
	await assert.rejects(tell(FAKE, "prompt", { ...HERE, cwd: "/a\0b" }), NoAnswer);
});

test("instructions are what the program says, and those that came along where it says nothing", async () => {
	behave("", "As the installed version has it.");
	assert.equal(await instructions(FAKE, "help"), "As the installed version has it.");
	assert.match(await instructions(NOWHERE, "help"), /^# /);
	behave("", "crash");
	assert.match(await instructions(FAKE, "save_session"), /checkpoint/);
});
