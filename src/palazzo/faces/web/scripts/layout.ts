/** Lays out a graph by forces, in a worker: pages stay responsive with thousands of nodes. */

import {
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
} from "d3-force";

const FRAME_MS = 33;
const COOLED = 0.02;

onmessage = (event: MessageEvent<{ count: number; links: readonly (readonly [number, number])[] }>) => {
  const nodes: SimulationNodeDatum[] = Array.from({ length: event.data.count }, () => ({}));
  const links: SimulationLinkDatum<SimulationNodeDatum>[] = event.data.links.map(([source, target]) => ({
    source,
    target,
  }));
  const simulation = forceSimulation(nodes)
    .force("charge", forceManyBody().strength(-30).theta(1.1).distanceMax(600))
    .force("links", forceLink(links).distance(40))
    .force("x", forceX(0).strength(0.04))
    .force("y", forceY(0).strength(0.04))
    .stop();
  const step = (): void => {
    const until = performance.now() + FRAME_MS;
    do simulation.tick();
    while (performance.now() < until && simulation.alpha() > COOLED);
    const positions = new Float32Array(2 * nodes.length);
    nodes.forEach((node, n) => {
      positions[2 * n] = node.x ?? 0;
      positions[2 * n + 1] = node.y ?? 0;
    });
    postMessage(positions, { transfer: [positions.buffer] });
    if (simulation.alpha() > COOLED) setTimeout(step, 0);
  };
  step();
};
