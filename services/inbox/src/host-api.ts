import {
  bindCursors,
  type CursorCodec,
  endpoint,
  etagOf,
  expectedVersion,
  principalKey,
  textStream,
  toPage,
} from '@stak/http';
import { countByCategory, liveOf, readHead } from './broadcasts.ts';
import { publishBulk } from './bulk.ts';
import { deleteCategory, listCategories } from './categories.ts';
import { readCategoryErasure, showCategoryErasure, startCategoryErasure } from './category-erasure.ts';
import { type Service, secondsNow } from './deps.ts';
import { noSettings } from './errors.ts';
import * as routes from './host-routes.ts';
import { readErasure, showErasure, startErasure } from './inbox-erasure.ts';
import type { Place } from './places.ts';
import { type Published, publish } from './publish.ts';
import { exportReceipts, type Position, readReceipts } from './receipts.ts';
import { redact, redactHostId } from './redaction.ts';
import { cancelScheduled } from './send-worker.ts';
import { countMembers, listSends, readSend, showSend } from './sends.ts';
import * as settings from './settings.ts';

const placeOf = ({ tenant_id, inbox_key }: { tenant_id: string; inbox_key: string }): Place => ({
  tenant_key: tenant_id,
  inbox_key,
});

const versionOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text);

// `kind` is the table's own business.
const show = <T extends { kind: string }>({ kind: _, ...shown }: T) => shown;

// One that was configured before links had schemes allows no more than the usual ones.
const showInbox = ({ erasing: _, ...config }: settings.InboxConfig) => ({ cta_schemes: [], ...show(config) });

const statusOf = ({ isNew, send: { status } }: Published) => (!isNew ? 200 : status === 'sent' ? 201 : 202);

// The host's side: settings, publishing, redacting. The tenant is entered before anything else is looked at.
export function hostApi(service: Service) {
  const { enterTenant } = service;

  const showPublished = async (place: Place, { send }: Published) =>
    showSend(send, send.audiences.kind === 'everyone' ? await countMembers(service, place) : 0);

  return [
    endpoint(routes.readSettings, async c => {
      const { tenant_id } = c.req.valid('param');
      await enterTenant(c.get('principal'), tenant_id);
      const found = await settings.readTenantSettings(service, tenant_id);
      if (!found) throw noSettings();
      c.header('ETag', etagOf(found.version));
      return c.json(show(found), 200);
    }),
    endpoint(routes.writeSettings, async c => {
      const { tenant_id } = c.req.valid('param');
      const principal = c.get('principal');
      await enterTenant(principal, tenant_id);
      const edit = { by: principal.accountId, version: versionOf(expectedVersion(c)) };
      const written = await settings.writeTenantSettings(service, tenant_id, c.req.valid('json'), edit);
      c.header('ETag', etagOf(written.version));
      return c.json(show(written), 200);
    }),
    endpoint(routes.listInboxes, async c => {
      const { tenant_id } = c.req.valid('param');
      await enterTenant(c.get('principal'), tenant_id);
      const data = [];
      for await (const one of settings.listInboxes(service, tenant_id))
        if (!one.erasing) data.push(showInbox(one));
      return c.json({ data, next_cursor: null }, 200);
    }),
    endpoint(routes.readInbox, async c => {
      const place = placeOf(c.req.valid('param'));
      await enterTenant(c.get('principal'), place.tenant_key);
      const found = await settings.readInbox(service, place);
      c.header('ETag', etagOf(found.version));
      return c.json(showInbox(found), 200);
    }),
    endpoint(routes.writeInbox, async c => {
      const place = placeOf(c.req.valid('param'));
      const principal = c.get('principal');
      await enterTenant(principal, place.tenant_key);
      const edit = { by: principal.accountId, version: versionOf(expectedVersion(c)) };
      const written = await settings.writeInbox(service, place, c.req.valid('json'), edit);
      c.header('ETag', etagOf(written.version));
      return c.json(showInbox(written), 200);
    }),
    endpoint(routes.deleteInbox, async c => {
      const place = placeOf(c.req.valid('param'));
      const principal = c.get('principal');
      await enterTenant(principal, place.tenant_key);
      return c.json(showErasure(await startErasure(service, place, principal.accountId)), 202);
    }),
    endpoint(routes.readErasure, async c => {
      const place = placeOf(c.req.valid('param'));
      await enterTenant(c.get('principal'), place.tenant_key);
      return c.json(showErasure(await readErasure(service, place)), 200);
    }),
    endpoint(routes.listCategories, async c => {
      const place = placeOf(c.req.valid('param'));
      await enterTenant(c.get('principal'), place.tenant_key);
      return c.json({ data: await listCategories(service, place), next_cursor: null }, 200);
    }),
    endpoint(routes.deleteCategory, async c => {
      const { category, ...rest } = c.req.valid('param');
      const principal = c.get('principal');
      await enterTenant(principal, rest.tenant_id);
      if (c.req.valid('query').messages === 'delete') {
        const started = await startCategoryErasure(service, placeOf(rest), category, principal.accountId);
        return c.json(showCategoryErasure(started), 202);
      }
      await deleteCategory(service, placeOf(rest), category);
      return c.body(null, 204);
    }),
    endpoint(routes.readCategoryErasure, async c => {
      const { category, ...rest } = c.req.valid('param');
      await enterTenant(c.get('principal'), rest.tenant_id);
      return c.json(showCategoryErasure(await readCategoryErasure(service, placeOf(rest), category)), 200);
    }),
    endpoint(routes.publicCounts, async c => {
      const place = placeOf(c.req.valid('param'));
      await enterTenant(c.get('principal'), place.tenant_key);
      await settings.readInbox(service, place);
      const live = liveOf((await readHead(service, place)).broadcasts, secondsNow(service));
      const members = await countMembers(service, place);
      return c.json({ published: live.length, categories: countByCategory(live), members }, 200);
    }),
    endpoint(routes.listReceipts, async c => {
      const { id, ...rest } = c.req.valid('param');
      await enterTenant(c.get('principal'), rest.tenant_id);
      const { limit, cursor, read } = c.req.valid('query');
      const bound = bindCursors(c, service.cursors as CursorCodec<Position>);
      const found = await readSend(service, placeOf(rest), id);
      const { items, next } = await readReceipts(service, found, limit, bound.open(cursor));
      const data = items.filter(one => read === undefined || one.read === read);
      return c.json({ data, next_cursor: bound.seal(next) }, 200);
    }),
    endpoint(routes.exportReceipts, async c => {
      const { id, ...rest } = c.req.valid('param');
      await enterTenant(c.get('principal'), rest.tenant_id);
      const { format } = c.req.valid('query');
      const found = await readSend(service, placeOf(rest), id);
      const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson';
      c.header('Content-Type', type);
      c.header('Content-Disposition', `attachment; filename="receipts-${id}.${format}"`);
      return c.body(textStream(exportReceipts(service, found, format)), 200) as never;
    }),
    endpoint(routes.publish, async c => {
      const place = placeOf(c.req.valid('param'));
      const principal = c.get('principal');
      await enterTenant(principal, place.tenant_key);
      const origin = { sender: principal.accountId, requestKey: c.get('idempotencyKey') };
      const published = await publish(service, place, c.req.valid('json'), origin);
      return c.json(await showPublished(place, published), statusOf(published));
    }),
    endpoint(routes.broadcast, async c => {
      const place = placeOf(c.req.valid('param'));
      const principal = c.get('principal');
      await enterTenant(principal, place.tenant_key);
      const origin = { sender: principal.accountId, requestKey: c.get('idempotencyKey') };
      const published = await publish(service, place, c.req.valid('json'), origin);
      return c.json(await showPublished(place, published), statusOf(published));
    }),
    endpoint(routes.bulk, async c => {
      const place = placeOf(c.req.valid('param'));
      const principal = c.get('principal');
      await enterTenant(principal, place.tenant_key);
      const origin = { sender: principal.accountId, requestKey: c.get('idempotencyKey') };
      const results = await publishBulk(service, place, c.req.valid('json').messages, origin);
      const data = results.map(one =>
        one.ok ? { ok: true as const, send: showSend(one.published.send, 0) } : one,
      );
      return c.json({ data }, 200);
    }),
    endpoint(routes.redact, async c => {
      const { id, ...rest } = c.req.valid('param');
      await enterTenant(c.get('principal'), rest.tenant_id);
      await redact(service, placeOf(rest), id);
      return c.body(null, 204);
    }),
    endpoint(routes.redactHostId, async c => {
      const { host_system_id, ...rest } = c.req.valid('param');
      await enterTenant(c.get('principal'), rest.tenant_id);
      await redactHostId(service, placeOf(rest), host_system_id);
      return c.body(null, 204);
    }),
    endpoint(routes.listSends, async c => {
      const place = placeOf(c.req.valid('param'));
      const principal = c.get('principal');
      await enterTenant(principal, place.tenant_key);
      const options = { ...c.req.valid('query'), caller: principalKey(principal), scheduled: false };
      return c.json(toPage(await listSends(service, place, options)), 200);
    }),
    endpoint(routes.readSend, async c => {
      const { id, ...rest } = c.req.valid('param');
      await enterTenant(c.get('principal'), rest.tenant_id);
      const place = placeOf(rest);
      const found = await readSend(service, place, id);
      return c.json(showSend(found, await countMembers(service, place)), 200);
    }),
    endpoint(routes.listScheduled, async c => {
      const place = placeOf(c.req.valid('param'));
      const principal = c.get('principal');
      await enterTenant(principal, place.tenant_key);
      const options = { ...c.req.valid('query'), caller: principalKey(principal), scheduled: true };
      return c.json(toPage(await listSends(service, place, options)), 200);
    }),
    endpoint(routes.cancel, async c => {
      const { id, ...rest } = c.req.valid('param');
      await enterTenant(c.get('principal'), rest.tenant_id);
      await cancelScheduled(service, placeOf(rest), id);
      return c.body(null, 204);
    }),
  ] as const;
}
