import { clientError } from './errors.ts';
import type { Operation } from './operation.ts';

type Body = string | Uint8Array<ArrayBuffer> | Blob;
type Args = Readonly<Record<string, unknown>>;
export type Request = {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: Body | undefined;
  isPublic: boolean;
};

// Builds the request of a call, without sending it.
export function buildRequest(operation: Operation, args: Args, baseUrl: string): Request {
  const { body, ...rest } = args;
  const headers: Record<string, string> = {};
  const inPath = new Set<string>();
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    inPath.add(name);
    return pathPart(name, rest[name]);
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(rest)) {
    if (value === undefined || inPath.has(name)) continue;
    if (operation.headers?.includes(name)) headers[name] = String(value);
    else for (const item of Array.isArray(value) ? value : [value]) query.append(name, String(item));
  }
  const search = query.size === 0 ? '' : `?${query}`;
  const base = baseUrl.replace(/\/+$/, '');
  const { method, isPublic = false } = operation;
  const request = { url: `${base}${path}${search}`, method, headers, body: undefined, isPublic };
  if (body === undefined) return request;
  if (operation.body === 'raw') return { ...request, body: body as Body };
  headers['Content-Type'] = 'application/json';
  return { ...request, body: JSON.stringify(body) };
}

// An empty part, or one of dots, would turn the path into that of another route.
function pathPart(name: string, value: unknown): string {
  const text = value === undefined || value === null ? '' : String(value);
  if (text === '' || text === '.' || text === '..')
    throw clientError('client.argument_refused', `"${text}" cannot be ${name} in a path.`);
  return encodeURIComponent(text);
}
