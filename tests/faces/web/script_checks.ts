/** Checks of what the viewer's scripts compute; `test_scripts.py` runs them in Node. */

import assert from "node:assert/strict";
import { readGraph } from "../../../src/palazzo/faces/web/scripts/graph.js";
import { nextIndex } from "../../../src/palazzo/faces/web/scripts/keys.js";
import { concerns, describe } from "../../../src/palazzo/faces/web/scripts/live.js";
import { Motion } from "../../../src/palazzo/faces/web/scripts/motion.js";
import { fileName, wrapWords } from "../../../src/palazzo/faces/web/scripts/pictures.js";
import { dayBefore } from "../../../src/palazzo/faces/web/scripts/search.js";

const points = (...values: number[]): Float32Array<ArrayBuffer> => new Float32Array(values);
const nothing = { sessions: [], injections: false, digests: false, erased: false };

const checks: Readonly<Record<string, () => void>> = {
  "points go evenly from one position to the next, in the time that the step before took"() {
    const motion = new Motion();
    motion.push(points(0, 0), 1_000);
    assert.equal(motion.isMoving(1_000), false);
    motion.push(points(10, 4), 1_100);
    assert.deepEqual(motion.at(1_100), points(0, 0));
    assert.deepEqual(motion.at(1_150), points(5, 2));
    assert.equal(motion.isMoving(1_199), true);
    assert.deepEqual(motion.at(1_200), points(10, 4));
    assert.equal(motion.isMoving(1_200), false);
  },
  "new positions that come early begin where the points are shown"() {
    const motion = new Motion();
    motion.push(points(0, 0), 0);
    motion.push(points(10, 0), 100);
    motion.push(points(10, 10), 150);
    assert.deepEqual(motion.at(150), points(5, 0));
    assert.deepEqual(motion.at(175), points(7.5, 5));
    assert.deepEqual(motion.at(200), points(10, 10));
  },
  "after a long pause points move quickly, and another number of points is shown at once"() {
    const motion = new Motion();
    motion.push(points(0, 0), 0);
    motion.push(points(8, 0), 10_000);
    assert.deepEqual(motion.at(10_125), points(4, 0));
    assert.deepEqual(motion.at(10_250), points(8, 0));
    motion.push(points(1, 1, 2, 2), 20_000);
    assert.deepEqual(motion.at(20_000), points(1, 1, 2, 2));
  },
  "j and k stay within the entries"() {
    assert.deepEqual([nextIndex(-1, 1, 3), nextIndex(-1, -1, 3), nextIndex(2, 1, 3), nextIndex(0, -1, 3)], [0, 2, 2, 0]);
    assert.equal(nextIndex(-1, 1, 0), -1);
  },
  "the right end of the slider is no date, and others are days before today"() {
    const today = new Date(2026, 2, 2, 12);
    assert.deepEqual([dayBefore(today, 0), dayBefore(today, 1), dayBefore(today, 2)], ["", "2026-03-01", "2026-02-28"]);
  },
  "a change is described, and concerns the parts that show it"() {
    const session = { session: "s1", title: "Ports" };
    assert.equal(describe({ ...nothing, sessions: [session, session] }), "New messages in Ports and 1 more");
    assert.equal(describe({ ...nothing, injections: true }), "An agent was told something");
    assert.equal(describe({ ...nothing, digests: true }), "");
    const change = { ...nothing, sessions: [session] };
    assert.equal(concerns({ live: "session", session: "s1" }, change), true);
    assert.equal(concerns({ live: "session", session: "s2" }, change), false);
    assert.equal(concerns({ live: "told", session: "" }, change), false);
    assert.equal(concerns({ live: "digest", session: "" }, { ...nothing, digests: true }), true);
  },
  "the name of a picture's file has letters and digits only"() {
    assert.equal(fileName("Tokens injected a day"), "palazzo-tokens-injected-a-day");
    assert.equal(fileName("../../Größe\0"), "palazzo-größe");
    assert.equal(fileName("…"), "palazzo-picture");
  },
  "a caption is wrapped between words, and has at least one line"() {
    assert.deepEqual(wrapWords("Words, 2026-01-01 to 2026-02-01", 17), ["Words, 2026-01-01", "to 2026-02-01"]);
    assert.deepEqual([wrapWords("longest word", 3), wrapWords("", 3)], [["longest", "word"], [""]]);
  },
  "names of a graph are nodes, and facts are links between them"() {
    const graph = readGraph([["a", "knows", "b"], ["b", "is", "b"]]);
    assert.deepEqual([...graph.names], ["a", "b"]);
    assert.deepEqual(graph.links, [[0, 1], [1, 1]]);
    assert.deepEqual([...graph.degrees], [1, 3]);
  },
};

for (const [name, check] of Object.entries(checks)) {
  check();
  console.log(name);
}
