// Suggestions below the field that finds: the combobox pattern of the ARIA Authoring Practices Guide, with a list box.
//
// Rules kept here:
// - one request at a time, a moment after the last key; an answer to an earlier text is not shown;
// - without an answer, and with Enter on none of the suggestions, the form is sent as without scripts;
// - texts of the graph go to `textContent`, and only addresses of this server are opened.

import {made} from './made';

const PAUSE_MS = 120;

interface Suggestion {
  text: string;
  notes: string[];
  href: string;
}

export function suggest(field: HTMLInputElement, status: HTMLElement): void {
  const form = field.form;
  if (!form) return;
  const list = made('ul', {id: 'suggestions', role: 'listbox', 'aria-label': 'Suggestions'});
  list.hidden = true;
  form.append(list);
  const style = field.dataset.css;
  if (style) document.head.append(made('link', {rel: 'stylesheet', href: new URL(style, import.meta.url).pathname}));
  for (const [name, value] of Object.entries({
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-controls': list.id,
    'aria-expanded': 'false',
  })) {
    field.setAttribute(name, value);
  }
  let timer = 0;
  let asked: AbortController | undefined;
  let chosen = -1;

  const close = (): void => {
    clearTimeout(timer);
    asked?.abort();
    list.hidden = true;
    field.setAttribute('aria-expanded', 'false');
    choose(-1);
  };

  const choose = (place: number): void => {
    list.children[chosen]?.setAttribute('aria-selected', 'false');
    chosen = place;
    const option = list.children[place];
    if (option) {
      option.setAttribute('aria-selected', 'true');
      option.scrollIntoView({block: 'nearest'});
      field.setAttribute('aria-activedescendant', option.id);
    } else {
      field.removeAttribute('aria-activedescendant');
    }
  };

  const show = (found: Suggestion[], more: number): void => {
    choose(-1);
    list.replaceChildren(...found.map(optionOf));
    list.hidden = !found.length;
    field.setAttribute('aria-expanded', String(found.length > 0));
    status.textContent = found.length
      ? `${found.length} suggestion${found.length > 1 ? 's' : ''}${more ? `, and ${more} more` : ''}.`
      : 'Nothing has these words.';
  };

  const ask = async (): Promise<void> => {
    asked?.abort();
    const text = field.value.trim();
    if (!text) return close();
    const mine = (asked = new AbortController());
    const address = `${form.action}?${new URLSearchParams({q: text, format: 'suggestions'})}`;
    try {
      const answer = await fetch(address, {signal: mine.signal, credentials: 'same-origin', redirect: 'error'});
      if (!answer.ok) return close();
      const {suggestions, more} = (await answer.json()) as {suggestions: Suggestion[]; more: number};
      if (!mine.signal.aborted && document.activeElement === field) show(suggestions, more);
    } catch {
      if (!mine.signal.aborted) close();
    }
  };

  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void ask(), PAUSE_MS);
  });
  field.addEventListener('blur', close);
  if (field.value) void ask(); // what was typed before this script was here
  field.addEventListener('keydown', (event) => {
    const count = list.children.length;
    if (event.isComposing) return;
    if (event.key === 'Escape') {
      if (list.hidden) field.value = '';
      else event.preventDefault(); // the text stays
      close();
    } else if (event.key === 'Enter') {
      const option = list.hidden ? null : list.children[chosen];
      if (!(option instanceof HTMLElement)) return close(); // the form is sent
      event.preventDefault();
      option.click();
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (list.hidden) return void ask();
      const step = event.key === 'ArrowDown' ? 1 : -1;
      choose(((chosen + 1 + step + count + 1) % (count + 1)) - 1); // the field itself is one of the places
    }
  });
  list.addEventListener('mousedown', (event) => event.preventDefault()); // the field keeps the focus
}

function optionOf(each: Suggestion, place: number): HTMLElement {
  const option = made('li', {id: `suggestion-${place}`, role: 'option', 'aria-selected': 'false'});
  option.append(made('bdi', {}, each.text));
  for (const note of each.notes) option.append(made('small', {dir: 'auto'}, note));
  option.addEventListener('click', () => {
    const address = new URL(each.href, location.origin);
    if (address.origin === location.origin) location.assign(address);
  });
  return option;
}
