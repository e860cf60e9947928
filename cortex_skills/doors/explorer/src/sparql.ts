// The SPARQL editor: CodeMirror in place of the text area of the form.
//
// Rules kept here:
// - the editor is in a shadow root, where its style sheets are constructed ones: the policy of the page blocks others;
// - the text area holds the text and is sent; without this file it is the editor;
// - the server's parser judges a query, at most once in `CHECK_MS`; nothing is run while somebody types;
// - saved queries, open tabs, and the queries that were run here stay in this browser;
// - a query that came with a link is run at once if it was run in this browser before: it is a bookmark of the reader.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { linter, lintKeymap } from '@codemirror/lint';
import type { Diagnostic } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import type { Text } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { sparql } from 'codemirror-lang-sparql';

/** What `format=names` of the page answers. */
interface Names {
  names: { label: string; kind: string; count?: number; declare?: string }[];
}
/** What `format=check` of the page answers. */
interface Check {
  problems: { line: number; column: number; message: string; hint: string }[];
}
type Saved = Record<string, string>;

const CHECK_MS = 400;
const MOST_CHECKED = 8000; // characters: the query is in the address
const MOST_SAVED = 100;
const MOST_RUN = 50; // queries that are known to have been run here
const MOST_TABS = 12;
const KEYWORDS = (
  'SELECT CONSTRUCT ASK DESCRIBE WHERE FILTER OPTIONAL UNION MINUS GRAPH BIND VALUES DISTINCT REDUCED LIMIT OFFSET ' +
  'COUNT SUM AVG MIN MAX SAMPLE GROUP_CONCAT EXISTS PREFIX BASE HAVING REGEX CONTAINS STRSTARTS STRENDS LCASE UCASE ' +
  'LANG DATATYPE BOUND COALESCE STRLEN isIRI isLiteral'
).split(' ').concat('GROUP BY', 'ORDER BY', 'NOT EXISTS');

function start(form: HTMLFormElement, area: HTMLTextAreaElement): void {
  const page = new URL(form.action);
  const host = document.createElement('div');
  host.className = 'editor';
  area.before(host);
  const isUsed = document.activeElement === area; // before this script was here
  area.hidden = true;
  const root = host.attachShadow({ mode: 'open' });
  const run = (): boolean => {
    form.requestSubmit(form.querySelector<HTMLButtonElement>('button[data-run]'));
    return true;
  };
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: area.value,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        sparql(),
        autocompletion({ override: [completions(page)] }),
        linter((view) => check(page, view.state.doc), { delay: CHECK_MS }),
        keymap.of([
          { key: 'Mod-Enter', run },
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...lintKeymap,
          ...defaultKeymap,
          ...historyKeymap,
        ]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) area.value = update.state.doc.toString();
        }),
        EditorView.contentAttributes.of({
          'aria-label': area.getAttribute('aria-label') ?? 'SPARQL query',
          'aria-describedby': area.getAttribute('aria-describedby') ?? '',
        }),
        EditorView.lineWrapping,
        EditorView.theme(THEME),
        syntaxHighlighting(HighlightStyle.define(COLOURS)),
      ],
    }),
  });
  if (isUsed) view.focus();
  const put = (text: string): void => {
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    view.focus();
  };
  for (const hint of document.querySelectorAll<HTMLElement>('[data-with-editor]')) hint.hidden = false;
  saving(form, () => view.state.doc.toString(), put);
  tabs(form, () => view.state.doc.toString(), put);
  running(form, () => view.state.doc.toString());
}

/** Remembers the queries that are run here, and runs one that came with a link if it is among them. */
function running(form: HTMLFormElement, text: () => string): void {
  const key = `cortex.ran.${form.dataset.sparql}`;
  const ran = kept<string[]>(localStorage, key, []);
  form.addEventListener('submit', () => {
    const others = ran.filter((each) => each !== text());
    localStorage.setItem(key, JSON.stringify([text(), ...others].slice(0, MOST_RUN)));
  });
  const followed = document.querySelector('[data-followed]') !== null;
  if (followed && ran.includes(text())) form.requestSubmit(form.querySelector<HTMLButtonElement>('button[data-run]'));
}

/** Tabs of this window, each with a query. */
function tabs(form: HTMLFormElement, text: () => string, put: (text: string) => void): void {
  const strip = form.querySelector<HTMLElement>('[data-tabs]');
  if (!strip) return;
  const key = `cortex.tabs.${form.dataset.sparql}`;
  const state = kept<{ texts: string[]; open: number }>(sessionStorage, key, { texts: [text()], open: 0 });
  const keep = (): void => {
    state.texts[state.open] = text();
    sessionStorage.setItem(key, JSON.stringify(state));
  };
  const open = (place: number): void => {
    keep();
    state.open = place;
    put(state.texts[place] ?? '');
    keep();
    show();
  };
  const button = (label: string, spoken: string, run: () => void): HTMLButtonElement => {
    const made = document.createElement('button');
    made.type = 'button';
    made.textContent = label;
    made.setAttribute('aria-label', spoken);
    made.addEventListener('click', run);
    return made;
  };
  const show = (): void => {
    const names = state.texts.map((each, place) => `${place + 1} ${/\?\w+|\w+:\w+/.exec(each)?.[0] ?? ''}`.trim());
    const shown = names.map((name, place) => button(name, `Query ${name}`, () => open(place)));
    shown[state.open]?.setAttribute('aria-current', 'true');
    const add = button('+', 'Another query', () => {
      if (state.texts.length < MOST_TABS) open(state.texts.push('') - 1);
    });
    const close = button('×', 'Close this query', () => {
      if (state.texts.length < 2) return;
      state.texts.splice(state.open, 1);
      state.open = Math.min(state.open, state.texts.length - 1);
      put(state.texts[state.open] ?? '');
      keep();
      show();
    });
    strip.replaceChildren(...shown, add, close);
  };
  keep();
  addEventListener('pagehide', keep);
  strip.hidden = false;
  show();
}

/** What a storage has as JSON, or another value. */
function kept<T>(storage: Storage, key: string, other: T): T {
  try {
    return (JSON.parse(storage.getItem(key) ?? 'null') as T | null) ?? other;
  } catch {
    return other;
  }
}

/** The server's answer about a text: the problem that it would refuse it for. */
async function check(page: URL, doc: Text): Promise<Diagnostic[]> {
  const text = doc.toString();
  if (!text.trim() || text.length > MOST_CHECKED) return [];
  const found = await asked<Check>(page, { format: 'check', query: text });
  return (found?.problems ?? []).map(({ line, column, message, hint }) => {
    const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
    const from = Math.min(at.from + Math.max(column - 1, 0), at.to);
    const word = /^[\w:?$.-]+/.exec(doc.sliceString(from, at.to))?.[0].length ?? 1;
    return { from, to: Math.min(from + word, doc.length), severity: 'error', message: hint ? `${message}. ${hint}` : message };
  });
}

/** Completes the names of the namespace, the variables of the text, and keywords. */
function completions(page: URL): (context: CompletionContext) => Promise<CompletionResult | null> {
  let names: Promise<Completion[]> | undefined;
  const load = async (): Promise<Completion[]> =>
    ((await asked<Names>(page, { format: 'names' }))?.names ?? []).map(({ label, kind, count, declare }) => ({
      label,
      type: kind === 'predicate' ? 'property' : kind,
      detail: count === undefined ? kind : `${kind}, ${count.toLocaleString('en')}`,
      boost: count === undefined ? -10 : kind === 'predicate' ? 2 : 1,
      apply: declare ? declaring(label, declare) : label,
    }));
  return async (context) => {
    const word = context.matchBefore(/[?$]?[\w-]*:?[\w.:/-]*/);
    if (!word || (word.from === word.to && !context.explicit)) return null;
    if (/^[?$]/.test(word.text)) {
      const used = new Set(context.state.doc.toString().match(/[?$]\w+/g));
      used.delete(word.text);
      return { from: word.from, options: [...used].map((label) => ({ label, type: 'variable' })) };
    }
    names ??= load();
    const options = [...(await names), ...KEYWORDS.map((label) => ({ label, type: 'keyword' }))];
    return { from: word.from, options, validFor: /^[\w:./-]*$/ };
  };
}

/** Puts a name into the query, and the line of its prefix before it, unless the query has that. */
function declaring(label: string, declare: string): (view: EditorView, _: Completion, from: number, to: number) => void {
  return (view, _, from, to) => {
    const changes = [{ from, to, insert: label }];
    if (!view.state.doc.toString().includes(declare)) changes.unshift({ from: 0, to: 0, insert: `${declare}\n` });
    const anchor = from + label.length + (changes.length > 1 ? declare.length + 1 : 0);
    view.dispatch({ changes, selection: { anchor } });
  };
}

/** Asks the page for one of its other forms; nothing if there is no answer. */
async function asked<T>(page: URL, parameters: Record<string, string>): Promise<T | undefined> {
  const url = new URL(page);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  try {
    const answer = await fetch(url, { headers: { accept: 'application/json' } });
    return answer.ok ? ((await answer.json()) as T) : undefined;
  } catch {
    return undefined;
  }
}

/** The field and the list of saved queries. */
function saving(form: HTMLFormElement, text: () => string, put: (text: string) => void): void {
  const list = form.querySelector<HTMLSelectElement>('select[data-saved]');
  const save = form.querySelector<HTMLButtonElement>('button[data-save]');
  const name = form.querySelector<HTMLInputElement>('input[data-save-name]');
  const forget = form.querySelector<HTMLButtonElement>('button[data-forget]');
  const box = form.querySelector<HTMLElement>('[data-saving]');
  if (!list || !save || !name || !forget || !box) return;
  const key = `cortex.queries.${form.dataset.sparql}`;
  const kept = (): Saved => {
    try {
      return JSON.parse(localStorage.getItem(key) ?? '{}') as Saved;
    } catch {
      return {};
    }
  };
  const show = (chosen = ''): void => {
    list.replaceChildren(new Option('Saved queries', ''), ...Object.keys(kept()).sort().map((title) => new Option(title)));
    list.value = chosen;
    forget.disabled = !list.value;
  };
  const keep = (saved: Saved): void => localStorage.setItem(key, JSON.stringify(saved));
  list.addEventListener('change', () => {
    name.value = list.value;
    forget.disabled = !list.value;
    const found = kept()[list.value];
    if (found !== undefined) put(found);
  });
  const add = (): void => {
    const title = name.value.trim();
    const saved = kept();
    if (!title || (!(title in saved) && Object.keys(saved).length >= MOST_SAVED)) return name.focus();
    keep({ ...saved, [title]: text() });
    show(title);
  };
  save.addEventListener('click', add);
  name.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    add();
  });
  forget.addEventListener('click', () => {
    const { [list.value]: _, ...others } = kept();
    keep(others);
    show();
  });
  box.hidden = false;
  show();
}

const THEME = {
  '&': { color: 'var(--ink)', backgroundColor: 'var(--surface)', fontSize: '13.5px' },
  '.cm-content': { fontFamily: 'var(--mono)', caretColor: 'var(--accent)', padding: '12px 0', minHeight: '150px' },
  '.cm-gutters': { backgroundColor: 'var(--sunk)', color: 'var(--faint)', border: 'none' },
  '.cm-line': { padding: '0 14px' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--accent-wash)',
  },
  '.cm-tooltip': { color: 'var(--ink)', backgroundColor: 'var(--surface)', border: '1px solid var(--strong)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { color: 'var(--ink)', background: 'var(--accent-wash)' },
  '.cm-completionDetail': { color: 'var(--faint)', fontStyle: 'normal' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-wash)' },
};
const COLOURS = [
  { tag: tags.keyword, color: 'var(--plum)', fontWeight: '600' },
  { tag: [tags.string, tags.literal], color: 'var(--ok)' },
  { tag: tags.variableName, color: 'var(--accent)' },
  { tag: tags.comment, color: 'var(--faint)' },
  { tag: [tags.namespace, tags.url], color: 'var(--blue)' },
];

const form = document.querySelector<HTMLFormElement>('form[data-sparql]');
const area = form?.querySelector<HTMLTextAreaElement>('textarea[name=query]');
if (form && area) start(form, area);
