import type { RouteSpec } from '@stak/http';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { readTools } from './mcp-tools.ts';

const listTasks = {
  method: 'get',
  path: '/v1/tasks',
  operationId: 'tasks.list',
  reaches: 'nothing',
  audit: false,
  mcp: 'reads',
  stores: 'nothing',
  tenant: 'none',
  auth: 'account',
  scope: 'read',
  summary: 'List tasks',
  request: { query: z.object({ limit: z.string().optional() }) },
  responses: {},
} as unknown as RouteSpec;

it('describes the operations that are tools, and no others', async () => {
  const other = new Proxy(listTasks, {
    get(_, name) {
      if (name === 'mcp') return false;
      throw new Error(`${String(name)} is read of an operation that is no tool`);
    },
  });
  const [tool, ...others] = await readTools([other, listTasks]);
  expect(others).toEqual([]);
  expect(tool).toMatchObject({ name: 'tasks_list', title: 'List tasks' });
  expect(Object.keys(tool!.inputSchema.properties as object)).toEqual(['limit']);
});
