import { type HookRequest, viewRequest } from './request-view.ts';

/** A value of a request that is searched for: `body.customer.id = cus_1`, `headers.x-shop = 7`. */
export type Where = { part: 'body' | 'headers'; path: readonly string[]; value: string };

const shape = /^\s*(body|headers)\.([^=\s][^=]*?)\s*=\s*(.*?)\s*$/s;

/** Undefined if the text is not of this form. */
export function readWhere(text: string): Where | undefined {
  const [, part, path, value] = shape.exec(text) ?? [];
  if (part === undefined || path === undefined || value === undefined) return undefined;
  const steps = path.split('.');
  if (steps.some(step => step === '')) return undefined;
  return { part: part as Where['part'], path: steps, value: unquote(value) };
}

const unquote = (text: string): string => (/^".*"$/s.test(text) ? text.slice(1, -1) : text);

/** Whether the request has the value there. A step into a list is a number, or goes into each of its elements. */
export function holdsValue(request: HookRequest, { part, path, value }: Where): boolean {
  const view = viewRequest(request);
  if (part === 'headers') return view.header(path.join('.')).includes(value);
  const json = view.json();
  return json.ok && holds(json.value, path, value);
}

function holds(data: unknown, path: readonly string[], value: string): boolean {
  const [step, ...rest] = path;
  if (step === undefined) return typeof data === 'object' && data !== null ? false : String(data) === value;
  if (Array.isArray(data)) {
    if (/^\d{1,6}$/.test(step)) return holds(data[Number(step)], rest, value);
    return data.some(one => !Array.isArray(one) && holds(one, path, value));
  }
  if (typeof data !== 'object' || data === null || !Object.hasOwn(data, step)) return false;
  return holds((data as Record<string, unknown>)[step], rest, value);
}
