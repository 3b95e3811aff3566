// Palazzo in opencode: a plugin in one file, without dependencies. Kilo Code, which is built on opencode, loads it too.
//
// It calls `palazzo hook opencode EVENT` for opencode's hooks, and puts the answers where opencode expects them. That
// program decides what the agent gets and when. The tools come from the MCP server in opencode.json.
//
// It never throws into opencode and never delays it beyond a deadline: if the program is missing, fails, hangs or prints
// invalid output, the agent continues without memory, and the person gets one warning.
//
// opencode calls every exported function of a plugin's file as a plugin, so there is one export.

import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, readdirSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"

type Host = "opencode" | "kilo-code"
/** The host that loads this file, unless the launcher says another; in a project's copy, `palazzo install` writes it. */
const HOST: Host = "opencode"
/** The name of a host's data, and the variable that names its database. */
const DATA: Readonly<Record<Host, { readonly name: string; readonly variable: string }>> = {
  opencode: { name: "opencode", variable: "OPENCODE_DB" },
  "kilo-code": { name: "kilo", variable: "KILO_DB" },
}

/** The command that starts `palazzo`, and the host for which it does; `palazzo install` writes them. */
interface Launcher {
  readonly program: string
  readonly options: readonly string[]
  readonly host: Host
}

/** Milliseconds for an answer. The program ends by itself within a second, but a busy machine starts it slowly. */
const DEADLINE = 3_000
/** Milliseconds for an answer before a compaction, for which the program may need ten seconds. */
const COMPACTION_DEADLINE = 20_000
/** Milliseconds for a request to opencode itself, inside this process. */
const LOOKUP_DEADLINE = 1_000
/** Milliseconds for a restart of the MCP server, and the shortest and longest wait before another attempt. */
const START_DEADLINE = 10_000
const START_AGAIN = 1_000
const START_AGAIN_AT_MOST = 120_000
/** Milliseconds that opencode's end waits for pending calls, which then continue on their own. */
const END_DEADLINE = 2_500
/** After this many failures in a row there is a pause, so that a program that hangs does not slow each step. */
const FAILURES_IN_A_ROW = 3
const PAUSE = 60_000
const LONGEST_ANSWER = 1 << 20
/** Tools whose calls may call for memories: notes about the file that was read, an earlier fix of the command. */
const WATCHED: ReadonlySet<string> = new Set(["read", "bash"])
/** The most failed calls of one step that are looked up; more usually have the same cause. */
const FAILURES_IN_A_STEP = 3
const SESSIONS_KEPT = 200
/** The name of the MCP server in opencode.json. */
const SERVER = "palazzo"

// --- the parts of opencode's API that are used here --------------------------------------------------------

interface Part {
  id: string
  sessionID: string
  messageID: string
  type: string
  text?: string
  synthetic?: boolean
  ignored?: boolean
  tool?: string
  callID?: string
  state?: { status: string; input?: unknown; error?: string }
}

interface Message {
  id: string
  sessionID: string
  role: string
}

interface Model {
  providerID: string
  modelID: string
}

interface Event {
  type: string
  properties?: unknown
}

/** The result of one of opencode's own tools; an MCP server's tool has `content` instead. */
interface ToolOutput {
  output?: unknown
  metadata?: unknown
  content?: unknown
}

interface Client {
  session: {
    get(request: { path: { id: string } }): Promise<{ data?: unknown }>
    messages(request: { path: { id: string }; query: { limit: number } }): Promise<{ data?: unknown }>
    prompt(request: { path: { id: string }; body: Turn }): Promise<unknown>
  }
  mcp: {
    status(): Promise<{ data?: unknown }>
    connect(request: { path: { name: string } }): Promise<unknown>
  }
  app: { log(request: { body: { service: string; level: "info" | "warn"; message: string } }): Promise<unknown> }
  tui: { showToast(request: { body: { title: string; message: string; variant: "info" | "warning" } }): Promise<unknown> }
}

interface Turn {
  agent?: string
  model?: Model
  parts: { type: "text"; text: string; synthetic: boolean }[]
}

interface PluginInput {
  client: Client
  directory: string
}

// --- events and answers of `palazzo hook` ------------------------------------------------------------------

type HookEvent =
  | "session-start"
  | "prompt"
  | "post-tool"
  | "tool-failure"
  | "subagent-start"
  | "subagent-stop"
  | "stop"
  | "pre-compact"
  | "session-end"

interface Answer {
  inject?: string
  ask?: string
  tell?: string
  hold_back?: boolean
}

class Failure extends Error {}

/** Runs the program for each event, and warns the person once if that fails. */
class Memory {
  private failures = 0
  private pausedUntil = 0
  private hasWarned = false
  private readonly pending = new Set<Promise<Answer>>()
  private readonly client: Client
  private readonly directory: string
  private readonly launcher: Launcher

  constructor(client: Client, directory: string, launcher: Launcher) {
    this.client = client
    this.directory = directory
    this.launcher = launcher
  }

  /** Return the answer, or an empty one if there is none in time. */
  async ask(event: HookEvent, payload: object, within = DEADLINE): Promise<Answer> {
    if (Date.now() < this.pausedUntil) return {}
    try {
      const input = JSON.stringify({ cwd: this.directory, ...payload })
      const answer = await runHook(this.launcher, event, input, this.directory, within)
      this.failures = 0
      if (answer.tell) this.tell(answer.tell, "info")
      return answer
    } catch (error) {
      this.noteFailure(error)
      return {}
    }
  }

  /** Ask without waiting: the program may run longer than opencode, and `settle` waits for it briefly. */
  send(event: HookEvent, payload: object): Promise<Answer> {
    const answer = this.ask(event, payload, Math.max(DEADLINE, END_DEADLINE))
    this.pending.add(answer)
    void answer.finally(() => this.pending.delete(answer))
    return answer
  }

  async settle(): Promise<void> {
    await within(END_DEADLINE, Promise.all(this.pending))
  }

  /** Show a line to the person: in the terminal, if there is one, and in the log. */
  tell(message: string, variant: "info" | "warning"): void {
    const level = variant === "warning" ? "warn" : "info"
    ignoreFailure(() => this.client.tui.showToast({ body: { title: "Palazzo", message, variant } }))
    ignoreFailure(() => this.client.app.log({ body: { service: "palazzo", level, message } }))
  }

  private noteFailure(error: unknown): void {
    this.failures += 1
    if (this.failures % FAILURES_IN_A_ROW === 0) this.pausedUntil = Date.now() + PAUSE
    this.warn(error instanceof Failure ? error.message : `the hook failed (${String(error)})`)
  }

  /** Say once why there is no memory; repeated warnings would only disturb. */
  warn(why: string): void {
    if (this.hasWarned) return
    this.hasWarned = true
    this.tell(`The agent works without memory: ${why}. Run 'palazzo doctor' for details.`, "warning")
  }
}

/** Run `palazzo hook HOST EVENT` with the payload. Rejects with Failure, which says why there is no answer. */
function runHook(
  { program, options, host }: Launcher,
  event: HookEvent,
  payload: string,
  directory: string,
  milliseconds: number,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const command = ["hook", host, event, ...options]
    const cwd = existsSync(directory) ? directory : homedir()
    // Detached, because opencode may end milliseconds after a turn, and the turn must be saved nevertheless.
    const child = spawn(program, command, { cwd, detached: true, stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
    const timer = setTimeout(() => {
      kill(child)
      reject(new Failure(`'${program}' did not answer within ${milliseconds / 1_000} seconds`))
    }, milliseconds)
    const pieces: Buffer[] = []
    let size = 0
    child.stdout.on("data", (piece: Buffer) => {
      size += piece.length
      if (size <= LONGEST_ANSWER) pieces.push(piece)
    })
    child.stdin.on("error", () => {}) // the program ended without reading: its exit code is reported instead
    child.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      const why = error.code === "ENOENT" ? "was not found" : `cannot be started (${error.code ?? error.message})`
      reject(new Failure(`'${program}' ${why}`))
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      if (code !== 0) return reject(new Failure(`'${program}' ended with ${code === null ? "a signal" : `exit code ${code}`}`))
      try {
        resolve(parseAnswer(Buffer.concat(pieces).toString("utf8")))
      } catch {
        reject(new Failure(`'${program}' gave an answer that cannot be read`))
      }
    })
    child.stdin.end(payload)
  })
}

/** Kill a program and all processes that it started. */
function kill(child: ChildProcess): void {
  try {
    if (child.pid) process.kill(-child.pid, "SIGKILL")
  } catch {
    child.kill("SIGKILL") // Windows has no process groups
  }
}

function parseAnswer(text: string): Answer {
  const fields: unknown = JSON.parse(text)
  if (!isRecord(fields)) throw new SyntaxError("not an object")
  const answer: Answer = {}
  for (const name of ["inject", "ask", "tell"] as const) {
    const value = fields[name]
    if (typeof value === "string" && value) answer[name] = value
  }
  if (fields["hold_back"] === true) answer.hold_back = true
  return answer
}

// --- sessions ----------------------------------------------------------------------------------------------

/** The state of a session while this process runs. */
class Session {
  /** How the session began or began anew; empty once the agent has got its orientation. */
  start: "startup" | "resume" | "compact" | "" = "startup"
  /** Whether it continues because the agent was asked to save. */
  isSaving = false
  prompt = ""
  lastMessage = ""
  agent: string | undefined
  model: Model | undefined
  /** Texts by message, and texts by failed call: opencode does not keep them, so each request gets them again. */
  readonly additions = new Map<string, string>()
  readonly failures = new Map<string, string>()
  readonly id: string
  /** The id of the person's session: this one, or for a sub-agent the session that started it. */
  readonly root: string

  constructor(id: string, root: string) {
    this.id = id
    this.root = root
  }

  get isChild(): boolean {
    return this.root !== this.id
  }
}

/** The sessions of one directory. The oldest are dropped, and looked up again when they continue. */
class Sessions {
  private readonly known = new Map<string, Promise<Session>>()
  private readonly parents = new Map<string, string>()
  private readonly client: Client

  constructor(client: Client) {
    this.client = client
  }

  [Symbol.iterator](): Iterator<Promise<Session>> {
    return this.known.values()
  }

  /** Note the parent of a session; opencode names it when the session is created. */
  noteParent(info: Record<string, unknown>): void {
    const { id, parentID } = info
    if (typeof id === "string" && typeof parentID === "string") keep(this.parents, id, parentID)
  }

  forget(id: string): void {
    this.known.delete(id)
    this.parents.delete(id)
  }

  /** Return the session. `message` is the message being written, which does not count as history. */
  find(id: string, message = ""): Promise<Session> {
    const session = this.known.get(id) ?? this.lookUp(id, message)
    keep(this.known, id, session)
    return session
  }

  private async lookUp(id: string, message: string): Promise<Session> {
    const [root, isResumed] = await Promise.all([this.root(id), this.hasHistory(id, message)])
    const session = new Session(id, root)
    if (isResumed) session.start = "resume"
    return session
  }

  private async root(id: string): Promise<string> {
    let root = id
    for (let depth = 0; depth < 8; depth += 1) {
      const parent = this.parents.get(root) ?? (await this.parent(root))
      if (!parent) break
      root = parent
    }
    return root
  }

  private async parent(id: string): Promise<string> {
    const info = await this.request(() => this.client.session.get({ path: { id } }))
    const parent = isRecord(info) ? info["parentID"] : undefined
    return typeof parent === "string" ? parent : ""
  }

  /** Whether a session is resumed: opencode does not say so, but then there are messages. */
  private async hasHistory(id: string, message: string): Promise<boolean> {
    const messages = await this.request(() => this.client.session.messages({ path: { id }, query: { limit: 2 } }))
    // Without an answer the session counts as resumed: a repeated orientation is worse than none.
    if (!Array.isArray(messages)) return true
    return messages.some((entry) => isRecord(entry) && isRecord(entry["info"]) && entry["info"]["id"] !== message)
  }

  private async request(send: () => Promise<{ data?: unknown }>): Promise<unknown> {
    try {
      return (await within(LOOKUP_DEADLINE, send()))?.data
    } catch {
      return undefined
    }
  }
}

// --- the MCP server ----------------------------------------------------------------------------------------

/** Restarts the MCP server after it has ended: opencode itself would continue without its tools. */
class Server {
  private delay = START_AGAIN
  private pausedUntil = 0
  private readonly client: Client

  constructor(client: Client) {
    this.client = client
  }

  async restartIfFailed(): Promise<void> {
    if (!(await this.hasFailed())) {
      this.delay = START_AGAIN
      return
    }
    if (Date.now() < this.pausedUntil) return
    await within(START_DEADLINE, this.client.mcp.connect({ path: { name: SERVER } }))
    this.pausedUntil = Date.now() + this.delay
    this.delay = Math.min(2 * this.delay, START_AGAIN_AT_MOST)
  }

  private async hasFailed(): Promise<boolean> {
    const states = (await within(LOOKUP_DEADLINE, this.client.mcp.status()))?.data
    const state = isRecord(states) ? states[SERVER] : undefined
    return isRecord(state) && state["status"] === "failed"
  }
}

// --- the plugin --------------------------------------------------------------------------------------------

/** The active instance of each directory: opencode may load two copies of this file, or one copy twice. */
const INSTANCES = Symbol.for("palazzo.opencode.speakers")

function activeInstances(): Map<string, symbol> {
  const shared = globalThis as unknown as Record<symbol, Map<string, symbol> | undefined>
  return (shared[INSTANCES] ??= new Map())
}

/** Return the hooks of one directory. opencode calls this once for each directory that it works in. */
export const Palazzo = async ({ client, directory }: PluginInput, launcher?: Partial<Launcher>) => {
  const started: Launcher = { program: "palazzo", options: [], host: HOST, ...launcher }
  const memory = new Memory(client, directory, started)
  const sessions = new Sessions(client)
  const server = new Server(client)
  const self = Symbol(directory)
  activeInstances().set(directory, self)

  /** Wrap a hook: it runs only in the directory's active instance, and never throws. */
  const hook =
    <Input, Output>(run: (input: Input, output: Output) => Promise<void>) =>
    async (input: Input, output: Output): Promise<void> => {
      if (activeInstances().get(directory) !== self) return
      try {
        await run(input, output)
      } catch (error) {
        memory.warn(`a hook failed, which is a bug in Palazzo (${String(error)})`)
      }
    }

  const identify = (session: Session) => ({
    session: session.root,
    ...(session.isChild ? { agent: session.id, agent_kind: session.agent ?? "" } : {}),
  })

  const describe = (session: Session) => ({
    ...identify(session),
    transcript: history(started.host),
    prompt: session.prompt,
    last_message: session.lastMessage,
  })

  /** Return the orientation for a session that begins, or that continues after a compaction; only once. */
  const orientation = async (session: Session): Promise<string> => {
    const source = session.start
    session.start = ""
    if (!source || (session.isChild && source !== "startup")) return ""
    const event = session.isChild ? "subagent-start" : "session-start"
    return (await memory.ask(event, { ...identify(session), transcript: history(started.host), source })).inject ?? ""
  }

  const message = async (
    input: { sessionID: string; agent?: string; model?: Model },
    output: { message: Message; parts: Part[] },
  ): Promise<void> => {
    const restart = server.restartIfFailed().catch(() => {}) // an opencode without that API restarts servers itself
    const prompt = promptOf(output.parts)
    if (!prompt) return // opencode or a plugin wrote it, such as the request to save
    const session = await sessions.find(input.sessionID, output.message.id)
    session.agent = input.agent
    session.model = input.model
    session.prompt = prompt
    session.lastMessage = ""
    session.isSaving = false
    const texts = [await orientation(session)]
    if (!session.isChild) texts.push((await memory.ask("prompt", { ...identify(session), transcript: history(started.host), prompt })).inject ?? "")
    for (const text of texts.filter(Boolean)) output.parts.push(synthetic(output, text))
    await restart
  }

  const afterTool = async (
    input: { tool: string; sessionID: string; args?: unknown },
    output: ToolOutput,
  ): Promise<void> => {
    if (!WATCHED.has(input.tool) || typeof output?.output !== "string") return
    const session = await sessions.find(input.sessionID)
    const code = isRecord(output.metadata) ? output.metadata["exit"] : undefined
    const hasFailed = typeof code === "number" && code !== 0
    const tool = { name: input.tool, input: input.args, output: output.output, ...(hasFailed ? { error: output.output } : {}) }
    const { inject } = await memory.ask(hasFailed ? "tool-failure" : "post-tool", { ...identify(session), tool })
    if (inject) output.output += `\n\n${inject}`
  }

  /** Add texts to failed calls: no other hook can, and each request needs them again. */
  const beforeRequest = async (_: unknown, output: { messages: { info: Message; parts: Part[] }[] }): Promise<void> => {
    const last = output.messages.at(-1)
    if (!last) return
    const session = await sessions.find(last.info.sessionID)
    const user = output.messages.findLast((entry) => entry.info.role === "user")
    if (session.start === "compact" && user) keep(session.additions, user.info.id, await orientation(session))
    if (last.info.role === "assistant") await lookUpFailures(session, last.parts)
    for (const { info, parts } of output.messages) {
      const text = session.additions.get(info.id)
      if (text) parts.push(synthetic({ message: info, parts }, text))
      for (const part of parts) {
        const advice = session.failures.get(part.callID ?? "")
        if (advice && part.state?.error) part.state = { ...part.state, error: `${part.state.error}\n\n${advice}` }
      }
    }
  }

  const lookUpFailures = async (session: Session, parts: Part[]): Promise<void> => {
    const failed = parts.filter((part) => part.state?.status === "error" && !session.failures.has(part.callID ?? ""))
    for (const { tool = "", callID = "", state } of failed.slice(0, FAILURES_IN_A_STEP)) {
      const call = { name: tool, input: state?.input, error: state?.error ?? "" }
      const { inject } = await memory.ask("tool-failure", { ...identify(session), tool: call })
      keep(session.failures, callID, inject ?? "")
    }
  }

  const onEvent = async ({ event }: { event: Event }): Promise<void> => {
    const properties = isRecord(event.properties) ? event.properties : {}
    const id = properties["sessionID"]
    const info = isRecord(properties["info"]) ? properties["info"] : {}
    if (event.type === "session.created") sessions.noteParent(info)
    if (event.type === "session.deleted" && typeof info["id"] === "string") sessions.forget(info["id"])
    if (event.type === "server.instance.disposed") await end()
    if (typeof id !== "string") return
    if (event.type === "session.compacted") (await sessions.find(id)).start = "compact"
    if (event.type === "session.idle") await idle(await sessions.find(id))
  }

  /** Handle the end of a turn. Nothing waits for this, and `opencode run` ends with the turn. */
  const idle = async (session: Session): Promise<void> => {
    if (!session.prompt) return
    if (session.isChild) {
      await memory.send("subagent-stop", describe(session))
      return
    }
    const { ask } = await memory.send("stop", { ...describe(session), asked: session.isSaving || endsWithTheTurn() })
    if (!ask || activeInstances().get(directory) !== self) return
    session.isSaving = true
    const body: Turn = { parts: [{ type: "text", text: ask, synthetic: true }] }
    if (session.agent) body.agent = session.agent
    if (session.model) body.model = session.model
    ignoreFailure(() => client.session.prompt({ path: { id: session.id }, body }))
  }

  const beforeCompaction = async ({ sessionID }: { sessionID: string }): Promise<void> => {
    const session = await sessions.find(sessionID)
    if (session.isChild) return
    const { hold_back } = await memory.ask("pre-compact", { ...describe(session), trigger: "" }, COMPACTION_DEADLINE)
    if (hold_back) memory.tell("This session could not be saved before its compaction; it will be read later.", "warning")
  }

  const end = async (): Promise<void> => {
    const spokenSessions = (await Promise.all(sessions)).filter((session) => session.prompt && !session.isChild)
    for (const session of spokenSessions) {
      void memory.send("session-end", describe(session))
      sessions.forget(session.id)
    }
    await memory.settle()
    if (activeInstances().get(directory) === self) activeInstances().delete(directory)
  }

  return {
    "chat.message": hook(message),
    "tool.execute.after": hook(afterTool),
    "experimental.chat.messages.transform": hook(beforeRequest),
    "experimental.session.compacting": hook(beforeCompaction),
    "experimental.text.complete": hook(async (input: { sessionID: string }, output: { text: string }) => {
      if (output.text.trim()) (await sessions.find(input.sessionID)).lastMessage = output.text
    }),
    event: async (input: { event: Event }) => hook(onEvent)(input, undefined),
    dispose: async () => hook(end)(undefined, undefined),
  }
}

// --- functions of the hooks --------------------------------------------------------------------------------

/** Return the path of the host's database of sessions; empty if there is none yet. */
function history(host: Host): string {
  const { name, variable } = DATA[host]
  const data = join(process.env["XDG_DATA_HOME"] || join(homedir(), ".local", "share"), name)
  const named = process.env[variable]
  if (named) return isAbsolute(named) ? named : join(data, named)
  const usual = join(data, `${name}.db`)
  if (existsSync(usual)) return usual
  try {
    // Each pre-release channel has its own database: the one written last belongs to this process.
    const others = readdirSync(data).filter((file) => file.startsWith(`${name}-`) && /^[\w.-]+\.db$/.test(file))
    const dated = others.map((file) => join(data, file)).map((path) => ({ path, at: statSync(path).mtimeMs }))
    return dated.sort((first, second) => second.at - first.at)[0]?.path ?? ""
  } catch {
    return ""
  }
}

/** Return the text that the person wrote. `opencode run "two words"` puts quotes around it. */
function promptOf(parts: Part[]): string {
  const texts = parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
  const text = texts.map((part) => part.text ?? "").join("\n").trim()
  return /^"[^"]*"$/.test(text) ? text.slice(1, -1).trim() : text
}

/** Return a part that the model reads and the terminal does not show. Parts are ordered by their ids. */
function synthetic({ message, parts }: { message: Message; parts: Part[] }, text: string): Part {
  const id = `${parts.at(-1)?.id ?? `prt_${Date.now().toString(16)}`}0`
  return { id, sessionID: message.sessionID, messageID: message.id, type: "text", text, synthetic: true }
}

/** Whether this process ends with the turn, so that the agent cannot be asked for another turn. */
function endsWithTheTurn(): boolean {
  return process.argv.slice(2).find((word) => !word.startsWith("-")) === "run"
}

/** Resolve with the value, or with undefined after that time. */
function within<Value>(milliseconds: number, value: Promise<Value>): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), milliseconds)
    value.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Start an action whose failure does not matter. */
function ignoreFailure(start: () => Promise<unknown>): void {
  try {
    start().catch(() => {})
  } catch {
    // The client is older than this part of its API.
  }
}

function keep<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
  const oldest = map.keys().next()
  if (map.size > SESSIONS_KEPT && !oldest.done) map.delete(oldest.value)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
