/** What the surroundings say: how Palazzo is started, and how long it is waited for. */

/** How Palazzo is started: its program, and what is added to each command line (`--palace PATH`). */
export interface Palazzo {
	readonly program: string;
	readonly options: readonly string[];
}

/** All in milliseconds, but for `tries`; a time-out of 0 is none. */
export interface Limits {
	/** For an answer to a request. */
	readonly call: number;
	/** For the answer to `initialize`. A palace that was made by an older version may be brought up to date first. */
	readonly initialize: number;
	/** How often a server that ended is started again before an answer has come of one. */
	readonly tries: number;
	/** Before the first of these; doubled before each that follows. */
	readonly pause: number;
}

export type Variables = Readonly<Record<string, string | undefined>>;

export const DEFAULTS: Limits = { call: 60_000, initialize: 300_000, tries: 2, pause: 1_000 };
/** No pause is longer. */
export const LONGEST_PAUSE = 30_000;

/** Ours first: it wins over what somebody has set for the other. */
const PREFIXES = ["PALAZZO_MCP_", "MEMPALACE_MCP_"];
const NAMES: Readonly<Record<keyof Limits, readonly string[]>> = {
	call: ["CALL_TIMEOUT_MS", "REQUEST_TIMEOUT_MS", "TIMEOUT_MS"],
	initialize: ["INIT_TIMEOUT_MS", "INITIALIZE_TIMEOUT_MS"],
	tries: ["RESPAWN_TRIES", "RESPAWN_ATTEMPTS", "MAX_RESPAWNS"],
	pause: ["RESPAWN_DELAY_MS", "RESPAWN_BACKOFF_MS"],
};
/** What a timer takes; it fires at once for more. */
const MOST = 2 ** 31 - 1;

export function limits(variables: Variables): Limits {
	const said = (limit: keyof Limits) => number(variables, NAMES[limit]) ?? DEFAULTS[limit];
	return { call: said("call"), initialize: said("initialize"), tries: said("tries"), pause: said("pause") };
}

/** The first of these that is set; what is no number of 0 or more is passed over. */
function number(variables: Variables, names: readonly string[]): number | undefined {
	for (const prefix of PREFIXES) {
		for (const name of names) {
			const said = variables[prefix + name]?.trim() ?? "";
			if (/^\d+$/.test(said)) return Math.min(Number(said), MOST);
		}
	}
	return undefined;
}

/** Whether what the server writes to standard error is to be seen. */
export function isDebugged(variables: Variables): boolean {
	return ["PALAZZO_MCP_DEBUG", "MEMPALACE_MCP_DEBUG"].some((name) => !["", "0", undefined].includes(variables[name]));
}
