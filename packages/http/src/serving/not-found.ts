import type { Context } from 'hono';
import type { ApiEnv } from '../context.ts';
import { refuse } from '../errors.ts';
import { methodsOf, type RouteSpec } from '../routes/route.ts';
import { answerError, enter, leave, type Serving } from './serving.ts';

// No route for the path is a 404, no route for the method a 405 that names the others.
export function answerMissing(c: Context<ApiEnv>, routes: readonly RouteSpec[], serving: Serving): Response {
  const startedMs = serving.server.clock.now();
  enter(c, serving);
  const methods = allowedAt(c.req.path, routes);
  const error =
    methods.length === 0
      ? refuse('http.not_found', 'There is nothing here.')
      : refuse('http.method_not_allowed', `This takes ${methods.join(', ')}.`, {
          headers: { Allow: methods.join(', ') },
        });
  return leave(c, answerError(c, error, serving), startedMs, serving);
}

function allowedAt(path: string, routes: readonly RouteSpec[]): string[] {
  const parts = path.split('/');
  const methods = new Set<string>();
  for (const route of routes) {
    if (!matches(parts, route.path.split('/'))) continue;
    for (const method of methodsOf(route)) methods.add(method);
    if (methods.has('GET')) methods.add('HEAD');
  }
  return [...methods].sort();
}

const matches = (parts: readonly string[], pattern: readonly string[]): boolean =>
  parts.length === pattern.length &&
  pattern.every((part, i) => part === parts[i] || (part.startsWith('{') && parts[i] !== ''));
