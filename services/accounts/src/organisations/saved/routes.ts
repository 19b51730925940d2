import { empty, endpoint, json, nameSchemas, readsOnly, route } from '@stak/http';
import { isOneLine } from '@stak/kit';
import { failedStep, is, type Store, type WriteStep, write } from '@stak/table';
import { z } from 'zod';
import { type AccountEraser, type Base, isoTime } from '../../deps.ts';
import { accountsErrors } from '../../errors.ts';
import * as limits from '../../limits.ts';
import { type Saved, type SavedKind, saved, savedChange, savedKinds, savedOf } from './tables.ts';

const tags = ['accounts'];
const common = { tenant: 'none', mcp: false, tags } as const;

const savedKindSchema = z
  .enum(savedKinds)
  .describe(
    '`events` for filters of the list of events, `sql` for queries, `messages` for templates of inbox messages',
  );

// Part of a URL's path, where `.` and `..` have a meaning.
const savedNameSchema = z
  .string()
  .trim()
  .min(1)
  .max(limits.savedNameChars)
  .refine(isOneLine, 'Not printable')
  .refine(name => name !== '.' && name !== '..', 'Not a name')
  .describe('Under which it is listed; unique among those of its kind');

const savedTextSchema = z
  .string()
  .min(1)
  .max(limits.savedTextChars)
  .describe(
    'The SQL; of `events`, the filters as a query string such as `status=failed&last=24h`; of `messages`, the message as JSON',
  );

const savedSchema = z.strictObject({
  kind: savedKindSchema,
  name: z.string(),
  text: savedTextSchema,
  saved_by: z.string().describe('The person who saved it last'),
  saved_at: z.string().describe('When, as an ISO 8601 timestamp'),
});

const ofKind = z.strictObject({ kind: savedKindSchema });
const named = z.strictObject({ kind: savedKindSchema, name: savedNameSchema });

nameSchemas({ SavedItem: savedSchema });

const routes = {
  listSaved: route({
    ...common,
    ...readsOnly,
    path: '/v1/saved/{kind}',
    operationId: 'accounts.listSaved',
    auth: 'account',
    scope: 'read',
    summary: 'List saved views, queries or templates',
    description: 'Returns what the members of the organisation saved, by name. All of them see the same.',
    request: { params: ofKind },
    responses: { 200: json(z.strictObject({ data: z.array(savedSchema), next_cursor: z.null() })) },
  }),
  save: route({
    ...common,
    method: 'put',
    path: '/v1/saved/{kind}/{name}',
    operationId: 'accounts.save',
    reaches: 'nothing',
    audit: true,
    stores: 'body',
    auth: 'account',
    scope: 'write',
    summary: 'Save a view, a query or a template under a name',
    description: 'Saves the text for all members of the organisation. One with the same name is replaced.',
    request: { params: named, body: json(z.strictObject({ text: savedTextSchema })) },
    responses: { 200: json(savedSchema) },
    problems: ['accounts.too_many_saved', 'accounts.changed'],
  }),
  removeSaved: route({
    ...common,
    method: 'delete',
    path: '/v1/saved/{kind}/{name}',
    operationId: 'accounts.removeSaved',
    reaches: 'nothing',
    audit: true,
    stores: 'deletes',
    auth: 'account',
    scope: 'write',
    summary: 'Remove a saved view, query or template',
    description: 'Removes it for all members of the organisation. It succeeds if there is none.',
    request: { params: named },
    responses: { 204: empty() },
  }),
};

export function createSaved({ store, clock }: Pick<Base, 'store' | 'clock'>) {
  const api = [
    endpoint(routes.listSaved, async c => {
      const { accountId } = c.get('principal');
      const saved = await listSaved(store, accountId, c.req.valid('param').kind);
      return c.json({ data: saved.map(show), next_cursor: null }, 200);
    }),
    endpoint(routes.save, async c => {
      const { accountId, userId: saved_by = accountId } = c.get('principal');
      const { kind, name } = c.req.valid('param');
      const { text } = c.req.valid('json');
      const item = { accountId, kind, name, text, saved_by, saved_at: isoTime(clock.now()) };
      await save(store, item);
      return c.json(show(item), 200);
    }),
    endpoint(routes.removeSaved, async c => {
      const { accountId } = c.get('principal');
      await store.delete(saved, { accountId, ...c.req.valid('param') });
      return c.body(null, 204);
    }),
  ] as const;

  const eraser: AccountEraser = {
    name: 'saved views',
    async eraseAccount(accountId) {
      const all = await listSaved(store, accountId);
      const steps = [
        ...all.map(({ kind, name }) => write.delete(saved, { accountId, kind, name })),
        ...savedKinds.map(kind => write.delete(savedChange, { accountId, kind })),
      ];
      await store.batchWrite(steps, { pattern: 'erase saved views' });
      return 'done';
    },
  };

  return { api, eraser };
}

// Replaces an existing one. A new one is written only if no other was saved since they were counted.
async function save(store: Store, item: Saved): Promise<void> {
  const { accountId, kind, name } = item;
  for (let left = limits.saveAttempts; ; left--) {
    const storedChange = await store.get(savedChange, { accountId, kind }, { consistent: true });
    const all = await listSaved(store, accountId, kind);
    const isThere = all.some(entry => entry.name === name);
    if (!isThere && all.length >= limits.savedMost)
      throw accountsErrors.create('accounts.too_many_saved', 'Remove one before you save another.', {
        most: limits.savedMost,
      });
    const changed = { accountId, kind, changes: (storedChange?.changes ?? 0) + 1 };
    const unchanged = { changes: storedChange?.changes ?? is.absent };
    const steps: Record<string, WriteStep> = isThere
      ? { 'the saved': write.put(saved, item, { if: { saved_at: is.present } }) }
      : {
          'the saved': write.put(saved, item),
          'the change': write.put(savedChange, changed, { if: unchanged }),
        };
    try {
      await store.transact(steps, { pattern: 'save a view or query' });
      return;
    } catch (error) {
      if (failedStep(error) === undefined) throw error;
      if (left === 1)
        throw accountsErrors.create('accounts.changed', 'Others are saving at the same time. Try again.');
    }
  }
}

async function listSaved(store: Store, accountId: string, kind?: SavedKind): Promise<Saved[]> {
  const entries: Saved[] = [];
  for await (const entry of store.all(savedOf, { accountId, kind })) entries.push(entry);
  return entries;
}

const show = ({ accountId: _, ...shown }: Saved) => shown;
