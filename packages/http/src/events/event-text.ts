import { eventIdChars } from '../limits.ts';

export type ServerEvent = {
  id?: string; // where a client that reconnects continues
  event?: string; // its kind; `message` if absent
  data: unknown; // text as it is, anything else as JSON
};

const lineEnd = /\r\n|\r|\n/;
const unsafe = /[\r\n\0]/;

// Every line of the data gets its own field; an id or a name has no lines to begin with.
export function formatEvent({ id, event, data }: ServerEvent): string {
  let text = '';
  if (id !== undefined) text += `id: ${checked(id)}\n`;
  if (event !== undefined) text += `event: ${checked(event)}\n`;
  const content = typeof data === 'string' ? data : JSON.stringify(data);
  for (const line of content.split(lineEnd)) text += `data: ${line}\n`;
  return `${text}\n`;
}

function checked(text: string): string {
  if (text.length > eventIdChars || unsafe.test(text))
    throw new TypeError('An event has an id or a name that does not fit on its line');
  return text;
}
