import { type Answer, type Fixture, isForPeople, type Request } from './fixture.ts';

// One call of the owner that works. Every operation of the API has at least one, so that the walk knows an
// input which is refused for one reason only: who sends it.
export type Step = {
  operation: string;
  path?: Record<string, string>; // `{name}` stands for what an earlier step has kept under that name
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: unknown;
  // Whose credentials: by default an API key with the scope that the route asks for.
  as?: 'session' | 'endUser' | 'nobody';
  keep?(fixture: Fixture, answer: Answer): void;
  // What the same call of a stranger gives: by default nothing (403 or 404). `own` is theirs alone and must not
  // hold a trace of the owner; `anything` says why it needs no look.
  stranger?: 'own' | { anything: string };
  status?: number;
};

const placeholder = /\{(\w+)\}/g;

export function requestOf(fixture: Fixture, step: Step): Omit<Request, 'token'> {
  const operation = fixture.operations.find(one => one.id === step.operation);
  if (!operation) throw new Error(`There is no operation ${step.operation}`);
  const fill = (text: string): string =>
    text.replaceAll(placeholder, (_, name: string) => {
      const value = fixture.known.get(name);
      if (value === undefined) throw new Error(`${step.operation}: no step has kept "${name}"`);
      return value;
    });
  const path = operation.path.replaceAll(placeholder, (_, name: string) => {
    const given = step.path?.[name] ?? fixture.known.get(name);
    if (given === undefined) throw new Error(`${step.operation}: nothing is known for {${name}}`);
    return encodeURIComponent(fill(given));
  });
  const query = new URLSearchParams(
    Object.entries(step.query ?? {}).map(([name, value]): [string, string] => [name, fill(value)]),
  ).toString();
  const headers = Object.fromEntries(
    Object.entries(step.headers ?? {}).map(([name, value]) => [name, fill(value)]),
  );
  return {
    method: operation.method === 'ANY' ? 'POST' : operation.method,
    path: query ? `${path}?${query}` : path,
    headers,
    ...(step.body !== undefined && { body: fillBody(step.body, fill) }),
  };
}

function fillBody(body: unknown, fill: (text: string) => string): unknown {
  if (typeof body === 'string') return fill(body);
  if (Array.isArray(body)) return body.map(part => fillBody(part, fill));
  if (body === null || typeof body !== 'object' || body instanceof Uint8Array) return body;
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, fillBody(value, fill)]));
}

export function tokenOf(fixture: Fixture, step: Step, who: 'owner' | 'stranger'): string | undefined {
  const operation = fixture.operations.find(one => one.id === step.operation)!;
  if (step.as === 'nobody') return undefined;
  if (step.as === 'endUser')
    return fixture.known.get(who === 'owner' ? 'end_user_token' : 'stranger_user_token');
  if (step.as === 'session' || isForPeople(operation)) return fixture[who].session;
  return fixture[who].keys[(operation.scope ?? 'admin') as 'read' | 'write' | 'admin'];
}
