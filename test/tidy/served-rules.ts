import type { Case } from './examples.ts';
import { findAll, isTest, type Rule, sources } from './repository.ts';

// What listens or routes by itself, each with the reason why no route and no guard stands before it.
const ownServers: ReadonlyMap<string, string> = new Map([
  ['apps/server/src/process/metrics-server.ts', 'serves metrics at an address of their own'],
  ['apps/server/src/cli/server/start.ts', 'listens for a moment, to see whether the port is free'],
  ['apps/server/src/cli/demo/demo-shipping.ts', 'a destination for the demo'],
  ['apps/server/src/cli/simulate/flows.ts', 'a destination for the simulation'],
  ['apps/server/src/cli/simulate/local-model.ts', 'a model for the simulation'],
]);

// A request that reaches a service in another way than by its route would pass none of the guards.
const servedByRoutes: Rule = files =>
  [...sources(files)].flatMap(([path, text]) =>
    isTest(path) || ownServers.has(path) || !/^(services\/[^/]+|apps\/server)\/src\//.test(path)
      ? []
      : findAll(path, text, /\bcreateServer\(|\bnew \w*Hono\b/g, 'serves requests past packages/http'),
  );

export const servedCase: Case = {
  rule: servedByRoutes,
  says: 'serves requests past packages/http',
  bad: [
    { 'services/tasks/src/feed.ts': 'const app = new Hono();' },
    { 'services/tasks/src/feed.ts': 'const app = new OpenAPIHono<Env>();' },
    { 'apps/server/src/http/page.ts': 'http.createServer((request, response) => {});' },
  ],
  good: [
    {
      'apps/server/src/process/metrics-server.ts': 'createServer(() => {});',
      'packages/http/src/serving/api.ts': 'new OpenAPIHono();',
      'services/tasks/test/feed.test.ts': 'createServer(() => {});',
    },
  ],
};
