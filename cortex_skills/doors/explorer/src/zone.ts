// Shows times in the zone that the reader chose, and reads the moments of forms in it.
//
// Rules kept here:
// - what the server sends is UTC, and so is what it gets: an address means the same to each reader;
// - an exact time is in a `time` with its moment; that of how long ago is the title of a `span`, in UTC;
// - without this script, or for a zone that the browser does not know, times stay UTC, and the page says so;
// - the zone is that of the cookie, which the server keeps as it keeps the colours; only the browser knows zones.

const UTC = 'UTC';
const zone = known(document.documentElement.dataset.zone ?? UTC);
const form = new Intl.DateTimeFormat('en-GB', {
  timeZone: zone,
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

let isReading = false;

/** Shows and reads times. */
export function zones(): void {
  if (isReading) return;
  isReading = true;
  for (const field of document.querySelectorAll<HTMLInputElement>('input[data-moment]')) {
    if (zone !== UTC && ZONED.test(field.value)) field.value = wall(new Date(field.value));
    field.form?.addEventListener('formdata', (event) => {
      const read = absolute(field.value.trim());
      if (read && event.formData.has(field.name)) event.formData.set(field.name, read);
    });
  }
  if (zone === UTC) return;
  for (const name of document.querySelectorAll<HTMLElement>('[data-zone-name]')) name.textContent = zone;
  show(document.body);
  new MutationObserver((changes) => {
    for (const change of changes) for (const node of change.addedNodes) if (node instanceof HTMLElement) show(node);
  }).observe(document.body, {childList: true, subtree: true});
}

function known(name: string): string {
  try {
    new Intl.DateTimeFormat('en', {timeZone: name});
    return name;
  } catch {
    return UTC;
  }
}

/** Shows the times below a node in the zone; each is in a `time`, which has its moment. */
function show(below: HTMLElement): void {
  const times = [...below.querySelectorAll<HTMLElement>(TIMES)];
  for (const time of below.matches(TIMES) ? [below, ...times] : times) {
    const written = time.getAttribute('datetime') ?? time.title.replace(' UTC', 'Z').replace(' ', 'T');
    const moment = new Date(written);
    if (time.dataset.shown || Number.isNaN(moment.getTime())) continue;
    time.dataset.shown = zone;
    if (time.title) {
      time.title = `${wall(moment)} ${zone}`;
      time.textContent = ago(moment, time.textContent ?? '');
      continue;
    }
    const text = (time.textContent ?? '').trim();
    const local = wall(moment);
    if (/^\d\d:\d\d:\d\d$/.test(text)) time.textContent = local.slice('2026-01-31 '.length);
    else time.textContent = local.slice(0, text.replace(/\.\d+|Z| UTC$/g, '').length) + (text.endsWith('UTC') ? ` ${zone}` : '');
  }
}

/** How long ago, as the server writes it (`times.py`): the day and the hour in it are those of the zone. */
function ago(moment: Date, written: string): string {
  const days = Math.round((day(moment) - day(new Date())) / 86_400_000);
  if (Math.abs(moment.getTime() - Date.now()) < 86_400_000) return written;
  if (Math.abs(days) === 1) return `${days < 0 ? 'yesterday' : 'tomorrow'} ${wall(moment).slice(11, 16)}`;
  const year = wall(moment).slice(0, 4);
  const month = moment.toLocaleString('en-GB', {month: 'short', timeZone: zone}).slice(0, 3);
  return `${Number(wall(moment).slice(8, 10))} ${month}${wall(new Date()).startsWith(year) ? '' : ` ${year}`}`;
}

/** A moment in the zone: `2026-01-31 12:00:00`. */
function wall(moment: Date): string {
  const part = Object.fromEntries(form.formatToParts(moment).map((each) => [each.type, each.value]));
  return `${part.year}-${part.month}-${part.day} ${part.hour}:${part.minute}:${part.second}`;
}

/** The beginning of the day of a moment in the zone, as if that were UTC. */
function day(moment: Date): number {
  return Date.parse(`${wall(moment).slice(0, 10)}T00:00:00Z`);
}

const TIMES = 'time[datetime], span[title$=" UTC"]';
const ZONED = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const WALL = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(:\d\d)?)?$/;

/** What a reader wrote in the zone, as a moment in UTC; undefined for what says its zone, or is so long ago. */
function absolute(written: string): string | undefined {
  const words = written.toLowerCase();
  let text = written;
  if (words === 'today' || words === 'yesterday') {
    text = new Date(day(new Date()) - (words === 'today' ? 0 : 86_400_000)).toISOString().slice(0, 10);
  }
  const found = WALL.exec(text);
  if (!found || (zone === UTC && !found[2])) return undefined;
  const at = Date.parse(`${found[1]}T${found[2] ?? '00:00'}${found[3] ?? ':00'}Z`);
  if (Number.isNaN(at)) return undefined;
  // The difference to UTC is that of the moment itself, which the first guess may miss by a change of the clocks.
  const guess = at - ahead(at);
  return new Date(at - ahead(guess)).toISOString();
}

/** How far the clocks of the zone are ahead of UTC at a moment, in milliseconds. */
function ahead(at: number): number {
  const whole = Math.floor(at / 1000) * 1000;
  return Date.parse(`${wall(new Date(whole)).replace(' ', 'T')}Z`) - whole;
}
