import { expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { createSourceCache } from '../src/sources/source-cache.ts';
import { openDestination } from './destination.ts';
import { openWebhooks } from './webhooks-fixture.ts';

it.each([1, -1])(
  'an event is not stored on an old view of its source, whichever way time went: %i',
  async way => {
    const hooks = await openWebhooks();
    await hooks.stop();
    const { store, clock } = hooks;
    const secrets = { seal: () => expect.unreachable() };
    const cache = createSourceCache({ store, clock, secrets, hasLateIndexes: false });
    const sourceId = await hooks.source();
    await hooks.connect(sourceId, (await openDestination()).url);
    const view = (await cache.get(sourceId))!;
    expect(await cache.renew(view)).toBe(view);

    await hooks.connect(sourceId, (await openDestination()).url);
    clock.set(clock.now() + way * (limits.viewMs + 1));
    const renewed = (await cache.renew(view))!;
    expect([view.connections.length, renewed.connections.length]).toEqual([1, 2]);
  },
);
