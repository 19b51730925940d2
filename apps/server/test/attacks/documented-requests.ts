import { describeReference } from '../../src/compose/document.ts';
import type { Request } from '../walk/fixture.ts';

// Requests for every operation, from the API's document alone: a new operation is attacked without being listed.

export type Documented = {
  id: string;
  method: string;
  path: string;
  auth: string;
  isRaw: boolean; // takes bytes of any kind
  parameters: readonly { name: string; in: string; example?: unknown }[];
  example?: unknown; // of a JSON body
};

type Operation = {
  operationId: string;
  'x-auth': string;
  parameters?: Documented['parameters'];
  requestBody?: { content: Record<string, { example?: unknown }> };
};

export function readDocument(): Documented[] {
  const { paths = {} } = describeReference() as unknown as {
    paths: Record<string, Record<string, Operation>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId }]) => operationId !== undefined)
      .map(([method, { operationId, parameters = [], requestBody, ...operation }]) => ({
        id: operationId,
        method: method.toUpperCase(),
        path,
        auth: operation['x-auth'],
        isRaw: requestBody !== undefined && !('application/json' in requestBody.content),
        parameters,
        example: requestBody?.content['application/json']?.example,
      })),
  );
}

/** Values by the name of what they identify: `tenant_id`, `sourceId`. */
export type Known = ReadonlyMap<string, string>;

const isParameter = /\{(\w+)\}/g;

export const namesIn = ({ path }: Documented): string[] =>
  [...path.matchAll(isParameter)].map(([, name]) => name!);

/** The request of the document's example, with these values wherever it names one of them. */
export function requestFor(operation: Documented, { path, body }: { path: Known; body: Known }): Request {
  const exampleOf = (name: string) =>
    String(operation.parameters.find(one => one.name === name)?.example ?? 'x');
  const query = new URLSearchParams();
  for (const { name, in: location } of operation.parameters)
    if (location === 'query' && body.has(name)) query.set(name, body.get(name)!);
  const filled = operation.path.replaceAll(isParameter, (_, name: string) =>
    encodeURIComponent(path.get(name) ?? exampleOf(name)),
  );
  const needsVersion = operation.parameters.some(
    ({ name, in: location }) => location === 'header' && /^if-match$/i.test(name),
  );
  return {
    method: operation.method,
    path: query.size > 0 ? `${filled}?${query}` : filled,
    headers: needsVersion ? { 'if-match': '*' } : {},
    ...(operation.example !== undefined && { body: withIds(operation.example, body) }),
  };
}

function withIds(value: unknown, known: Known, name = ''): unknown {
  if (Array.isArray(value)) return value.map(one => withIds(one, known, name.replace(/s$/, '')));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withIds(inner, known, key)]));
  return typeof value === 'string' ? (known.get(name) ?? value) : value;
}

/** Collects the ids in an answer, by name. The first of a name is kept. */
export function collectIds(value: unknown, names: ReadonlySet<string>, found: Map<string, string>): void {
  if (Array.isArray(value)) for (const one of value) collectIds(one, names, found);
  else if (typeof value === 'object' && value !== null)
    for (const [name, inner] of Object.entries(value)) {
      if (typeof inner === 'string' && names.has(name) && !found.has(name)) found.set(name, inner);
      collectIds(inner, names, found);
    }
}
