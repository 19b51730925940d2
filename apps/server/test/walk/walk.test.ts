import { endUserScopes } from '@stak/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { traffic } from '../../src/trail.ts';
import { requestOf, type Step, tokenOf } from './step.ts';
import { steps } from './steps.ts';
import { openWorld, send, type World } from './world.ts';

// Two customers, and every operation of the document. Before the owner does something that works, the stranger
// tries the same with credentials of their own, and gets nothing.

const systemPaths = new Set(['/healthz', '/readyz', '/openapi.json', '/docs', '/metrics']);
const refusals = [401, 403, 404];

describe('a walk through every operation', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
    await giveStrangerATenant(world);
  }, 60_000);
  afterAll(() => world?.server.stop());

  it('visits all of them', () => {
    const walked = new Set(steps.map(step => step.operation));
    const missed = world.operations.filter(({ id, path }) => !walked.has(id) && !systemPaths.has(path));
    expect(missed.map(({ id }) => id)).toEqual([]);
  });

  // The steps build on each other, as a customer's do: one test, in order.
  it('gives the owner what is theirs, and the stranger nothing', async () => {
    for (const step of steps) {
      const request = requestOf(world, step);
      const place = `${step.operation} ${request.method} ${request.path}`;
      const isJudged = typeof step.stranger !== 'object';
      if (isJudged) {
        const answer = await send(world.server.url, { ...request, token: tokenOf(world, step, 'stranger') });
        if (step.stranger === undefined)
          expect(refusals, `${place} by a stranger: ${answer.status} ${answer.text}`).toContain(
            answer.status,
          );
        for (const trace of tracesOf(world))
          expect(answer.text, `${place} by a stranger`).not.toContain(trace);
      }
      const answer = await send(world.server.url, { ...request, token: tokenOf(world, step, 'owner') });
      const isExpected = step.status === undefined ? answer.status < 300 : answer.status === step.status;
      expect(isExpected, `${place} by the owner: ${answer.status} ${answer.text}`).toBe(true);
      if (isManagement(world, step))
        expect(await readTrail(world), place).toContainEqual(
          expect.objectContaining({
            action: step.operation,
            via: 'api_key',
            credentialId: expect.stringMatching(/^key_/),
            address: '127.0.0.1',
            target: expect.stringMatching(/^\/v1\//),
          }),
        );
      step.keep?.(world, answer);
    }
  }, 120_000);
});

// Whatever an account changes by its key. What it does to itself, accounts record under names of their own.
function isManagement(world: World, { operation, status = 200 }: Step): boolean {
  const { auth, method } = world.operations.find(one => one.id === operation)!;
  const isOurs = !traffic.has(operation) && !operation.startsWith('accounts.');
  return auth === 'account' && method !== 'GET' && status < 300 && isOurs;
}

async function readTrail({ server, owner }: World): Promise<unknown[]> {
  const answer = await send(server.url, {
    method: 'GET',
    path: '/v1/audit?limit=5',
    token: owner.keys.admin,
  });
  return (answer.json as { data: unknown[] }).data;
}

// A user of another tenant, with the same name: whoever forgets the tenant finds the wrong one.
async function giveStrangerATenant({ server, stranger, known }: World): Promise<void> {
  const token = stranger.keys.admin;
  const post = (path: string, body: unknown) => send(server.url, { method: 'POST', path, token, body });
  await post('/v1/tenants', { tenant_id: 'strange', name: 'Strange', status: 'active' });
  await post('/v1/tenants/strange/users', { user_id: 'ann', display_name: 'Another Ann' });
  const minted = await post('/v1/tenants/strange/tokens', { sub: 'ann', scope: endUserScopes.join(' ') });
  known.set('stranger_user_token', (minted.json as { token: string }).token);
}

// What only the owner's answers may hold. All that the steps make has a name that begins with `Walked`.
const tracesOf = ({ owner }: World): string[] => [
  owner.email,
  owner.keys.admin,
  'Walked',
  'ann@example.com',
  'Between us alone',
  'Everyone of ours',
];
