/** The end of a turn: what was said is kept, and when a save is due the agent is asked for it in one turn more. */
import type { AgentEndEvent, ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { CHECKPOINT, message, type Session } from "./session.ts";

type Said = AgentEndEvent["messages"][number];

export function keepCheckpoints(pi: ExtensionAPI, session: Session, isActive: () => boolean): void {
	/** From 0.87 on a turn's end says so itself; before, the end of a run is all there is. */
	let canSettle = false;
	let isAsked = false;
	let prompt = "";
	let lastMessage = "";

	/** The words that ask for a save, if one is due. A turn that was broken off is kept, and nobody is asked. */
	const due = async (ctx: ExtensionContext, isWhole: boolean): Promise<string | undefined> => {
		const asked = isAsked || !isWhole;
		isAsked = false;
		const answer = await session.tell(ctx, "stop", { prompt, last_message: lastMessage, asked });
		isAsked = isWhole && answer?.ask !== undefined;
		return isAsked ? answer?.ask : undefined;
	};

	pi.on("before_agent_start", (event) => {
		prompt = event.prompt;
		lastMessage = "";
	});
	pi.on("turn_end", (event) => {
		canSettle = "outcome" in event;
		lastMessage = words(event.message) || lastMessage;
	});
	pi.on("agent_before_settle", async (event, ctx) => {
		if (!isActive() || event.continue) return undefined;
		const ask = await due(ctx, event.outcome === "completed");
		if (ask === undefined) return undefined;
		return { continue: true, entries: [{ type: "custom_message" as const, ...message(CHECKPOINT, ask) }] };
	});
	pi.on("agent_end", async (event, ctx) => {
		if (!isActive() || canSettle) return;
		const ask = await due(ctx, isWhole(event.messages));
		if (ask !== undefined) {
			pi.sendMessage(message(CHECKPOINT, ask), { triggerTurn: true, deliverAs: "followUp" });
		}
	});
}

function words(said: Said): string {
	if (said.role !== "assistant") return "";
	return said.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

function isWhole(messages: readonly Said[]): boolean {
	const last = messages.at(-1);
	return last?.role === "assistant" && last.stopReason !== "aborted" && last.stopReason !== "error";
}
