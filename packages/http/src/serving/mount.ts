import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Handler } from 'hono';
import type { ApiEnv } from '../context.ts';
import { type RouteSpec, routeId } from '../routes/route.ts';

/** What is served beside the routes, such as pages: it declares nothing, so no guard of a route stands before it. */
export type Mounted = {
  method: 'get' | 'post' | 'all';
  path: `/${string}`; // in Hono's form: `/console/*`
  unguarded: string; // why none of the guards has to stand before it
};

export type Mount = (mounted: Mounted, answer: Handler<ApiEnv>) => void;

// Operations of the API are routes: under its prefix nothing else is served.
const apiPath = /^\/v\d+(\/|$)/;

/** Serves what is no operation. It cannot answer in the place of a route, and says why it needs no guard. */
export function createMount(app: OpenAPIHono<ApiEnv>, routes: readonly RouteSpec[]) {
  const mounted: Mounted[] = [];
  const mount: Mount = (what, answer) => {
    const { method, path, unguarded } = what;
    const complain = (why: string): never => {
      throw new TypeError(`${method.toUpperCase()} ${path}: ${why}`);
    };
    if (unguarded.trim() === '') complain('does not say why no guard stands before it');
    const [segment] = path.slice(1).split('/');
    const route = routes.find(one => one.path.slice(1).split('/')[0] === segment);
    if (route) complain(`is where the route ${routeId(route)} is`);
    if (apiPath.test(path) || !/^[\w-]*$/.test(segment!)) complain('is for operations, which are routes');
    mounted.push(what);
    app.on(method === 'all' ? 'ALL' : method.toUpperCase(), [path], answer);
  };
  return { mount, mounted };
}
