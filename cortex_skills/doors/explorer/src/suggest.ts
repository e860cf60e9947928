// Suggestions below the field that finds.
//
// Rules kept here:
// - only addresses of this server are opened.

import {complete, style, type Suggestion} from './completing';

interface Page extends Suggestion {
  href: string;
}

export function suggest(field: HTMLInputElement, status: HTMLElement): void {
  const form = field.form;
  if (!form) return;
  style(field.dataset.css);
  complete<Page>(field, status, {
    box: form,
    clears: true,
    nothing: 'Nothing has these words.',
    address: (text) => (text ? `${form.action}?${new URLSearchParams({q: text, format: 'suggestions'})}` : undefined),
    choose: ({href}) => {
      const address = new URL(href, location.origin);
      if (address.origin === location.origin) location.assign(address);
    },
  });
}
