/**
 * Palazzo as a package of pi. `palazzo install pi` writes a file that calls `wire` with the program by its path; who
 * installs the package by itself has `palazzo` on PATH.
 */
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { wire } from "./src/wire.ts";

export { wire };

export default function (pi: ExtensionAPI): void {
	wire(pi, { program: "palazzo", options: [] });
}
