// The plugin, loaded as opencode loads it, with programs that really run in place of `palazzo`.

import assert from "node:assert/strict"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, test } from "node:test"

import * as plugin from "../palazzo.ts"

const { Palazzo } = plugin
const DIRECTORY = mkdtempSync(join(tmpdir(), "palazzo-opencode-"))
after(() => rmSync(DIRECTORY, { recursive: true, force: true }))

type Asked = { host: string; event: string; options: string[]; payload: Record<string, any> }
let programs = 0

/** A program that notes what it is asked, and then does what `body` says; `answer` prints. */
function program(body: string): { path: string; asked: () => Asked[] } {
  programs += 1
  const path = join(DIRECTORY, `palazzo-${programs}`)
  const log = `${path}.log`
  writeFileSync(
    path,
    `#!${process.execPath}
const { appendFileSync, readFileSync } = require("node:fs")
const [, host, event, ...options] = process.argv.slice(2)
const payload = JSON.parse(readFileSync(0, "utf8"))
const answer = (said) => process.stdout.write(JSON.stringify(said))
const note = () => appendFileSync(${JSON.stringify(log)}, JSON.stringify({ host, event, options, payload }) + "\\n")
note()
${body}
`,
  )
  chmodSync(path, 0o755)
  const asked = () =>
    existsSync(log)
      ? readFileSync(log, "utf8").trim().split("\n").map((line) => JSON.parse(line) as Asked)
      : []
  return { path, asked }
}

/** What opencode gives a plugin: sessions that it knows, and what it was asked to show and to do. */
function host(sessions: Record<string, { parentID?: string; messages?: string[] }> = {}) {
  const told: string[] = []
  const prompted: any[] = []
  const servers: Record<string, { status: string }> = { palazzo: { status: "connected" } }
  const started: string[] = []
  const client = {
    mcp: {
      status: async () => ({ data: servers }),
      connect: async ({ path }: { path: { name: string } }) => void started.push(path.name),
    },
    session: {
      get: async ({ path }: { path: { id: string } }) => ({ data: { id: path.id, ...sessions[path.id] } }),
      messages: async ({ path }: { path: { id: string } }) => ({
        data: (sessions[path.id]?.messages ?? []).map((id) => ({ info: { id }, parts: [] })),
      }),
      prompt: async (asked: unknown) => void prompted.push(asked),
    },
    app: { log: async () => undefined },
    tui: { showToast: async ({ body }: { body: { message: string } }) => void told.push(body.message) },
  }
  return { client, told, prompted, servers, started }
}

let directories = 0

type Launcher = NonNullable<Parameters<typeof Palazzo>[1]>

async function plugged(
  body: string,
  sessions: Parameters<typeof host>[0] = {},
  options: string[] = [],
  more: Launcher = {},
) {
  directories += 1
  const directory = mkdtempSync(join(DIRECTORY, `project-${directories}-`))
  const { path, asked } = program(body)
  const around = host(sessions)
  const hooks = await Palazzo({ client: around.client, directory }, { program: path, options, ...more })
  return { ...around, asked, directory, hooks }
}

type Hooks = Awaited<ReturnType<typeof Palazzo>>

/** A message as opencode makes one of what a person sends. */
async function say(hooks: Hooks, sessionID: string, text: string, synthetic = false) {
  const message = { id: `msg_${sessionID}`, sessionID, role: "user" }
  const parts: any[] = [{ id: "prt_5", sessionID, messageID: message.id, type: "text", text, synthetic }]
  const model = { providerID: "p", modelID: "m" }
  await hooks["chat.message"]({ sessionID, agent: "build", model }, { message, parts })
  return parts
}

const texts = (parts: any[]) => parts.map((part) => part.text)
const event = (hooks: Hooks, type: string, properties: object) => hooks.event({ event: { type, properties } })
const TELLS = `answer({ inject: event + (payload.source ? " " + payload.source : "") })`

test("a plugin's file exports nothing that opencode would take for another plugin", () => {
  assert.deepEqual(Object.keys(plugin), ["Palazzo"])
})

test("a session is oriented with its first message and no other, and each prompt is answered", async () => {
  const { hooks, asked, directory } = await plugged(TELLS, {}, ["--palace", "/p"])
  const parts = await say(hooks, "ses_1", '"what did we decide"')
  assert.deepEqual(texts(parts).slice(1), ["session-start startup", "prompt"])
  assert.ok(parts.slice(1).every((part) => part.synthetic && part.type === "text" && part.id.startsWith("prt_")))
  assert.deepEqual(parts.map((part) => part.id), parts.map((part) => part.id).sort())
  assert.deepEqual(texts(await say(hooks, "ses_1", "and now?")).slice(1), ["prompt"])
  const [start, prompt] = asked()
  assert.deepEqual(start?.options, ["--palace", "/p"])
  assert.equal(prompt?.payload.prompt, "what did we decide")
  assert.equal(prompt?.payload.cwd, directory)
})

test("a fork of opencode is called by its own name, and its own database is named", async () => {
  const data = join(DIRECTORY, "data", "kilo")
  mkdirSync(data, { recursive: true })
  writeFileSync(join(data, "kilo.db"), "")
  process.env["XDG_DATA_HOME"] = join(DIRECTORY, "data")
  try {
    const { hooks, asked } = await plugged(TELLS, {}, [], { host: "kilo-code" })
    await say(hooks, "ses_1", "what did we decide")
    assert.deepEqual(asked().map((one) => one.host), ["kilo-code", "kilo-code"])
    assert.equal(asked()[0]?.payload.transcript, join(data, "kilo.db"))
  } finally {
    delete process.env["XDG_DATA_HOME"]
  }
})

test("a session that has messages goes on, though opencode says nothing of it", async () => {
  const { hooks, asked } = await plugged("answer({})", { ses_old: { messages: ["msg_before", "msg_ses_old"] } })
  await say(hooks, "ses_old", "go on")
  assert.equal(asked()[0]?.payload.source, "resume")
})

test("the message that is being written is no history", async () => {
  const { hooks, asked } = await plugged("answer({})", { ses_new: { messages: ["msg_ses_new"] } })
  await say(hooks, "ses_new", "begin")
  assert.equal(asked()[0]?.payload.source, "startup")
})

test("where opencode does not say whether a session goes on, it is not oriented as a new one", async () => {
  const { client, hooks, asked } = await plugged("answer({})")
  client.session.messages = () => Promise.reject(new Error("busy"))
  await say(hooks, "ses_1", "begin")
  assert.equal(asked()[0]?.payload.source, "resume")
})

test("a sub-agent's session is oriented as that, under its person's session, and its prompt is no person's", async () => {
  const { hooks, asked } = await plugged(TELLS, { ses_child: { parentID: "ses_root" } })
  assert.deepEqual(texts(await say(hooks, "ses_child", "find out")).slice(1), ["subagent-start startup"])
  await event(hooks, "session.idle", { sessionID: "ses_child" })
  const events = asked().map(({ event, payload }) => [event, payload.session, payload.agent])
  assert.deepEqual(events, [
    ["subagent-start", "ses_root", "ses_child"],
    ["subagent-stop", "ses_root", "ses_child"],
  ])
})

test("what opencode or a plugin wrote is answered with nothing", async () => {
  const { hooks, asked } = await plugged(TELLS)
  assert.equal((await say(hooks, "ses_1", "save it", true)).length, 1)
  assert.deepEqual(asked(), [])
})

test("a command that ends with another code than 0 has failed, and other tools are not asked about", async () => {
  const { hooks, asked } = await plugged(TELLS)
  const bash = { output: "E: no", metadata: { exit: 3 } }
  const read = { output: "text", metadata: {} }
  const other = { content: [] }
  await hooks["tool.execute.after"]({ tool: "bash", sessionID: "ses_1", args: { command: "x" } }, bash)
  await hooks["tool.execute.after"]({ tool: "read", sessionID: "ses_1", args: { filePath: "a" } }, read)
  await hooks["tool.execute.after"]({ tool: "memory_search", sessionID: "ses_1", args: {} }, other)
  assert.equal(bash.output, "E: no\n\ntool-failure")
  assert.equal(read.output, "text\n\npost-tool")
  assert.deepEqual(asked()[0]?.payload.tool, { name: "bash", input: { command: "x" }, output: "E: no", error: "E: no" })
  assert.equal(asked().length, 2)
})

function request(status: string) {
  const info = { id: "msg_2", sessionID: "ses_1", role: "assistant" }
  const state = { status, input: {}, error: "refused" }
  const user = { info: { id: "msg_1", sessionID: "ses_1", role: "user" }, parts: [] as any[] }
  return { messages: [user, { info, parts: [{ id: "prt_1", type: "tool", tool: "m_x", callID: "call_1", state }] }] } as any
}

test("a call that failed is asked about once, and what is told of it stands in each request that follows", async () => {
  const { hooks, asked } = await plugged(TELLS)
  for (const _ of [1, 2]) {
    const output = request("error")
    await hooks["experimental.chat.messages.transform"]({}, output)
    assert.equal(output.messages[1].parts[0].state.error, "refused\n\ntool-failure")
  }
  await hooks["experimental.chat.messages.transform"]({}, request("completed"))
  assert.equal(asked().length, 1)
})

test("what was said is kept before a compaction, and after it the session is oriented anew, in words that stay", async () => {
  const { hooks, asked } = await plugged(TELLS, { ses_1: { messages: ["msg_0"] } })
  await hooks["experimental.session.compacting"]({ sessionID: "ses_1" }, { context: [] })
  assert.deepEqual(asked().map((one) => one.event), ["pre-compact"])
  const before = request("completed")
  await hooks["experimental.chat.messages.transform"]({}, before)
  assert.deepEqual(before.messages[0].parts, [])
  await event(hooks, "session.compacted", { sessionID: "ses_1" })
  for (const _ of [1, 2]) {
    const output = request("completed")
    await hooks["experimental.chat.messages.transform"]({}, output)
    assert.deepEqual(texts(output.messages[0].parts), ["session-start compact"])
  }
  assert.deepEqual(texts(await say(hooks, "ses_1", "go on")).slice(1), ["prompt"])
})

test("a person who sends the next prompt after a compaction has the session oriented with it", async () => {
  const { hooks } = await plugged(TELLS)
  await say(hooks, "ses_1", "begin")
  await event(hooks, "session.compacted", { sessionID: "ses_1" })
  assert.deepEqual(texts(await say(hooks, "ses_1", "go on")).slice(1), ["session-start compact", "prompt"])
})

test("a compaction that words could not be kept before goes on, and the person is told", async () => {
  const { hooks, told } = await plugged(`answer({ hold_back: true })`)
  const output = { context: [] as string[] }
  await hooks["experimental.session.compacting"]({ sessionID: "ses_1" }, output)
  assert.equal(told.length, 1)
  assert.deepEqual(output.context, [])
})

test("where a turn's end asks for a save, the session gets one more turn, which does not ask again", async () => {
  const { hooks, asked, prompted } = await plugged(`answer(event === "stop" && !payload.asked ? { ask: "save" } : {})`)
  await say(hooks, "ses_1", "the fifteenth")
  await hooks["experimental.text.complete"]({ sessionID: "ses_1" }, { text: "Done." })
  await event(hooks, "session.idle", { sessionID: "ses_1" })
  const parts = [{ type: "text", text: "save", synthetic: true }]
  const body = { parts, agent: "build", model: { providerID: "p", modelID: "m" } }
  assert.deepEqual(prompted, [{ path: { id: "ses_1" }, body }])
  await event(hooks, "session.idle", { sessionID: "ses_1" })
  const stops = asked().filter((one) => one.event === "stop")
  assert.deepEqual(stops.map((one) => one.payload.asked), [false, true])
  assert.equal(stops[0]?.payload.last_message, "Done.")
  assert.equal(prompted.length, 1)
})

test("a process that ends with its turn asks nobody", async () => {
  const { hooks, asked } = await plugged("answer({})")
  const line = process.argv
  process.argv = ["opencode", "opencode", "--print-logs", "run", "words"]
  try {
    await say(hooks, "ses_1", "words")
    await event(hooks, "session.idle", { sessionID: "ses_1" })
  } finally {
    process.argv = line
  }
  assert.equal(asked().at(-1)?.payload.asked, true)
})

test("the end waits for what was sent, and tells the end of each session in which somebody spoke", async () => {
  const { hooks, asked } = await plugged(`setTimeout(() => { answer({}); note() }, 300)`, {
    ses_child: { parentID: "ses_1" },
  })
  await say(hooks, "ses_1", "words")
  await say(hooks, "ses_child", "words")
  void event(hooks, "session.idle", { sessionID: "ses_1" })
  await new Promise((resolve) => setTimeout(resolve, 10))
  await hooks.dispose()
  const ended = asked().filter((one) => one.event === "session-end" || one.event === "stop")
  assert.deepEqual(ended.map((one) => one.event).sort(), ["session-end", "session-end", "stop", "stop"])
  await event(hooks, "server.instance.disposed", {})
  assert.equal(asked().filter((one) => one.event === "session-end").length, 2)
})

test("a line for the person is shown", async () => {
  const { hooks, told } = await plugged(`answer(event === "prompt" ? { tell: "Palazzo is paused" } : {})`)
  await say(hooks, "ses_1", "words")
  assert.deepEqual(told, ["Palazzo is paused"])
})

test("a server that has ended is started again with the next message, and left alone where that fails", async () => {
  const { hooks, servers, started } = await plugged("answer({})")
  await say(hooks, "ses_1", "words")
  assert.deepEqual(started, [])
  servers["palazzo"] = { status: "failed" }
  await say(hooks, "ses_1", "words")
  assert.deepEqual(started, ["palazzo"])
  await say(hooks, "ses_1", "words")
  assert.deepEqual(started, ["palazzo"])
})

test("a server that the person has switched off stays off", async () => {
  const { hooks, servers, started } = await plugged("answer({})")
  servers["palazzo"] = { status: "disabled" }
  await say(hooks, "ses_1", "words")
  assert.deepEqual(started, [])
})

// --- two of them -------------------------------------------------------------------------------------------

test("of two copies for one directory the one that was loaded last speaks, and the other is silent", async () => {
  const { client, hooks, directory, asked } = await plugged(TELLS)
  const { path, asked: askedSecond } = program(TELLS)
  const second = await Palazzo({ client, directory }, { program: path })
  assert.equal((await say(hooks, "ses_1", "words")).length, 1)
  assert.equal((await say(second, "ses_1", "words")).length, 3)
  assert.deepEqual([asked().length, askedSecond().length], [0, 2])
  await second.dispose()
})

test("two directories in one process each have their own", async () => {
  const one = await plugged(TELLS)
  const other = await plugged(TELLS)
  await say(one.hooks, "ses_1", "words")
  await say(other.hooks, "ses_2", "words")
  assert.equal(one.asked()[0]?.payload.cwd, one.directory)
  assert.equal(other.asked()[0]?.payload.cwd, other.directory)
})

// --- programs that do not do what they should --------------------------------------------------------------

const BAD: Record<string, [string, RegExp]> = {
  "crashes at once": ["process.exit(3)", /ended with exit code 3/],
  "is killed": ["process.kill(process.pid, 'SIGKILL')", /ended with a signal/],
  "prints what is no JSON": ["process.stdout.write('Traceback')", /cannot be read/],
  "prints a list": ["process.stdout.write('[]')", /cannot be read/],
  "prints nothing": ["", /cannot be read/],
  "prints without end": ["for (let n = 0; n < 40; n += 1) process.stdout.write('x'.repeat(1 << 16))", /cannot be read/],
  "hangs": ["setInterval(() => {}, 1000)", /did not answer within 3 seconds/],
}

for (const [what, [body, why]] of Object.entries(BAD)) {
  test(`a program that ${what} costs the agent nothing, and the person is told once`, async () => {
    const { hooks, told } = await plugged(body)
    assert.deepEqual(texts(await say(hooks, "ses_1", "words")), ["words"])
    assert.equal(told.length, 1)
    assert.match(told[0] ?? "", why)
  })
}

test("a program that is not there costs the agent nothing, and the person is told once", async () => {
  const { client, told } = host()
  const directory = mkdtempSync(join(DIRECTORY, "alone-"))
  const hooks = await Palazzo({ client, directory }, { program: join(DIRECTORY, "nowhere"), options: [] })
  assert.deepEqual(texts(await say(hooks, "ses_1", "words")), ["words"])
  await event(hooks, "session.idle", { sessionID: "ses_1" })
  await hooks.dispose()
  assert.equal(told.length, 1)
  assert.match(told[0] ?? "", /was not found/)
})

test("a program that keeps failing is left alone for a while", async () => {
  const { hooks, asked } = await plugged("process.exit(1)")
  for (const n of [1, 2, 3, 4]) await say(hooks, "ses_1", `words ${n}`)
  assert.equal(asked().length, 3)
})

test("answers of other shapes than they should have are nothing", async () => {
  const { hooks, told } = await plugged(`answer({ inject: 3, tell: ["x"], ask: {} })`)
  assert.deepEqual(texts(await say(hooks, "ses_1", "words")), ["words"])
  assert.deepEqual(told, [])
})

test("what a host gives in a shape that nobody knows costs the agent nothing, and the person is told once", async () => {
  const { hooks, told } = await plugged("answer({})")
  for (const _ of [1, 2]) await hooks["chat.message"]({ sessionID: "ses_1" }, { message: null, parts: null } as never)
  assert.equal(told.length, 1)
})

test("a host that is older, or fails itself, is not made to fail further", async () => {
  const { client, hooks } = await plugged(`answer({ tell: "x", inject: "memory" })`)
  Object.assign(client, { tui: undefined, mcp: undefined, session: {} })
  assert.equal((await say(hooks, "ses_1", "words")).at(-1)?.text, "memory")
  await event(hooks, "session.idle", {})
  await event(hooks, "of.a.later.version", { sessionID: 3 })
  await hooks["tool.execute.after"]({ tool: "bash", sessionID: "ses_1" }, undefined as never)
  await hooks["experimental.chat.messages.transform"]({}, { messages: [] })
})
