// The map: resources and the triples between them, placed by forces, in place of the picture in the page.
//
// Rules kept here:
// - up to `MOST_SVG` nodes are SVG, whose nodes are links; more are drawn on a canvas, with one link at the chosen node;
// - the places are the same each time: there is no chance in them;
// - arrows move from node to node, Enter opens one, + - and 0 zoom; the table in the page has the same content;
// - text from the graph goes to `textContent` and attributes only, and a link leads to the explorer only.
import './picture';
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from 'd3-force';

/** Version 1 of what `format=json` of the page answers. */
export interface MapData {
  version: number;
  title: string;
  nodes: { id: string; label: string; kind: string; href?: string; hint?: string }[];
  links: { source: string; target: string; label: string }[];
}
interface Node {
  id: string;
  label: string;
  kind: string;
  href: string;
  hint: string;
  x: number;
  y: number;
}
interface Link {
  source: Node;
  target: Node;
  label: string;
}
interface View {
  x: number;
  y: number;
  zoom: number;
}
/** A way to draw: `show` draws all of it at a view, `choose` marks a node and moves the focus to it. */
interface Drawing {
  element: SVGSVGElement | HTMLCanvasElement;
  show(view: View): void;
  choose(node: Node, view: View): void;
}

const MOST_SVG = 500;
const MOST_LABELS = 200; // of links
const SVG = 'http://www.w3.org/2000/svg';
const MARGIN = 60;
const RADIUS = 7;

const host = document.querySelector<HTMLElement>('[data-map]');
if (host) {
  const answer = await fetch(host.dataset.map ?? '', { headers: { accept: 'application/json' } });
  if (answer.ok) draw(host, (await answer.json()) as MapData);
}

/** Draws a map in an element, and handles its keys and pointers. */
export function draw(host: HTMLElement, data: MapData): void {
  if (data.version !== 1 || !data.nodes.length) return;
  const { nodes, links } = placed(data);
  const drawing = nodes.length <= MOST_SVG ? asSvg(host, data.title, nodes, links) : asCanvas(host, data.title, nodes, links);
  host.querySelector('svg')?.remove();
  host.prepend(drawing.element);
  host.classList.add('live');
  move(host, drawing, nodes);
}

/** The nodes with their places, and the links between them. */
export function placed(data: MapData): { nodes: Node[]; links: Link[] } {
  const nodes = data.nodes.map((node, index) => ({
    ...node,
    href: node.href?.startsWith('/explore') ? node.href : '',
    hint: node.hint ?? node.label,
    x: Math.cos(index * 2.4) * 18 * Math.sqrt(index),
    y: Math.sin(index * 2.4) * 18 * Math.sqrt(index),
  }));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const links = data.links.flatMap(({ source, target, label }) => {
    const [from, to] = [byId.get(source), byId.get(target)];
    return from && to ? [{ source: from, target: to, label }] : [];
  });
  const few = nodes.length <= 60;
  const simulation = forceSimulation(nodes)
    .force('links', forceLink(links).distance(few ? 150 : 70).strength(0.4))
    .force('apart', forceManyBody().strength(few ? -500 : -160).distanceMax(600))
    .force('x', forceX(0).strength(0.05))
    .force('y', forceY(0).strength(0.09))
    .force('sizes', forceCollide((node: Node) => (few ? 16 + Math.min(90, node.label.length * 3.3) : 14)))
    .stop();
  simulation.tick(nodes.length <= MOST_SVG ? 220 : 100);
  return { nodes, links };
}

function asSvg(host: HTMLElement, title: string, nodes: Node[], links: Link[]): Drawing {
  const svg = part('svg', { class: 'graph', role: 'group', 'aria-label': title });
  const arrow = part('marker', { id: 'map-arrow', viewBox: '0 0 8 8', refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto', class: 'g-arrow' });
  arrow.append(part('path', { d: 'M0 .8 8 4 0 7.2z', }));
  const defs = part('defs', {});
  defs.append(arrow);
  svg.append(defs);
  const between = new Map<string, number>();
  for (const link of links) {
    const pair = [link.source.id, link.target.id].sort().join('\n');
    const earlier = between.get(pair) ?? 0;
    between.set(pair, earlier + 1);
    svg.append(...edge(link, earlier, links.length <= MOST_LABELS));
  }
  const anchors = new Map<Node, SVGAElement>();
  for (const node of nodes) {
    const anchor = knot(node);
    anchor.setAttribute('tabindex', node === nodes[0] ? '0' : '-1');
    anchors.set(node, anchor);
    svg.append(anchor);
  }
  return {
    element: svg,
    show: ({ x, y, zoom }) => {
      const [width, height] = [host.clientWidth / zoom, host.clientHeight / zoom];
      svg.setAttribute('viewBox', [x - width / 2, y - height / 2, width, height].map((value) => value.toFixed(1)).join(' '));
    },
    choose: (node) => {
      for (const anchor of anchors.values()) anchor.setAttribute('tabindex', '-1');
      anchors.get(node)?.setAttribute('tabindex', '0');
      anchors.get(node)?.focus({ preventScroll: true });
    },
  };
}

/** A link: a curve, bent when there are `earlier` ones between the same nodes, and its label. */
function edge({ source, target, label }: Link, earlier: number, labelled: boolean): SVGElement[] {
  const [dx, dy] = [target.x - source.x, target.y - source.y];
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / length, dy / length];
  const bend = Math.ceil(earlier / 2) * (earlier % 2 ? 22 : -22);
  const [mx, my] = [(source.x + target.x) / 2 - uy * bend, (source.y + target.y) / 2 + ux * bend];
  const from = [source.x + ux * RADIUS, source.y + uy * RADIUS].map(rounded);
  const to = [target.x - ux * (RADIUS + 3), target.y - uy * (RADIUS + 3)].map(rounded);
  const path = part('path', { d: `M${from}Q${rounded(mx)} ${rounded(my)} ${to}`, class: 'g-edge', 'marker-end': 'url(#map-arrow)' });
  if (!labelled) {
    path.append(part('title', {}, label));
    return [path];
  }
  let angle = (Math.atan2(dy, dx) * 180) / Math.PI;
  if (Math.abs(angle) > 90) angle += 180;
  const at = { x: rounded((source.x + target.x) / 2 - (uy * bend) / 2), y: rounded((source.y + target.y) / 2 + (ux * bend) / 2) };
  const text = part('text', { ...at, dy: -4, transform: `rotate(${rounded(angle)} ${at.x} ${at.y})`, class: 'g-label' }, clipped(label, 22));
  return [path, text];
}

function knot(node: Node): SVGAElement {
  const anchor = part('a', { class: `g-node ${node.kind}`, transform: `translate(${rounded(node.x)} ${rounded(node.y)})` });
  if (node.href) anchor.setAttribute('href', node.href);
  const label = clipped(node.label, 28);
  anchor.setAttribute('aria-label', label === node.label ? node.hint : `${label}, ${node.hint}`); // has what is visible
  anchor.append(part('title', {}, node.hint));
  if (node.kind === 'resource') {
    anchor.append(part('circle', { r: RADIUS }), part('text', { y: RADIUS + 13 }, label));
  } else {
    const width = Math.min(190, label.length * 6.7 + 14);
    anchor.append(part('rect', { x: -width / 2, y: -10, width, height: 20, rx: node.kind === 'literal' ? 3 : 10 }), part('text', { y: 4 }, label));
  }
  return anchor;
}

function asCanvas(host: HTMLElement, title: string, nodes: Node[], links: Link[]): Drawing {
  const canvas = document.createElement('canvas');
  canvas.className = 'graph';
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', title);
  const here = document.createElement('a');
  here.className = 'g-here';
  host.append(here);
  let chosen = nodes[0];
  const point = (view: View, node: Node): [number, number] => [
    (node.x - view.x) * view.zoom + host.clientWidth / 2,
    (node.y - view.y) * view.zoom + host.clientHeight / 2,
  ];
  const drawing: Drawing = {
    element: canvas,
    show: (view) => {
      const ratio = devicePixelRatio || 1;
      [canvas.width, canvas.height] = [host.clientWidth * ratio, host.clientHeight * ratio];
      const context = canvas.getContext('2d');
      if (!context || !chosen) return;
      const style = getComputedStyle(host);
      const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
      context.scale(ratio, ratio);
      context.strokeStyle = colour('strong');
      context.globalAlpha = 0.6;
      context.beginPath();
      for (const link of links) {
        context.moveTo(...point(view, link.source));
        context.lineTo(...point(view, link.target));
      }
      context.stroke();
      context.globalAlpha = 1;
      const colours: Record<string, string> = { resource: colour('accent'), literal: colour('ok'), more: colour('soft') };
      for (const node of nodes) {
        const [x, y] = point(view, node);
        context.fillStyle = colours[node.kind] ?? colour('soft');
        context.beginPath();
        context.arc(x, y, Math.max(1.5, RADIUS * Math.min(1, view.zoom)), 0, 7);
        context.fill();
      }
      if (view.zoom > 0.7) {
        context.fillStyle = colour('ink');
        context.font = `11px ${colour('mono')}`;
        context.textAlign = 'center';
        for (const node of nodes) {
          const [x, y] = point(view, node);
          if (x > 0 && y > 0 && x < host.clientWidth && y < host.clientHeight) context.fillText(clipped(node.label, 28), x, y + 20);
        }
      }
      const [x, y] = point(view, chosen);
      here.style.left = `${x}px`;
      here.style.top = `${y}px`;
    },
    choose: (node, view) => {
      chosen = node;
      here.textContent = clipped(node.label, 60);
      if (node.href) here.href = node.href;
      else here.removeAttribute('href');
      drawing.show(view);
      here.focus({ preventScroll: true });
    },
  };
  if (chosen?.href) here.href = chosen.href;
  here.textContent = clipped(chosen?.label ?? '', 60);
  return drawing;
}

/** Keys, pointers and buttons that move the view and choose nodes. */
function move(host: HTMLElement, drawing: Drawing, nodes: Node[]): void {
  const whole = (): View => {
    const [xs, ys] = [nodes.map((node) => node.x), nodes.map((node) => node.y)];
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const fit = Math.min(host.clientWidth / (right - left + 2 * MARGIN), host.clientHeight / (bottom - top + 2 * MARGIN));
    return { x: (left + right) / 2, y: (top + bottom) / 2, zoom: Math.min(1.5, fit) };
  };
  let view = whole();
  let chosen = nodes[0];
  const go = (next: Partial<View>): void => {
    view = { ...view, ...next };
    drawing.show(view);
  };
  const zoom = (factor: number): void => go({ zoom: Math.min(8, Math.max(0.02, view.zoom * factor)) });
  const choose = (node: Node): void => {
    chosen = node;
    const inside = Math.abs(node.x - view.x) * view.zoom < host.clientWidth / 2.2 && Math.abs(node.y - view.y) * view.zoom < host.clientHeight / 2.2;
    if (!inside) view = { ...view, x: node.x, y: node.y };
    drawing.show(view);
    drawing.choose(node, view);
  };
  const keys: Record<string, () => void> = {
    '+': () => zoom(1.3),
    '=': () => zoom(1.3),
    '-': () => zoom(1 / 1.3),
    '0': () => go(whole()),
    ArrowRight: () => step(1, 0),
    ArrowLeft: () => step(-1, 0),
    ArrowDown: () => step(0, 1),
    ArrowUp: () => step(0, -1),
  };
  const step = (dx: number, dy: number): void => {
    const next = chosen && nearest(nodes, chosen, dx, dy);
    if (next) choose(next);
  };
  host.addEventListener('keydown', (event) => {
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  host.addEventListener(
    'wheel',
    (event) => {
      if (!event.ctrlKey) return; // without it the page scrolls
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15);
    },
    { passive: false },
  );
  drag(host, drawing, (dx, dy) => go({ x: view.x - dx / view.zoom, y: view.y - dy / view.zoom }), (x, y) => {
    if (!(drawing.element instanceof HTMLCanvasElement)) return;
    const at = { x: (x - host.clientWidth / 2) / view.zoom + view.x, y: (y - host.clientHeight / 2) / view.zoom + view.y };
    const near = nodes.find((node) => Math.hypot(node.x - at.x, node.y - at.y) < Math.max(RADIUS, 9 / view.zoom));
    if (near) choose(near);
  });
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-zoom]')) {
    button.addEventListener('click', () => keys[button.dataset.zoom ?? '']?.());
  }
  for (const box of document.querySelectorAll<HTMLElement>('[data-zooming]')) box.hidden = false;
  new ResizeObserver(() => drawing.show(view)).observe(host);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => drawing.show(view));
  go(whole());
}

/** Reports how far a pointer moves the picture, and where it is clicked. */
function drag(host: HTMLElement, drawing: Drawing, by: (dx: number, dy: number) => void, click: (x: number, y: number) => void): void {
  let held: { x: number; y: number; moved: boolean } | undefined;
  const element: Element & GlobalEventHandlers = drawing.element;
  element.addEventListener('pointerdown', (event: PointerEvent) => {
    if (event.button === 0) held = { x: event.clientX, y: event.clientY, moved: false };
  });
  element.addEventListener('pointermove', (event: PointerEvent) => {
    if (!held || (!held.moved && Math.hypot(event.clientX - held.x, event.clientY - held.y) < 4)) return;
    if (!held.moved) element.setPointerCapture(event.pointerId);
    by(event.clientX - held.x, event.clientY - held.y);
    held = { x: event.clientX, y: event.clientY, moved: true };
  });
  element.addEventListener('pointerup', (event: PointerEvent) => {
    const box = host.getBoundingClientRect();
    if (held && !held.moved) click(event.clientX - box.left, event.clientY - box.top);
    if (held?.moved) element.addEventListener('click', (click) => click.preventDefault(), { once: true, capture: true });
    held = undefined;
  });
  element.addEventListener('dragstart', (event: Event) => event.preventDefault());
}

/** The nearest node in a direction. */
function nearest(nodes: Node[], from: Node, dx: number, dy: number): Node | undefined {
  let [best, least] = [undefined as Node | undefined, Infinity];
  for (const node of nodes) {
    const along = (node.x - from.x) * dx + (node.y - from.y) * dy;
    const aside = Math.abs((node.x - from.x) * dy) + Math.abs((node.y - from.y) * dx);
    if (node === from || along <= 0 || along < aside / 2) continue;
    const cost = along + 2 * aside;
    if (cost < least) [best, least] = [node, cost];
  }
  return best;
}

function part<K extends keyof SVGElementTagNameMap>(name: K, attributes: Record<string, string | number>, text = ''): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (text) element.textContent = text;
  return element;
}

function clipped(text: string, most: number): string {
  const characters = [...text];
  if (characters.length <= most) return text;
  const end = Math.floor((most - 1) / 2);
  return `${characters.slice(0, most - 1 - end).join('')}…${characters.slice(-end).join('')}`;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
