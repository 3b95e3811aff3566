/** Before a compaction: the transcript is kept first, and where that failed it waits once, for the agent to save. */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { instructions } from "./instructions.ts";
import { CHECKPOINT, message, notify, type Session } from "./session.ts";

const NOT_KEPT =
	"Palazzo could not save this session before its compaction; the agent is asked to save. Compact again to continue without saving.";

export function keepBeforeCompaction(
	pi: ExtensionAPI,
	session: Session,
	isActive: () => boolean,
	hasTools: () => boolean,
): void {
	let hasWaited = false;

	pi.on("session_start", () => {
		hasWaited = false;
	});
	pi.on("session_before_compact", async (event, ctx) => {
		if (!isActive()) return undefined;
		const answer = await session.tell(ctx, "pre-compact", { trigger: event.reason ?? "" });
		const failed = answer === null ? hasTools() : answer.hold_back === true;
		// The host cannot go on without one that follows an overflow. What is compacted stays in pi's file.
		if (!failed || hasWaited || event.willRetry) return undefined;
		hasWaited = true;
		if (answer === null) notify(ctx, NOT_KEPT, "warning"); // else the hook has said why
		const words = await instructions(session.palazzo, "save_session");
		pi.sendMessage(message(CHECKPOINT, words), { triggerTurn: true, deliverAs: "followUp" });
		return { cancel: true };
	});
}
