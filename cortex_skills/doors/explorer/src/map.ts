// What a map gains with scripts: it is moved, zoomed, and changed without a new page.
//
// Rules kept here:
// - the picture is that of the server, and what changes it is a link of the page: the script follows the link, and takes
//   the part with the picture out of the page that answers; without this file the browser follows it;
// - text is never smaller than 11 px: where the picture is made smaller it keeps its size, and labels that would be
//   over others are left out, those of the least linked nodes first;
// - arrows move from node to node, Enter expands, H hides, P pins, + - and 0 zoom; what is dragged is pinned.
import { offer } from './picture';

const ZOOM = { least: 0.1, most: 6, first: 0.72 };

let view = { x: 0, y: 0, zoom: 1 };
const asked: { latest?: XMLHttpRequest } = {};
start(true);
let shown = location.search;
addEventListener('popstate', () => {
  if (location.search !== shown) void load(location.href); // else a fragment alone is another: Skip to content
});

/** Prepares the map of the page; `isFirst` if it came with the page. */
function start(isFirst: boolean): void {
  const stage = document.querySelector<HTMLElement>('.stage.map');
  const svg = stage?.querySelector<SVGSVGElement>('svg.graph');
  if (!stage || !svg) return;
  const size = { width: svg.viewBox.baseVal.width, height: svg.viewBox.baseVal.height };
  svg.removeAttribute('width');
  svg.removeAttribute('height');
  stage.classList.add('scripted');
  stage.style.height = `${Math.min(Math.max(size.height + 20, 300), 760, innerHeight * 0.85)}px`;
  stage.tabIndex = -1;
  const nodes = [...svg.querySelectorAll<SVGGraphicsElement>('.m-node')];
  const show = (): void => {
    const [width, height] = [stage.clientWidth / view.zoom, stage.clientHeight / view.zoom];
    svg.setAttribute('viewBox', [view.x - width / 2, view.y - height / 2, width, height].join(' '));
    svg.style.setProperty('--shrunk', String(Math.max(1, 1 / view.zoom)));
    stage.classList.toggle('small', view.zoom < 0.98);
    thin(svg, view.zoom);
  };
  const fit = (): number => Math.min(1, stage.clientWidth / size.width, stage.clientHeight / size.height);
  const whole = (zoom = fit()): void => {
    const root = svg.querySelector<SVGGraphicsElement>('.root');
    const isWhole = zoom <= fit();
    const middle = root && !isWhole ? middleOf(root) : { x: size.width / 2, y: size.height / 2 };
    view = { ...middle, zoom };
    show();
  };
  const zoom = (factor: number): void => {
    view.zoom = Math.min(ZOOM.most, Math.max(ZOOM.least, view.zoom * factor));
    show();
  };
  if (isFirst) whole(Math.max(ZOOM.first, fit()));
  else show();
  const choose = (node: SVGGraphicsElement): void => {
    for (const each of nodes) each.setAttribute('tabindex', each === node ? '0' : '-1');
    const at = middleOf(node);
    const isInside = Math.abs(at.x - view.x) * view.zoom < stage.clientWidth / 2.2 && Math.abs(at.y - view.y) * view.zoom < stage.clientHeight / 2.2;
    if (!isInside) view = { ...view, ...at };
    show();
    node.focus({ preventScroll: true });
  };
  for (const node of nodes) node.setAttribute('tabindex', '-1');
  const chosen = svg.querySelector<SVGGraphicsElement>('.here') ?? svg.querySelector<SVGGraphicsElement>('.root') ?? nodes[0];
  chosen?.setAttribute('tabindex', '0');
  if (!isFirst && chosen) choose(chosen);
  stage.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const node = (event.target as Element).closest<SVGGraphicsElement>('.m-node');
    const step: Record<string, [number, number]> = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    const way = step[event.key];
    const next = way && node && nearest(nodes, node, ...way);
    if (next) choose(next);
    else if (event.key === '+' || event.key === '=') zoom(1.3);
    else if (event.key === '-') zoom(1 / 1.3);
    else if (event.key === '0') whole();
    else if (node && event.key === 'Enter') act(node, 'expand');
    else if (node && event.key.toLowerCase() === 'h') act(node, 'hide');
    else if (node && event.key.toLowerCase() === 'p') act(node, 'pin', node.dataset.at);
    else if (!way) return;
    event.preventDefault();
  });
  stage.addEventListener('wheel', (event) => {
    if (!event.ctrlKey) return; // without it the page scrolls
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15);
  }, { passive: false });
  drag(stage, show);
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-zoom]')) {
    button.hidden = false;
    const acts: Record<string, () => void> = { '+': () => zoom(1.3), '-': () => zoom(1 / 1.3), '0': () => whole() };
    button.addEventListener('click', () => acts[button.dataset.zoom ?? '']?.());
  }
  for (const help of document.querySelectorAll<HTMLElement>('[data-keys-help]')) help.hidden = false;
  document.getElementById('map')?.addEventListener('click', (event) => {
    const link = (event.target as Element).closest('a[href]');
    const href = link?.getAttribute('href') ?? '';
    const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (!isPlain || !href.startsWith('?') || href.includes('format=')) return;
    event.preventDefault();
    void load(new URL(href, location.href).href, true);
  });
  new ResizeObserver(show).observe(stage);
}

/** Changes what the address has of a node. */
function act(node: SVGGraphicsElement, what: 'expand' | 'hide' | 'pin', at?: string): void {
  const id = node.dataset.id ?? '';
  const address = new URL(location.href);
  const others = (address.searchParams.get(what) ?? '').split('.').filter((each) => each && each.split(',')[0] !== id);
  address.searchParams.set(what, [...others, at ? `${id},${at}` : id].join('.'));
  if (what === 'hide') address.searchParams.delete('at');
  else if (!id.startsWith('all-')) address.searchParams.set('at', id);
  if (document.getElementById('map')) void load(address.href, true);
}

/** Takes the map out of the page at an address. */
function load(address: string, isNew = false): void {
  const map = document.getElementById('map');
  if (!map || !new URL(address).pathname.endsWith('/map')) return location.assign(address);
  asked.latest?.abort();
  const request = new XMLHttpRequest(); // its answer is a document: nothing is made of a text
  asked.latest = request;
  request.open('GET', address);
  request.setRequestHeader('accept', 'text/html');
  request.responseType = 'document';
  request.addEventListener('load', () => {
    const found = request.status === 200 ? request.responseXML?.getElementById('map') : null;
    if (!found) return location.assign(address);
    if (isNew) history.pushState(null, '', address);
    shown = location.search;
    const words = request.responseXML?.getElementById('map-words')?.textContent ?? '';
    const here = document.getElementById('map-words');
    if (here) here.textContent = words;
    const before = anchor();
    map.replaceWith(document.adoptNode(found));
    keep(before);
    start(false);
    offer();
  });
  request.addEventListener('error', () => location.assign(address));
  request.send();
}

/** A node, and where it is in the picture: its corner moves when the picture grows. */
function anchor(): { id: string; x: number; y: number } | undefined {
  for (const node of document.querySelectorAll<SVGGraphicsElement>('.m-node')) {
    const at = middleOf(node);
    if (node.dataset.id) return { id: node.dataset.id, ...at };
  }
  return undefined;
}

function keep(before: { id: string; x: number; y: number } | undefined): void {
  const node = before && document.querySelector<SVGGraphicsElement>(`.m-node[data-id="${before.id}"]`);
  if (!node || !before) return;
  const now = middleOf(node);
  view = { ...view, x: view.x + now.x - before.x, y: view.y + now.y - before.y };
}

/** The middle of the mark of a node. */
function middleOf(node: SVGGraphicsElement): { x: number; y: number } {
  const box = node.querySelector<SVGGraphicsElement>('.mark')?.getBBox() ?? node.getBBox();
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Leaves out the labels that would be over others when the picture is smaller. */
function thin(svg: SVGSVGElement, zoom: number): void {
  const labelled = [...svg.querySelectorAll<SVGGraphicsElement>('.m-node, .m-name')];
  for (const each of labelled) each.classList.remove('unread');
  if (zoom >= 0.98) return;
  const weight = (each: SVGGraphicsElement): number =>
    each.matches('.root, .here') ? 1000 : each.matches('.m-name') ? -1 : (each.querySelector<SVGGraphicsElement>('.mark')?.getBBox().width ?? 0);
  const boxes = labelled.map((each) => ({ each, weight: weight(each), box: each.querySelector('text')?.getBoundingClientRect() }));
  const kept: DOMRect[] = [];
  for (const { each, box } of boxes.sort((one, other) => other.weight - one.weight)) {
    if (!box) continue;
    const isFree = kept.every((other) => box.right < other.left || other.right < box.left || box.bottom < other.top || other.bottom < box.top);
    if (isFree) kept.push(box);
    each.classList.toggle('unread', !isFree);
  }
}

/** Moves the picture with the pointer, and a node if that was held: it is pinned where it is left. */
function drag(stage: HTMLElement, show: () => void): void {
  let held: { x: number; y: number; startX: number; startY: number; isMoved: boolean; node: SVGGraphicsElement | null } | undefined;
  stage.addEventListener('pointerdown', (event) => {
    const node = (event.target as Element).closest<SVGGraphicsElement>('.m-node');
    const [x, y] = [event.clientX, event.clientY];
    if (event.button === 0) held = { x, y, startX: x, startY: y, isMoved: false, node };
  });
  stage.addEventListener('pointermove', (event) => {
    if (!held || (!held.isMoved && Math.hypot(event.clientX - held.x, event.clientY - held.y) < 5)) return;
    if (!held.isMoved) stage.setPointerCapture(event.pointerId);
    held.isMoved = true;
    if (held.node) {
      const [dx, dy] = [(event.clientX - held.startX) / view.zoom, (event.clientY - held.startY) / view.zoom];
      held.node.setAttribute('transform', `translate(${dx} ${dy})`);
    } else {
      view = { ...view, x: view.x - (event.clientX - held.x) / view.zoom, y: view.y - (event.clientY - held.y) / view.zoom };
      show();
    }
    [held.x, held.y] = [event.clientX, event.clientY];
  });
  stage.addEventListener('pointerup', (event) => {
    if (!held?.isMoved) return (held = undefined), undefined;
    stage.addEventListener('click', (click) => (click.preventDefault(), click.stopPropagation()), { once: true, capture: true });
    const [x, y] = (held.node?.dataset.at ?? '').split(',').map(Number);
    if (held.node && x !== undefined && y !== undefined) {
      const dx = (event.clientX - held.startX) / view.zoom;
      const dy = (event.clientY - held.startY) / view.zoom;
      act(held.node, 'pin', `${Math.round(x + dx)},${Math.round(y + dy)}`);
    }
    held = undefined;
  });
  stage.addEventListener('dragstart', (event) => event.preventDefault());
}

/** The nearest node in a direction. */
function nearest(nodes: SVGGraphicsElement[], from: SVGGraphicsElement, dx: number, dy: number): SVGGraphicsElement | undefined {
  const here = middleOf(from);
  let [best, least] = [undefined as SVGGraphicsElement | undefined, Infinity];
  for (const node of nodes) {
    const at = middleOf(node);
    const along = (at.x - here.x) * dx + (at.y - here.y) * dy;
    const aside = Math.abs((at.x - here.x) * dy) + Math.abs((at.y - here.y) * dx);
    if (node === from || along <= 0 || along < aside / 2) continue;
    const cost = along + 2 * aside;
    if (cost < least) [best, least] = [node, cost];
  }
  return best;
}
