import { accountsErrors, type createAccounts } from '@stak/accounts';
import { endpoint, json, route } from '@stak/http';
import type { Clock, Sealer } from '@stak/kit';
import type { DynamoClient, Store } from '@stak/table';
import { z } from 'zod';
import { accountTables, openAccounts } from './account.ts';
import { streamArchive } from './export.ts';

// All data of an account as one file, generated while it is read: no copy is stored.

export const leastPassphrase = 12;
const partBytes = 4 * 1024 * 1024; // in memory for each download
const pageItems = 500; // a few milliseconds in a process that serves others
const atOnce = 2; // downloads per process: each scans all tables
const pieceBytes = 256 * 1024; // that a reader takes at a time: a few seconds over a slow line
const stalledMs = 60_000; // until a reader takes the next piece; @stak/http disconnects one that is slower
const perHour = 60; // of one person, including refused ones
const retryAfterS = 60;

const downloadRoute = route({
  method: 'post',
  path: '/v1/me/download',
  operationId: 'accounts.download',
  reaches: 'nothing',
  audit: 'own',
  stores: 'nothing',
  tenant: 'none',
  mcp: false,
  tags: ['accounts'],
  auth: 'session',
  scope: 'admin',
  role: 'owner',
  summary: 'Download all data of your account',
  description:
    'Returns a tar file with every item of the account and its tenants as JSON, with checksums. Unpack it to read it with other programs, or import it with `stak import`. The last file is `archive.json`. Without it, the download is incomplete.',
  request: {
    body: json(
      z.strictObject({
        passphrase: z
          .string()
          .min(leastPassphrase)
          .max(200)
          .describe('Encrypts the secrets in the archive. It is not stored.'),
      }),
    ),
  },
  responses: {
    200: {
      description: 'A tar file',
      content: { 'application/x-tar': { schema: z.string().meta({ format: 'binary' }) } },
    },
  },
  problems: ['accounts.step_up_needed', 'accounts.busy'],
  limits: { rate: { name: 'download', limit: perHour, windowMs: 60 * 60_000 } },
});

type DownloadDeps = {
  store: Store;
  client: DynamoClient;
  sealer: Sealer;
  clock: Clock;
  accounts: Pick<ReturnType<typeof createAccounts>, 'audit' | 'requireFresh'>;
};

export function downloadEndpoint(deps: DownloadDeps) {
  const { store, client, sealer, clock, accounts } = deps;
  const running = new Set<string>();

  async function* read(accountId: string, passphrase: string) {
    const items = await openAccounts(store, [accountId]);
    const parts = streamArchive({
      client,
      tables: accountTables,
      accounts: items,
      sealer,
      passphrase,
      now: clock.now,
      partBytes,
      pageItems,
    });
    for await (const part of parts)
      for (let at = 0; at < part.length; at += pieceBytes) yield part.subarray(at, at + pieceBytes);
  }

  return endpoint(downloadRoute, async c => {
    const { accountId, userId, credentialId } = c.get('principal');
    await accounts.requireFresh({ userId, sessionId: credentialId });
    if (running.has(accountId) || running.size >= atOnce)
      throw accountsErrors.create('accounts.busy', 'Another download is in progress.', { retryAfterS });
    running.add(accountId);
    try {
      await accounts.audit.record(accountId, {
        action: 'account.downloaded',
        by: userId,
        via: 'session',
        credentialId,
        address: c.get('address'),
        requestId: c.get('requestId'),
      });
    } catch (error) {
      running.delete(accountId);
      throw error;
    }
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    const parts = read(accountId, c.req.valid('json').passphrase);
    return c.body(
      toStream(parts, clock, () => running.delete(accountId)),
      200,
      {
        'Content-Type': 'application/x-tar',
        'Content-Disposition': `attachment; filename="stak-${accountId}-${day}.tar"`,
      },
    ) as never;
  });
}

// The next piece is read when the last one was taken, so a slow reader costs no memory. A reader that takes nothing for
// long is disconnected. `onEnd` is called in every case, also if the reader disconnects before the first piece.
export function toStream(
  pieces: AsyncGenerator<Uint8Array>,
  clock: Pick<Clock, 'after'>,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  let stopWaiting = () => {};
  let isOver = false;
  const end = () => {
    stopWaiting();
    if (isOver) return;
    isOver = true;
    onEnd();
    pieces.return(undefined).catch(() => {});
  };
  const wait = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    stopWaiting = clock.after(stalledMs, () => {
      end();
      controller.error(new Error('the download was not read'));
    });
  };
  return new ReadableStream(
    {
      start: wait,
      async pull(controller) {
        stopWaiting();
        try {
          const { done, value } = await pieces.next();
          if (isOver) return;
          if (done) {
            end();
            controller.close();
          } else {
            controller.enqueue(value);
            wait(controller);
          }
        } catch (error) {
          end();
          throw error;
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}
