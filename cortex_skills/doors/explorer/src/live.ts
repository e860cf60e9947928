// Shows what is new on a page while it is open.
//
// Rules kept here:
// - the stream says that something changed; the page asks for itself again, as the same reader, and takes the new rows;
// - nothing jumps: rows are exchanged only where their table begins in view and is not in use; else a button with their
//   number does it;
// - a page that is hidden or left has no stream, since a browser has few connections to a server; a hidden one keeps it
//   where its reader chose to be notified. What was written meanwhile is asked for when there is a stream again.

import {made} from './made';

const PAUSE_MS = 2_000; // between two requests of a page for itself
const NOTIFIES = 'cortex.notifies';

interface Told {
  waiting: Record<string, number>;
  [of: string]: unknown;
}

const mark = document.querySelector<HTMLElement>('[data-stream]');
let waited: number | undefined;
offerNotifying();
if (mark?.dataset.stream) follow(mark, mark.dataset.stream, mark.dataset.live ?? '');

function follow(mark: HTMLElement, address: string, of: string): void {
  let stream: EventSource | undefined;
  let shown: string | undefined;
  let asking = false;
  let again = false;
  let wasClosed = false;
  mark.hidden = false;

  const open = (): void => {
    if ((document.hidden && !notifies()) || stream) return;
    stream = new EventSource(address);
    stream.onopen = () => mark.classList.add('on');
    stream.onerror = () => mark.classList.remove('on');
    stream.onmessage = (event) => {
      const told = JSON.parse(event.data) as Told;
      number(told.waiting);
      notify(told.waiting.overview ?? 0);
      const now = JSON.stringify(told[of] ?? '');
      if (wasClosed || (shown !== undefined && now !== shown)) void ask();
      wasClosed = false;
      shown = now;
    };
  };
  const close = (): void => {
    stream?.close();
    wasClosed ||= !!stream;
    stream = undefined;
    mark.classList.remove('on');
  };
  const ask = async (): Promise<void> => {
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    do {
      again = false;
      const page = await itself();
      if (page) exchange(page);
      await new Promise((done) => setTimeout(done, PAUSE_MS));
    } while (again);
    asking = false;
  };

  document.addEventListener('visibilitychange', () => (document.hidden && !notifies() ? close() : open()));
  addEventListener('pagehide', close);
  addEventListener('pageshow', open);
  open();
}

/** The page as it is now; parsed by the request, which runs no script of it. */
function itself(): Promise<Document | null> {
  return new Promise((done) => {
    const request = new XMLHttpRequest();
    request.open('GET', location.href);
    request.responseType = 'document';
    request.setRequestHeader('Accept', 'text/html');
    request.setRequestHeader('X-Cortex-Live', '1');
    request.onload = () => done(request.status === 200 && request.responseURL === location.href ? request.responseXML : null);
    request.onerror = () => done(null);
    request.send();
  });
}

/** Shows how many wait: in the title, the navigation and the button of the menu. */
function number(waiting: Record<string, number>): void {
  const all = waiting.overview ?? 0;
  document.title = (all ? `(${all}) ` : '') + document.title.replace(/^\(\d+\) /, '');
  for (const link of document.querySelectorAll<HTMLElement>('.rail [data-page]')) {
    const many = waiting[link.dataset.page ?? ''] ?? 0;
    const old = link.querySelector('.n');
    if (old?.firstChild?.nodeValue === String(many) || (!old && !many)) continue;
    old?.remove();
    if (!many) continue;
    const badge = made('b', {class: 'n'}, String(many));
    badge.append(made('span', {class: 'spoken'}, ' waiting'));
    link.append(badge);
  }
  const menu = document.querySelector('.menu-button');
  menu?.setAttribute('aria-label', all ? `Menu, ${all} waiting` : 'Menu');
  menu?.querySelector('.n')?.remove();
  if (all) menu?.append(made('b', {class: 'n', 'aria-hidden': 'true'}, String(all)));
}

/** Takes the rows of each table, and of the inbox, from the page as it is now. */
function exchange(page: Document): void {
  for (const [old, now] of pairs(page)) {
    const before = new Set([...old.querySelectorAll(ROWS)].map(key));
    const rows = [...now.querySelectorAll(ROWS)];
    const fresh = rows.filter((row) => !before.has(key(row)));
    if (!fresh.length && rows.length === before.size) continue;
    for (const row of fresh) {
      row.classList.add('fresh');
      (row.querySelector('td:nth-of-type(2), p') ?? row).append(made('span', {class: 'new'}, 'New'));
    }
    const show = (): void => old.replaceChildren(...[...now.childNodes].map((node) => document.importNode(node, true)));
    const place = old.getBoundingClientRect();
    const isInView = place.top >= 0 && place.top < innerHeight;
    if (isInView && !old.contains(document.activeElement) && !old.contains(getSelection()?.anchorNode ?? null)) show();
    else offer(old, fresh.length, show);
  }
  const first = [...page.querySelectorAll(TABLES)].find((now) => !counterpart(document, now));
  if (first) offer(document.querySelector('main')!, first.querySelectorAll(ROWS).length, () => location.reload());
}

const ROWS = 'tbody > tr, li';
const key = (row: Element): string => [...row.querySelectorAll('a')].map((link) => link.getAttribute('href')).join(' ');

const TABLES = 'main [role=region][aria-label] > table, main section[aria-labelledby=waiting]';

/** The table, or the inbox, of a page that is the one of another. */
function counterpart(page: Document, of: Element): Element | null {
  const name = of.parentElement?.getAttribute('aria-label') ?? '';
  const table = `main [role=region][aria-label="${CSS.escape(name)}"] > table`;
  return page.querySelector(of.matches('table') ? table : 'main section[aria-labelledby=waiting]');
}

/** The tables and the inbox here and there. */
function* pairs(page: Document): Generator<[Element, Element]> {
  for (const old of document.querySelectorAll(TABLES)) {
    const now = counterpart(page, old);
    if (now) yield [old, now];
  }
}

/** A button at the top of the window that shows what is new. */
function offer(old: Element, many: number, show: () => void): void {
  document.querySelector('.offer')?.remove();
  const button = made('button', {type: 'button', class: 'offer primary'}, many ? `${many} new` : 'Changed');
  button.addEventListener('click', () => {
    button.remove();
    show();
    old.scrollIntoView({block: 'nearest'});
  });
  document.body.append(button);
}

/** Whether the reader chose to be notified in this browser, and it may. */
function notifies(): boolean {
  return 'Notification' in window && Notification.permission === 'granted' && !!localStorage.getItem(NOTIFIES);
}

/** Notifies of what waits since the last message, where the page is hidden; its text is a number alone. */
function notify(waiting: number): void {
  const before = waited;
  waited = waiting;
  if (before === undefined || waiting <= before || !document.hidden || !notifies()) return;
  const shown = new Notification('Cortex explorer', {body: `${waiting} waiting for a person`, tag: 'cortex-waiting'});
  shown.addEventListener('click', () => {
    window.focus();
    shown.close();
  });
}

/** The button by which a reader chooses: the browser is asked at a click, and never before. */
function offerNotifying(): void {
  const button = document.querySelector<HTMLButtonElement>('[data-notify]');
  if (!button || !('Notification' in window)) return;
  const show = (): void => button.setAttribute('aria-pressed', String(notifies()));
  button.hidden = false;
  button.addEventListener('click', async () => {
    if (notifies()) localStorage.removeItem(NOTIFIES);
    else if ((await Notification.requestPermission()) === 'granted') localStorage.setItem(NOTIFIES, '1');
    else button.title = 'The browser does not allow notifications of this page.';
    show();
  });
  show();
}
