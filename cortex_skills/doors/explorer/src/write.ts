// The form that writes: each field suggests as one types, and the kind of the value follows the predicate.
//
// Rules kept here:
// - a kind that a person chose stays; one that was proposed is proposed again for another predicate;
// - what is chosen goes to the fields, which are sent as without scripts.

import {complete, style, type Suggestion} from './completing';

interface Choice extends Suggestion {
  value: string;
  kind: string;
  language: string;
}

interface Proposal {
  kind: string;
  kindWords: string;
  language: string;
  asks: string[];
}

const form = document.querySelector<HTMLFormElement>('form[data-suggests]');
if (form) start(form, form.dataset.suggests ?? '');

function start(form: HTMLFormElement, address: string): void {
  style(form.dataset.css);
  const field = (name: string): HTMLInputElement | null => form.querySelector(`input[name=${name}]`);
  const kind = form.querySelector<HTMLSelectElement>('select[name=kind]');
  const language = field('language');
  const of = field('of');
  const hint = form.querySelector<HTMLElement>('#h-object');
  const status = document.createElement('p');
  status.className = 'spoken';
  status.setAttribute('role', 'status');
  document.body.append(status);
  form.querySelector<HTMLElement>('[data-suggest]')?.setAttribute('hidden', '');
  let asking: AbortController | undefined;

  const asked = (name: string, text: string): string => {
    const about = {subject: field('subject')?.value ?? '', predicate: field('predicate')?.value ?? ''};
    return `${address}&${new URLSearchParams({field: name, q: text, ...about})}`;
  };

  const isProposed = (): boolean => !kind?.value || (of?.value ?? '').startsWith(`${kind.value} `);

  const take = (chosen: string, words: string, tag: string): void => {
    if (!kind) return;
    if (![...kind.options].some((each) => each.value === chosen)) kind.add(new Option(words || chosen, chosen));
    kind.value = chosen;
    if (language && tag) language.value = tag;
  };

  /** Proposes the kind of the value for the predicate that was given. */
  const propose = async (): Promise<void> => {
    const predicate = field('predicate')?.value.trim();
    asking?.abort();
    if (!predicate || !kind) return;
    const mine = (asking = new AbortController());
    try {
      const answer = await fetch(asked('object', ''), {
        signal: mine.signal,
        credentials: 'same-origin',
        redirect: 'error',
      });
      if (!answer.ok || mine.signal.aborted) return;
      const found = (await answer.json()) as Proposal;
      if (hint) hint.replaceChildren(...found.asks.flatMap((each) => [document.createElement('br'), each]).slice(1));
      const proposed = found.kind || 'typed';
      if (isProposed()) {
        take(proposed, found.kindWords, found.language);
        if (of) of.value = `${proposed} ${predicate}`;
      }
      status.textContent = `${kind.selectedOptions[0]?.text ?? ''}. ${found.asks.join('. ')}`;
    } catch {
      // The server proposes it with the preview.
    }
  };

  for (const name of ['subject', 'predicate', 'object', 'merged', 'kept']) {
    const each = field(name);
    if (!each?.parentElement) continue;
    each.removeAttribute('list');
    complete<Choice>(each, status, {
      box: each.parentElement,
      clears: false,
      nothing: '',
      address: (text) => asked(name, text),
      choose: (choice) => {
        each.value = choice.value;
        if (name === 'object' && choice.kind) take(choice.kind, '', choice.language);
        each.dispatchEvent(new Event('change', {bubbles: true}));
      },
    });
  }
  for (const name of ['subject', 'predicate']) field(name)?.addEventListener('change', () => void propose());
}
