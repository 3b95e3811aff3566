/** Draws facts as a graph on a canvas; `layout.ts` places the nodes. The page's table says the same without it. */

import { startWorker } from "./html.js";
import { Motion } from "./motion.js";
import { element, offerPicture } from "./pictures.js";

type Edge = readonly [subject: string, predicate: string, object: string];

interface Graph {
  readonly names: readonly string[];
  readonly links: readonly (readonly [number, number])[];
  readonly degrees: Uint32Array;
}

const [MOST_NAMES, LONGEST_NAME] = [60, 40];
const NEAR_PX = 12;
const MANY_NODES = 1_000;
const REST_MS = 300;

export function drawGraph(page: Document): void {
  const figure = page.getElementById("graph");
  const canvas = figure?.querySelector("canvas");
  const source = figure?.dataset["source"];
  if (!figure || !canvas || !source) return;
  void fetch(source, { credentials: "same-origin" })
    .then((answer) => (answer.ok ? (answer.json() as Promise<{ edges: Edge[]; complete: boolean }>) : null))
    .then((facts) => {
      if (!facts || facts.edges.length === 0) return;
      figure.hidden = false;
      const note = page.getElementById("graph-note");
      if (note && !facts.complete) note.textContent = "The graph shows the first 10,000 facts.";
      const drawing = new Drawing(canvas, readGraph(facts.edges));
      drawing.begin();
      offerPicture(figure, () => drawing.toSvg());
    })
    .catch(() => undefined); // the service is lost, and the page says so
}

/** Returns the nodes and links of facts. */
export function readGraph(edges: readonly Edge[]): Graph {
  const numbers = new Map<string, number>();
  const number = (name: string): number => {
    const known = numbers.get(name);
    if (known !== undefined) return known;
    numbers.set(name, numbers.size);
    return numbers.size - 1;
  };
  const links = edges.map(([subject, , object]) => [number(subject), number(object)] as const);
  const degrees = new Uint32Array(numbers.size);
  for (const ends of links) for (const end of ends) degrees[end] = (degrees[end] ?? 0) + 1;
  return { names: [...numbers.keys()], links, degrees };
}

class Drawing {
  private readonly motion = new Motion();
  private positions = new Float32Array(0);
  private scale = 1;
  private centerX = 0;
  private centerY = 0;
  private isFitted = true;
  private isDue = false;
  private resting = 0;
  private readonly named: readonly number[];

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly graph: Graph,
  ) {
    const byDegree = [...graph.degrees.keys()].sort((a, b) => (graph.degrees[b] ?? 0) - (graph.degrees[a] ?? 0));
    this.named = byDegree.slice(0, MOST_NAMES);
  }

  begin(): void {
    const worker = startWorker();
    worker.onmessage = (event: MessageEvent<Float32Array<ArrayBuffer>>) => {
      this.motion.push(event.data, performance.now());
      this.request();
    };
    worker.postMessage({ count: this.graph.names.length, links: this.graph.links });
    this.followPointer();
    window.addEventListener("resize", () => this.request());
  }

  private request(): void {
    if (this.isDue) return;
    this.isDue = true;
    window.clearTimeout(this.resting);
    requestAnimationFrame(() => {
      this.isDue = false;
      const now = performance.now();
      this.positions = this.motion.at(now);
      const isQuick = this.graph.names.length > MANY_NODES;
      this.draw(isQuick);
      if (this.motion.isMoving(now)) this.request();
      else if (isQuick) this.resting = window.setTimeout(() => this.draw(false), REST_MS);
    });
  }

  private fit(width: number, height: number): void {
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let n = 0; n < this.positions.length; n += 2) {
      const x = this.positions[n] ?? 0;
      const y = this.positions[n + 1] ?? 0;
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
    }
    this.centerX = (left + right) / 2;
    this.centerY = (top + bottom) / 2;
    this.scale = Math.min((0.85 * width) / Math.max(right - left, 1), (0.85 * height) / Math.max(bottom - top, 1), 4);
  }

  /** Draws the graph; `isQuick` is for frames of many nodes in motion: squares take a quarter of the time of circles. */
  private draw(isQuick: boolean): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const ratio = window.devicePixelRatio || 1;
    if (this.canvas.width !== Math.floor(width * ratio)) this.canvas.width = width * ratio;
    if (this.canvas.height !== Math.floor(height * ratio)) this.canvas.height = height * ratio;
    const pen = this.canvas.getContext("2d");
    if (!pen || this.positions.length === 0) return;
    if (this.isFitted) this.fit(width, height);
    const colors = getComputedStyle(this.canvas);
    const color = (name: string): string => colors.getPropertyValue(name).trim();
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = color("--raised");
    pen.fillRect(0, 0, width, height);
    pen.strokeStyle = color("--line");
    pen.lineWidth = isQuick ? 1 / ratio : 1; // a wider line is filled as a shape, which takes ten times as long
    pen.beginPath();
    const at = this.places(width, height);
    for (const [source, target] of this.graph.links) {
      pen.moveTo(at[2 * source] ?? 0, at[2 * source + 1] ?? 0);
      pen.lineTo(at[2 * target] ?? 0, at[2 * target + 1] ?? 0);
    }
    pen.stroke();
    pen.fillStyle = color("--bar");
    if (isQuick) this.drawSquares(pen, at);
    else this.drawCircles(pen, at);
    pen.fillStyle = color("--ink");
    pen.font = "12px system-ui, sans-serif";
    for (const node of this.named) {
      pen.fillText(this.label(node), (at[2 * node] ?? 0) + 8, (at[2 * node + 1] ?? 0) + 4);
    }
  }

  private drawSquares(pen: CanvasRenderingContext2D, at: Float32Array): void {
    for (let node = 0; node < this.graph.names.length; node += 1) {
      const radius = this.radius(node);
      pen.fillRect((at[2 * node] ?? 0) - radius, (at[2 * node + 1] ?? 0) - radius, 2 * radius, 2 * radius);
    }
  }

  private drawCircles(pen: CanvasRenderingContext2D, at: Float32Array): void {
    pen.beginPath();
    for (let node = 0; node < this.graph.names.length; node += 1) {
      const [x, y, radius] = [at[2 * node] ?? 0, at[2 * node + 1] ?? 0, this.radius(node)];
      pen.moveTo(x + radius, y);
      pen.arc(x, y, radius, 0, 2 * Math.PI);
    }
    pen.fill();
  }

  /** Returns what the canvas shows as SVG. */
  toSvg(): SVGSVGElement {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const colors = getComputedStyle(this.canvas);
    const color = (name: string): string => colors.getPropertyValue(name).trim();
    const picture = element("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    const at = this.places(width, height);
    const place = (node: number): [number, number] => [at[2 * node] ?? 0, at[2 * node + 1] ?? 0];
    const lines = element("g", { stroke: color("--line") });
    for (const [source, target] of this.graph.links) {
      const [[x1, y1], [x2, y2]] = [place(source), place(target)];
      lines.append(element("line", { x1, y1, x2, y2 }));
    }
    const points = element("g", { fill: color("--bar") });
    this.graph.names.forEach((_, node) => {
      const [cx, cy] = place(node);
      points.append(element("circle", { cx, cy, r: this.radius(node) }));
    });
    const names = element("g", { fill: color("--ink"), "font-size": 12, "font-family": "sans-serif" });
    for (const node of this.named) {
      const [x, y] = place(node);
      const name = element("text", { x: x + 8, y: y + 4 });
      name.textContent = this.label(node);
      names.append(name);
    }
    picture.append(element("rect", { width, height, fill: color("--raised") }), lines, points, names);
    return picture;
  }

  private label(node: number): string {
    const name = this.graph.names[node] ?? "";
    return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name;
  }

  private radius(node: number): number {
    return 2 + Math.min(Math.sqrt(this.graph.degrees[node] ?? 1), 8);
  }

  /** Returns where all nodes are on the canvas, as x and y in turn: one array for a frame, not one for each node. */
  private places(width: number, height: number): Float32Array {
    const [left, top] = [width / 2 - this.centerX * this.scale, height / 2 - this.centerY * this.scale];
    return this.positions.map((value, n) => value * this.scale + (n % 2 === 0 ? left : top));
  }

  private followPointer(): void {
    let moved = 0;
    this.canvas.addEventListener("pointerdown", (event) => {
      moved = 0;
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!this.canvas.hasPointerCapture(event.pointerId)) return;
      moved += Math.abs(event.movementX) + Math.abs(event.movementY);
      this.isFitted = false;
      this.centerX -= event.movementX / this.scale;
      this.centerY -= event.movementY / this.scale;
      this.request();
    });
    this.canvas.addEventListener("pointerup", (event) => {
      const node = moved < 4 ? this.nearest(event.offsetX, event.offsetY) : -1;
      const name = this.graph.names[node];
      if (name) location.assign(`/knowledge?${new URLSearchParams({ entity: name })}`);
    });
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.isFitted = false;
        this.scale = Math.min(Math.max(this.scale * Math.exp(-event.deltaY / 500), 0.02), 20);
        this.request();
      },
      { passive: false },
    );
  }

  private nearest(atX: number, atY: number): number {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    let [best, distance] = [-1, NEAR_PX];
    const at = this.places(width, height);
    for (let node = 0; node < this.graph.names.length; node += 1) {
      const own = Math.hypot((at[2 * node] ?? 0) - atX, (at[2 * node + 1] ?? 0) - atY);
      if (own < distance) [best, distance] = [node, own];
    }
    return best;
  }
}
