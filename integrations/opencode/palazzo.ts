// Palazzo in opencode: a plugin in one file, without dependencies.
//
// It translates opencode's hooks into `palazzo hook opencode EVENT`, and puts the answers where opencode wants them. What
// is told, and when, is decided behind that program; the tools come from the MCP server in opencode.json.
//
// It never throws into opencode and never delays it beyond a deadline: where the program is missing, fails, hangs or
// prints what nobody understands, the agent works on without memory, and the person is told once.
//
// opencode calls every function that a plugin's file exports as a plugin, so there is one export.

import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, readdirSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"

/** How `palazzo` is started; `palazzo install opencode` says where it is. */
interface Wired {
  readonly program: string
  readonly options: readonly string[]
}

/** Milliseconds for an answer. The program ends within one second by itself; a busy machine takes longer to start it. */
const DEADLINE = 3_000
/** The same before a compaction, which may take the program ten seconds. */
const COMPACTION_DEADLINE = 20_000
/** The same for what opencode itself is asked, inside this very process. */
const LOOKUP_DEADLINE = 1_000
/** The same for the MCP server to start again, and how long it is left alone where that failed: at first, and at most. */
const START_DEADLINE = 10_000
const START_AGAIN = 1_000
const START_AGAIN_AT_MOST = 120_000
/** Milliseconds that the end of opencode waits for what has been sent off; it goes on by itself after that. */
const END_DEADLINE = 2_500
/** After so many failures in a row nothing is asked for a while, so that a program that hangs does not slow each step. */
const FAILURES_IN_A_ROW = 3
const REST = 60_000
const LONGEST_ANSWER = 1 << 20
/** Tools after which something may be worth telling: notes about a file that was read, what mended a command before. */
const WATCHED: ReadonlySet<string> = new Set(["read", "bash"])
/** Calls that failed which are asked about in one step; more of them fail of one and the same. */
const FAILURES_IN_A_STEP = 3
const SESSIONS_KEPT = 200
/** What the MCP server is called in opencode.json. */
const SERVER = "palazzo"

// --- what opencode gives, as far as it is used here --------------------------------------------------------

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

/** What a tool of opencode's own gave; one of an MCP server gives `content` instead. */
interface ToolOutput {
  output?: unknown
  metadata?: unknown
  content?: unknown
}

interface Client {
  session: {
    get(asked: { path: { id: string } }): Promise<{ data?: unknown }>
    messages(asked: { path: { id: string }; query: { limit: number } }): Promise<{ data?: unknown }>
    prompt(asked: { path: { id: string }; body: Turn }): Promise<unknown>
  }
  mcp: {
    status(): Promise<{ data?: unknown }>
    connect(asked: { path: { name: string } }): Promise<unknown>
  }
  app: { log(asked: { body: { service: string; level: "info" | "warn"; message: string } }): Promise<unknown> }
  tui: { showToast(asked: { body: { title: string; message: string; variant: "info" | "warning" } }): Promise<unknown> }
}

interface Turn {
  agent?: string
  model?: Model
  parts: { type: "text"; text: string; synthetic: boolean }[]
}

interface Surroundings {
  client: Client
  directory: string
}

// --- what `palazzo hook` is told and answers ---------------------------------------------------------------

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

/** Starts the program for one event, and tells the person once where that is in vain. */
class Memory {
  private failures = 0
  private restsUntil = 0
  private isTold = false
  private readonly pending = new Set<Promise<Answer>>()
  private readonly client: Client
  private readonly directory: string
  private readonly wired: Wired

  constructor(client: Client, directory: string, wired: Wired) {
    this.client = client
    this.directory = directory
    this.wired = wired
  }

  /** The answer; an empty one where there is none in time. */
  async ask(event: HookEvent, payload: object, within = DEADLINE): Promise<Answer> {
    if (Date.now() < this.restsUntil) return {}
    try {
      const said = JSON.stringify({ cwd: this.directory, ...payload })
      const answer = await answered(this.wired, event, said, this.directory, within)
      this.failures = 0
      if (answer.tell) this.tell(answer.tell, "info")
      return answer
    } catch (error) {
      this.failed(error)
      return {}
    }
  }

  /** As `ask`, for whoever does not wait: the program outlives opencode, and `settle` gives it a moment. */
  send(event: HookEvent, payload: object): Promise<Answer> {
    const sent = this.ask(event, payload, Math.max(DEADLINE, END_DEADLINE))
    this.pending.add(sent)
    void sent.finally(() => this.pending.delete(sent))
    return sent
  }

  async settle(): Promise<void> {
    await within(END_DEADLINE, Promise.all(this.pending))
  }

  /** A line for the person: in the terminal where there is one, and in the log. */
  tell(message: string, variant: "info" | "warning"): void {
    const level = variant === "warning" ? "warn" : "info"
    quietly(() => this.client.tui.showToast({ body: { title: "Palazzo", message, variant } }))
    quietly(() => this.client.app.log({ body: { service: "palazzo", level, message } }))
  }

  private failed(error: unknown): void {
    this.failures += 1
    if (this.failures % FAILURES_IN_A_ROW === 0) this.restsUntil = Date.now() + REST
    this.warn(error instanceof Failure ? error.message : `it failed (${String(error)})`)
  }

  /** Say once why there is no memory; more of it would only be in the way. */
  warn(why: string): void {
    if (this.isTold) return
    this.isTold = true
    this.tell(`The agent works without memory: ${why}. 'palazzo doctor' says more.`, "warning")
  }
}

/** Run `palazzo hook opencode EVENT` with the payload; Failure says why there is no answer. */
function answered(
  { program, options }: Wired,
  event: HookEvent,
  payload: string,
  directory: string,
  milliseconds: number,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const command = ["hook", "opencode", event, ...options]
    const cwd = existsSync(directory) ? directory : homedir()
    // Detached, because opencode ends milliseconds after a turn, and what was said is to be kept all the same.
    const child = spawn(program, command, { cwd, detached: true, stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
    const timer = setTimeout(() => {
      end(child)
      reject(new Failure(`'${program}' did not answer within ${milliseconds / 1_000} seconds`))
    }, milliseconds)
    const pieces: Buffer[] = []
    let size = 0
    child.stdout.on("data", (piece: Buffer) => {
      size += piece.length
      if (size <= LONGEST_ANSWER) pieces.push(piece)
    })
    child.stdin.on("error", () => {}) // a program that ends without reading; how it ended says more
    child.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      const why = error.code === "ENOENT" ? "is not there" : `cannot be started (${error.code ?? error.message})`
      reject(new Failure(`'${program}' ${why}`))
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      if (code !== 0) return reject(new Failure(`'${program}' ended with ${code ?? "a signal"}`))
      try {
        resolve(understood(Buffer.concat(pieces).toString("utf8")))
      } catch {
        reject(new Failure(`'${program}' answered what cannot be read`))
      }
    })
    child.stdin.end(payload)
  })
}

/** End a program with all that it has started. */
function end(child: ChildProcess): void {
  try {
    if (child.pid) process.kill(-child.pid, "SIGKILL")
  } catch {
    child.kill("SIGKILL") // where there are no groups of processes
  }
}

function understood(text: string): Answer {
  const read: unknown = JSON.parse(text)
  if (!isRecord(read)) throw new SyntaxError("no object")
  const answer: Answer = {}
  for (const name of ["inject", "ask", "tell"] as const) {
    const words = read[name]
    if (typeof words === "string" && words) answer[name] = words
  }
  if (read["hold_back"] === true) answer.hold_back = true
  return answer
}

// --- sessions ----------------------------------------------------------------------------------------------

/** What is known of a session as long as this process runs. */
class Session {
  /** How it begins or begins anew, until it was told what there is to tell at that. */
  begins: "startup" | "resume" | "compact" | "" = "startup"
  /** Whether it goes on because it was asked to save. */
  isAsked = false
  prompt = ""
  lastMessage = ""
  agent: string | undefined
  model: Model | undefined
  /** Words for a message that opencode wrote itself, and for calls that failed: added anew to each request. */
  readonly added = new Map<string, string>()
  readonly failures = new Map<string, string>()
  readonly id: string
  /** The session of the person: itself, or that whose agent it works for. */
  readonly root: string

  constructor(id: string, root: string) {
    this.id = id
    this.root = root
  }

  get isChild(): boolean {
    return this.root !== this.id
  }
}

/** The sessions of one directory; the oldest are forgotten, and looked up again where they go on. */
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

  /** Whose agent a session works for; opencode tells of it when the session is made. */
  isMade(info: Record<string, unknown>): void {
    const { id, parentID } = info
    if (typeof id === "string" && typeof parentID === "string") keep(this.parents, id, parentID)
  }

  forget(id: string): void {
    this.known.delete(id)
    this.parents.delete(id)
  }

  /** The session; `message` is the one that is being written, which is no history. */
  find(id: string, message = ""): Promise<Session> {
    const found = this.known.get(id) ?? this.looked(id, message)
    keep(this.known, id, found)
    return found
  }

  private async looked(id: string, message: string): Promise<Session> {
    const [root, goesOn] = await Promise.all([this.root(id), this.hasHistory(id, message)])
    const session = new Session(id, root)
    if (goesOn) session.begins = "resume"
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
    const info = await this.lookup(() => this.client.session.get({ path: { id } }))
    const parent = isRecord(info) ? info["parentID"] : undefined
    return typeof parent === "string" ? parent : ""
  }

  /** Whether a session goes on: `opencode -c` says nothing of it, but there are messages. */
  private async hasHistory(id: string, message: string): Promise<boolean> {
    const found = await this.lookup(() => this.client.session.messages({ path: { id }, query: { limit: 2 } }))
    // Without an answer nothing is known, and to be told twice is worse than not at all.
    if (!Array.isArray(found)) return true
    return found.some((one) => isRecord(one) && isRecord(one["info"]) && one["info"]["id"] !== message)
  }

  private async lookup(ask: () => Promise<{ data?: unknown }>): Promise<unknown> {
    try {
      return (await within(LOOKUP_DEADLINE, ask()))?.data
    } catch {
      return undefined
    }
  }
}

// --- the MCP server ----------------------------------------------------------------------------------------

/** Starts the MCP server again where it has ended: opencode itself goes on without its tools. */
class Server {
  private delay = START_AGAIN
  private restsUntil = 0
  private readonly client: Client

  constructor(client: Client) {
    this.client = client
  }

  async mend(): Promise<void> {
    if (!(await this.hasFailed())) {
      this.delay = START_AGAIN
      return
    }
    if (Date.now() < this.restsUntil) return
    await within(START_DEADLINE, this.client.mcp.connect({ path: { name: SERVER } }))
    this.restsUntil = Date.now() + this.delay
    this.delay = Math.min(2 * this.delay, START_AGAIN_AT_MOST)
  }

  private async hasFailed(): Promise<boolean> {
    const states = (await within(LOOKUP_DEADLINE, this.client.mcp.status()))?.data
    const state = isRecord(states) ? states[SERVER] : undefined
    return isRecord(state) && state["status"] === "failed"
  }
}

// --- the plugin --------------------------------------------------------------------------------------------

/** Which instance speaks for a directory: two copies of this file may be loaded, and opencode may load one again. */
const SPEAKERS = Symbol.for("palazzo.opencode.speakers")

function speakers(): Map<string, symbol> {
  const shared = globalThis as unknown as Record<symbol, Map<string, symbol> | undefined>
  return (shared[SPEAKERS] ??= new Map())
}

/** Called once for each directory that opencode works in, with hooks that hold for that directory. */
export const Palazzo = async ({ client, directory }: Surroundings, wired?: Partial<Wired>) => {
  const memory = new Memory(client, directory, { program: "palazzo", options: [], ...wired })
  const sessions = new Sessions(client)
  const server = new Server(client)
  const self = Symbol(directory)
  speakers().set(directory, self)

  /** Let a hook do its part if this instance speaks for the directory, whatever comes of it. */
  const hook =
    <Input, Output>(part: (input: Input, output: Output) => Promise<void>) =>
    async (input: Input, output: Output): Promise<void> => {
      if (speakers().get(directory) !== self) return
      try {
        await part(input, output)
      } catch (error) {
        memory.warn(`a hook failed, which is a bug in Palazzo (${String(error)})`)
      }
    }

  const told = (session: Session) => ({
    session: session.root,
    ...(session.isChild ? { agent: session.id, agent_kind: session.agent ?? "" } : {}),
  })

  const kept = (session: Session) => ({
    ...told(session),
    transcript: history(),
    prompt: session.prompt,
    last_message: session.lastMessage,
  })

  /** What a session is told where it begins, or goes on after a compaction; once. */
  const orientation = async (session: Session): Promise<string> => {
    const source = session.begins
    session.begins = ""
    if (!source || (session.isChild && source !== "startup")) return ""
    const event = session.isChild ? "subagent-start" : "session-start"
    return (await memory.ask(event, { ...told(session), transcript: history(), source })).inject ?? ""
  }

  const message = async (
    input: { sessionID: string; agent?: string; model?: Model },
    output: { message: Message; parts: Part[] },
  ): Promise<void> => {
    const mended = server.mend().catch(() => {}) // an opencode that cannot be asked starts its servers itself
    const prompt = spoken(output.parts)
    if (!prompt) return // written by opencode or a plugin, as a save that was asked for
    const session = await sessions.find(input.sessionID, output.message.id)
    session.agent = input.agent
    session.model = input.model
    session.prompt = prompt
    session.lastMessage = ""
    session.isAsked = false
    const words = [await orientation(session)]
    if (!session.isChild) words.push((await memory.ask("prompt", { ...told(session), transcript: history(), prompt })).inject ?? "")
    for (const text of words.filter(Boolean)) output.parts.push(synthetic(output, text))
    await mended
  }

  const used = async (
    input: { tool: string; sessionID: string; args?: unknown },
    output: ToolOutput,
  ): Promise<void> => {
    if (!WATCHED.has(input.tool) || typeof output?.output !== "string") return
    const session = await sessions.find(input.sessionID)
    const code = isRecord(output.metadata) ? output.metadata["exit"] : undefined
    const hasFailed = typeof code === "number" && code !== 0
    const tool = { name: input.tool, input: input.args, output: output.output, ...(hasFailed ? { error: output.output } : {}) }
    const { inject } = await memory.ask(hasFailed ? "tool-failure" : "post-tool", { ...told(session), tool })
    if (inject) output.output += `\n\n${inject}`
  }

  /** Calls that failed come through no other hook that may say something: what is told of one is told in each request. */
  const requested = async (_: unknown, output: { messages: { info: Message; parts: Part[] }[] }): Promise<void> => {
    const last = output.messages.at(-1)
    if (!last) return
    const session = await sessions.find(last.info.sessionID)
    const user = output.messages.findLast((one) => one.info.role === "user")
    if (session.begins === "compact" && user) keep(session.added, user.info.id, await orientation(session))
    if (last.info.role === "assistant") await lookInto(session, last.parts)
    for (const { info, parts } of output.messages) {
      const words = session.added.get(info.id)
      if (words) parts.push(synthetic({ message: info, parts }, words))
      for (const part of parts) {
        const known = session.failures.get(part.callID ?? "")
        if (known && part.state?.error) part.state = { ...part.state, error: `${part.state.error}\n\n${known}` }
      }
    }
  }

  const lookInto = async (session: Session, parts: Part[]): Promise<void> => {
    const failed = parts.filter((part) => part.state?.status === "error" && !session.failures.has(part.callID ?? ""))
    for (const { tool = "", callID = "", state } of failed.slice(0, FAILURES_IN_A_STEP)) {
      const call = { name: tool, input: state?.input, error: state?.error ?? "" }
      const { inject } = await memory.ask("tool-failure", { ...told(session), tool: call })
      keep(session.failures, callID, inject ?? "")
    }
  }

  const happened = async ({ event }: { event: Event }): Promise<void> => {
    const properties = isRecord(event.properties) ? event.properties : {}
    const id = properties["sessionID"]
    const info = isRecord(properties["info"]) ? properties["info"] : {}
    if (event.type === "session.created") sessions.isMade(info)
    if (event.type === "session.deleted" && typeof info["id"] === "string") sessions.forget(info["id"])
    if (event.type === "server.instance.disposed") await end()
    if (typeof id !== "string") return
    if (event.type === "session.compacted") (await sessions.find(id)).begins = "compact"
    if (event.type === "session.idle") await idle(await sessions.find(id))
  }

  /** The end of a turn. Nobody waits for this, and `opencode run` ends with it. */
  const idle = async (session: Session): Promise<void> => {
    if (!session.prompt) return
    if (session.isChild) {
      await memory.send("subagent-stop", kept(session))
      return
    }
    const { ask } = await memory.send("stop", { ...kept(session), asked: session.isAsked || endsWithTheTurn() })
    if (!ask || speakers().get(directory) !== self) return
    session.isAsked = true
    const body: Turn = { parts: [{ type: "text", text: ask, synthetic: true }] }
    if (session.agent) body.agent = session.agent
    if (session.model) body.model = session.model
    quietly(() => client.session.prompt({ path: { id: session.id }, body }))
  }

  const compacting = async ({ sessionID }: { sessionID: string }): Promise<void> => {
    const session = await sessions.find(sessionID)
    if (session.isChild) return
    const { hold_back } = await memory.ask("pre-compact", { ...kept(session), trigger: "" }, COMPACTION_DEADLINE)
    if (hold_back) memory.tell("This session could not be kept before it is compacted; it is read later.", "warning")
  }

  const end = async (): Promise<void> => {
    const spoke = (await Promise.all(sessions)).filter((session) => session.prompt && !session.isChild)
    for (const session of spoke) {
      void memory.send("session-end", kept(session))
      sessions.forget(session.id)
    }
    await memory.settle()
    if (speakers().get(directory) === self) speakers().delete(directory)
  }

  return {
    "chat.message": hook(message),
    "tool.execute.after": hook(used),
    "experimental.chat.messages.transform": hook(requested),
    "experimental.session.compacting": hook(compacting),
    "experimental.text.complete": hook(async (input: { sessionID: string }, output: { text: string }) => {
      if (output.text.trim()) (await sessions.find(input.sessionID)).lastMessage = output.text
    }),
    event: async (input: { event: Event }) => hook(happened)(input, undefined),
    dispose: async () => hook(end)(undefined, undefined),
  }
}

// --- parts of it -------------------------------------------------------------------------------------------

/** Where opencode keeps its sessions; empty where it keeps no database yet. */
function history(): string {
  const data = join(process.env["XDG_DATA_HOME"] || join(homedir(), ".local", "share"), "opencode")
  const said = process.env["OPENCODE_DB"]
  if (said) return isAbsolute(said) ? said : join(data, said)
  const usual = join(data, "opencode.db")
  if (existsSync(usual)) return usual
  try {
    // Other channels than the released one have a database each: the one that is written to is this one's.
    const others = readdirSync(data).filter((name) => /^opencode-[\w.-]+\.db$/.test(name))
    const dated = others.map((name) => join(data, name)).map((path) => ({ path, at: statSync(path).mtimeMs }))
    return dated.sort((one, other) => other.at - one.at)[0]?.path ?? ""
  } catch {
    return ""
  }
}

/** What a person wrote. `opencode run "two words"` puts quotes around it. */
function spoken(parts: Part[]): string {
  const said = parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
  const text = said.map((part) => part.text ?? "").join("\n").trim()
  return /^"[^"]*"$/.test(text) ? text.slice(1, -1).trim() : text
}

/** A part that the model reads and the terminal does not show. Parts are ordered by their ids. */
function synthetic({ message, parts }: { message: Message; parts: Part[] }, text: string): Part {
  const id = `${parts.at(-1)?.id ?? `prt_${Date.now().toString(16)}`}0`
  return { id, sessionID: message.sessionID, messageID: message.id, type: "text", text, synthetic: true }
}

/** Whether this process is over when the turn is, so that there is nobody who could be asked for another one. */
function endsWithTheTurn(): boolean {
  return process.argv.slice(2).find((word) => !word.startsWith("-")) === "run"
}

/** The value, or nothing where it does not come in time. */
function within<Value>(milliseconds: number, value: Promise<Value>): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), milliseconds)
    value.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Begin something of which nobody needs to know how it ends. */
function quietly(begin: () => Promise<unknown>): void {
  try {
    begin().catch(() => {})
  } catch {
    // A client that is older than what it is asked: there is nobody to tell.
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
