import { createSealer, SealError } from '@stak/kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { type Engine, openEmbedded, serve, type Tokens } from './open-accounts.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await openEmbedded();
});
afterEach(() => engine.close());

// A server that was started with these keys to seal with, the newest first.
const serveWith = (...ids: string[]) =>
  serve(engine, {
    sealer: createSealer({ keys: ids.map(id => ({ id, secret: `a long secret that is named ${id}` })) }),
  });

it('are removed without signing out active users', async () => {
  const before = serveWith('old');
  const away = await before.signUp('away@example.com');
  const here = await before.signUp('here@example.com');

  const between = serveWith('new', 'old');
  await between.prepare();
  const refreshed = (await (await between.refresh(here.refresh_token)).json()) as Tokens;

  const after = serveWith('new');
  await after.prepare();
  for (const { access_token } of [away, here])
    expect((await after.call('GET', '/v1/me', { as: access_token })).status).toBe(200);
  expect((await after.refresh(refreshed.refresh_token)).status).toBe(200);
  expect((await after.logIn('away@example.com')).status).toBe(200);
  // This session was sealed with the old key all the while.
  const refused = await after.refresh(away.refresh_token);
  expect([refused.status, await after.codeOf(refused)]).toEqual([401, 'accounts.refresh_refused']);
  await Promise.all([before, between, after].map(one => one.settle()));
});

it('of another server change nothing', async () => {
  const stored = async () =>
    (await engine.client.scan({ TableName: 'ferryhook-main' })).Items?.filter(({ PK }) => PK === 'SIGNING');
  await serveWith('own').prepare();
  const before = await stored();
  await expect(serveWith('other').rotateSigningKeys()).rejects.toBeInstanceOf(SealError);
  await engine.clock.advance(limits.signingKeyS * 1000);
  await expect(serveWith('other').prepare()).rejects.toBeInstanceOf(SealError); // its successor is due
  expect(before).toHaveLength(2);
  expect(await stored()).toEqual(before);
  await serveWith('own').prepare();
  expect(await stored()).toHaveLength(3);
});

it('are reported missing when the server starts, not at the next sign-in', async () => {
  await serveWith('old').prepare();
  await expect(serveWith('other').prepare()).rejects.toBeInstanceOf(SealError);
});
