// What every page of the explorer gains with scripts: keys, copying, going back, times in the zone of the reader, and the
// code in the address of the entrance.
//
// Rules kept here:
// - a page works without this file; what needs it is `hidden` in the HTML, and shown here;
// - text from the page goes to `textContent`, attributes and the clipboard only;
// - keys of one letter do nothing in a field, and can be switched off (WCAG 2.2, 2.1.4);
// - a form that acts is sent once, also with a double click;
// - Ctrl-Enter in a field of several lines sends its form, as Enter does in a field of one.

import {made} from './made';

const OFF = 'cortex.keys-off';
const SEQUENCE_MS = 1500;
const REACH_MS = 2000;
const SENT_MS = 10_000; // after which a form that got no answer can be sent again

const find = document.querySelector<HTMLInputElement>('#find');
const status = document.createElement('p');
status.className = 'spoken';
status.setAttribute('role', 'status');
document.body.append(status);

void enter();
keeping();
copying();
keys();
sending();
moments();
centre();
zones();
// Most visits do without what suggests below the field.
find?.addEventListener('focus', async () => (await import(find.dataset.js!)).suggest(find, status), {once: true});

/**
 * Removes the code behind `#` from the address, and sends it with the form of the entrance: at the private host name, if
 * the page names one that the browser reaches, otherwise here.
 */
async function enter(): Promise<void> {
  const form = document.querySelector<HTMLFormElement>('form[data-enter]');
  const field = form?.querySelector<HTMLInputElement>('input[name=code]');
  const code = location.hash.slice(1);
  if (!form || !field || !code) return;
  history.replaceState(null, '', location.pathname + location.search);
  const elsewhere = form.dataset.private;
  if (elsewhere && (await reaches(elsewhere))) {
    location.replace(`${elsewhere}${location.pathname}${location.search}#${code}`);
    return;
  }
  field.value = decoded(code);
  form.requestSubmit();
}

/** Lets the browser keep pages for going back to them, and shows such a page only while the session lasts. */
function keeping(): void {
  document.cookie = 'cortex_keeps=1; Path=/explore; SameSite=Strict';
  addEventListener('pageshow', async (event) => {
    if (!event.persisted) return;
    document.documentElement.hidden = true;
    const session = await fetch('/explore/logout', {method: 'HEAD', redirect: 'manual'}).catch(() => null);
    if (session?.ok) document.documentElement.hidden = false;
    else location.reload();
  });
}

/** Whether the browser resolves a host name to this server. */
async function reaches(origin: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(REACH_MS);
    await fetch(`${origin}/explore/enter/reachable`, {mode: 'no-cors', credentials: 'omit', signal});
    return true;
  } catch {
    return false;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Shows the copy buttons where the browser can write to the clipboard. */
function copying(): void {
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll<HTMLElement>('[data-copy]')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(button.dataset.copy ?? '');
        status.textContent = 'Copied.';
        button.classList.add('done');
        setTimeout(() => button.classList.remove('done'), 1200);
      } catch {
        status.textContent = 'The browser did not allow to copy.';
      }
    });
  }
}

/** `/` finds, `?` lists the keys, `j` and `k` go to a row, `g` with a second letter follows the link with that `data-keys`. */
function keys(): void {
  const links = new Map<string, HTMLElement>();
  for (const link of document.querySelectorAll<HTMLElement>('[data-keys]')) links.set(link.dataset.keys ?? '', link);
  let first = '';
  let since = 0;
  document.addEventListener('keydown', (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented || isEditing(event)) return;
    if (localStorage.getItem(OFF) && event.key !== '?') return;
    const sequence = first && event.timeStamp - since < SEQUENCE_MS ? `${first} ${event.key}` : event.key;
    first = '';
    const link = links.get(sequence);
    if (event.key === '/' && find) {
      event.preventDefault();
      find.focus();
      find.select();
    } else if (event.key === '?') {
      list(links);
    } else if (event.key === 'j' || event.key === 'k') {
      row(event.key === 'j' ? 1 : -1);
    } else if (link) {
      event.preventDefault();
      link.click();
    } else if ([...links.keys()].some((keys) => keys.startsWith(`${event.key} `))) {
      first = event.key;
      since = event.timeStamp;
    }
  });
}

/** Goes to the next row of what the page lists, or to the one before: to the first thing in it that can be used. */
function row(step: number): void {
  const usable = 'a, button, input';
  const rows = [...document.querySelectorAll('main :is(tbody tr, .wait > li, .plain > li, .steps > li)')];
  const listed = rows.filter((each) => each.querySelector(usable));
  const here = listed.findLastIndex((each) => each.contains(document.activeElement));
  const next = here < 0 && step < 0 ? listed.length - 1 : here + step;
  listed[next]?.querySelector<HTMLElement>(usable)?.focus();
}

/** Sends a form that acts once, and the form of a field of several lines with Ctrl-Enter. */
function sending(): void {
  const sent = new Set<HTMLFormElement>();
  addEventListener('pageshow', () => sent.clear());
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement;
    if (form.method !== 'post' || event.defaultPrevented) return;
    if (sent.has(form)) event.preventDefault();
    sent.add(form);
    setTimeout(() => sent.delete(form), SENT_MS);
  });
  document.addEventListener('keydown', (event) => {
    const field = event.target;
    if (!(field instanceof HTMLTextAreaElement) || event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    field.form?.requestSubmit(field.form.querySelector<HTMLElement>('button:not([type=button])'));
  });
}

/** A calendar beside each field of a moment, and a slider over the moments of a history, which sets the earlier field. */
function moments(): void {
  for (const field of document.querySelectorAll<HTMLInputElement>('input[data-moment=""]')) {
    const picker = made('input', {type: 'datetime-local', class: 'picker', 'aria-label': 'Choose a time'});
    picker.addEventListener('change', () => {
      field.value = picker.value.replace('T', ' '); // read in the zone that is shown
    });
    field.after(picker);
  }
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-times]')) {
    const slider = form.querySelector<HTMLInputElement>('input[type=range]');
    const since = form.querySelector<HTMLInputElement>('input[name=since]');
    const times = (form.dataset.times ?? '').split(' ').filter(Boolean);
    if (!slider || !since || !times.length) continue;
    slider.parentElement!.hidden = false;
    slider.addEventListener('input', () => {
      // A millisecond before a change, so that the change is in the difference.
      const chosen = times[Number(slider.value)];
      since.value = chosen ? new Date(new Date(chosen).getTime() - 1).toISOString() : 'yesterday';
      slider.setAttribute('aria-valuetext', since.value);
    });
  }
}

/** Scrolls a picture that is wider than its box to the resource that it is about. */
function centre(): void {
  for (const box of document.querySelectorAll('.scroll:has(> .fan)')) {
    const middle = (each: Element): number => each.getBoundingClientRect().x + each.getBoundingClientRect().width / 2;
    const focus = box.querySelector('.f-focus');
    if (focus) box.scrollLeft = middle(focus) - middle(box);
  }
}

/** Offers the time zone of the browser; what shows and reads times in it is loaded where it is chosen, or a moment is written. */
function zones(): void {
  const form = document.querySelector<HTMLFormElement>('form[data-zones]');
  const button = form?.querySelector('button');
  if (!form || !button) return;
  const chosen = document.documentElement.dataset.zone;
  const other = chosen ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;
  button.hidden = !other || other === (chosen ?? 'UTC');
  button.value = other;
  button.textContent = `Show ${other}`;
  const load = async (): Promise<void> => (await import(form.dataset.zones!)).zones();
  if (chosen) void load();
  else for (const field of document.querySelectorAll('[data-moment], .picker')) field.addEventListener('focus', load, {once: true});
}

function isEditing(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input,textarea,select'));
}

/** Opens the list of keys. */
function list(links: Map<string, HTMLElement>): void {
  document.querySelector('dialog.keys')?.remove();
  const dialog = made('dialog', {class: 'keys', 'aria-labelledby': 'keys-title'});
  const rows = made('dl');
  const add = (keys: string, text: string): void => {
    const term = made('dt');
    for (const key of keys.split(' ')) term.append(made('kbd', {}, key), ' ');
    rows.append(term, made('dd', {}, text));
  };
  if (find) add('/', 'Find');
  for (const [keys, link] of links) add(keys, link.dataset.label ?? link.textContent?.trim() ?? '');
  add('j', 'Next row');
  add('k', 'Row before');
  if (document.querySelector('main textarea')) add('Ctrl Enter', 'Send the form of a text');
  add('?', 'This list');
  const box = made('input', {type: 'checkbox'});
  box.checked = !localStorage.getItem(OFF);
  box.addEventListener('change', () => (box.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, '1')));
  const label = made('label');
  label.append(box, ' These keys are on');
  const close = made('button', {type: 'button', autofocus: ''}, 'Close');
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => dialog.remove());
  dialog.append(made('h2', {id: 'keys-title'}, 'Keys'), rows, label, close);
  document.body.append(dialog);
  dialog.showModal();
}
