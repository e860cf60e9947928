// Suggestions below a field: the combobox pattern of the ARIA Authoring Practices Guide, with a list box.
//
// Rules kept here:
// - one request at a time, a moment after the last key; an answer to an earlier text is not shown;
// - without an answer, and with Enter on none of the suggestions, the form is sent as without scripts;
// - texts of the graph go to `textContent` and to the values of fields only.

import {made} from './made';

const PAUSE_MS = 120;

export interface Suggestion {
  text: string;
  notes: string[];
}

interface Answer<S> {
  suggestions: S[];
  more: number;
}

/** What a field suggests. */
export interface Source<S extends Suggestion> {
  /** The element below which the list is. */
  box: HTMLElement;
  /** The address of the suggestions for a text; none closes the list. */
  address(text: string): string | undefined;
  /** Takes a suggestion that was chosen. */
  choose(suggestion: S): void;
  /** Whether Escape empties the field. */
  clears: boolean;
  /** The status when nothing is found; empty for none. */
  nothing: string;
}

/** Loads the style sheet of the lists, by its name beside this file. */
export function style(name: string | undefined): void {
  if (name) document.head.append(made('link', {rel: 'stylesheet', href: new URL(name, import.meta.url).pathname}));
}

export function complete<S extends Suggestion>(field: HTMLInputElement, status: HTMLElement, source: Source<S>): void {
  const list = made('ul', {id: `suggestions-${field.id}`, role: 'listbox', 'aria-label': 'Suggestions'});
  list.hidden = true;
  source.box.classList.add('suggests');
  source.box.append(list);
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

  const optionOf = (each: S, place: number): HTMLElement => {
    const option = made('li', {id: `${list.id}-${place}`, role: 'option', 'aria-selected': 'false'});
    option.append(made('bdi', {}, each.text));
    for (const note of each.notes) option.append(made('small', {dir: 'auto'}, note));
    option.addEventListener('click', () => {
      close();
      source.choose(each);
    });
    return option;
  };

  const show = (found: S[], more: number): void => {
    choose(-1);
    list.replaceChildren(...found.map(optionOf));
    list.hidden = !found.length;
    field.setAttribute('aria-expanded', String(found.length > 0));
    status.textContent = found.length
      ? `${found.length} suggestion${found.length > 1 ? 's' : ''}${more ? `, and ${more} more` : ''}.`
      : source.nothing;
  };

  const ask = async (): Promise<void> => {
    asked?.abort();
    const address = source.address(field.value.trim());
    if (!address) return close();
    const mine = (asked = new AbortController());
    try {
      const answer = await fetch(address, {signal: mine.signal, credentials: 'same-origin', redirect: 'error'});
      if (!answer.ok) return close();
      const {suggestions, more} = (await answer.json()) as Answer<S>;
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
  if (field.value && document.activeElement === field) void ask(); // what was typed before this script was here
  field.addEventListener('keydown', (event) => {
    const count = list.children.length;
    if (event.isComposing) return;
    if (event.key === 'Escape') {
      if (!list.hidden) event.preventDefault(); // the text stays
      else if (source.clears) field.value = '';
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
