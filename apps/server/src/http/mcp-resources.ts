import type { RouteSpec } from '@stak/http';
import { designDoc } from '@stak/table';
import { designs } from '../store/designs.ts';
import { type Needs, segmentOf } from './mcp-tools.ts';

// What assistants read by address: the designs of the tables, and lists that tell when they change. A stream of events
// declares which list it watches.

export type Call = (path: string, init: RequestInit) => Promise<Response>;

export type LiveList = {
  name: string;
  title: string;
  description: string;
  template: string; // `stak://api/v1/sources/{sourceId}/events`
  hasParameters: boolean;
  needs: Needs;
  // The paths of the list and of its events; undefined if the address is that of something else.
  pathsOf(uri: string): { list: string; events: string } | undefined;
};

const root = 'stak://api';
const parameter = /\{([A-Za-z0-9_]+)\}/g;

export function readLiveLists(routes: readonly RouteSpec[]): LiveList[] {
  return routes.flatMap(route => {
    const { mcp, path: events, scope, endUserScope } = route;
    if (typeof mcp !== 'object') return [];
    const list = routes.find(({ method, path }) => method === 'get' && path === mcp.watches);
    if (!list) throw new TypeError(`${events} watches ${mcp.watches}, which is no list`);
    const names = [...mcp.watches.matchAll(parameter)].map(match => match[1]!);
    const template = `${root}${mcp.watches}`;
    const address = new RegExp(`^${template.replace(parameter, '([^/?#]{1,1000})')}$`);
    return {
      name: list.operationId ?? mcp.watches,
      title: list.summary,
      description: list.description ?? list.summary,
      template,
      hasParameters: names.length > 0,
      needs: { scope, endUserScope },
      pathsOf(uri: string) {
        const values = address.exec(uri)?.slice(1).map(decode);
        if (values === undefined || values.includes(undefined)) return undefined;
        const fill = (path: string) =>
          path.replace(parameter, (_, name: string) => segmentOf(name, values[names.indexOf(name)]));
        return { list: fill(mcp.watches), events: fill(events) };
      },
    };
  });
}

function decode(segment: string): string | undefined {
  try {
    const text = decodeURIComponent(segment);
    return /^\.{0,2}$/.test(text) || !text.isWellFormed() ? undefined : text;
  } catch {
    return undefined;
  }
}

const mimeType = 'text/markdown';
export const tables = designs.map(({ name, description }) => ({
  uri: `stak://tables/${name}`,
  name,
  ...(description !== undefined && { description }),
  mimeType,
}));

export function readTable(uri: string): { uri: string; mimeType: string; text: string } | undefined {
  const table = designs.find(({ name }) => uri === `stak://tables/${name}`);
  return table && { uri, mimeType, text: designDoc(table) };
}
