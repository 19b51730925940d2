import { endpoint, etagOf, expectedVersion, principalKey, toPage } from '@stak/http';
import { publishBulk } from './bulk.ts';
import type { Service } from './deps.ts';
import { noSettings } from './errors.ts';
import * as routes from './host-routes.ts';
import type { Place } from './places.ts';
import { type Published, publish } from './publish.ts';
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
const showInbox = (config: settings.InboxConfig) => ({ cta_schemes: [], ...show(config) });

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
      for await (const one of settings.listInboxes(service, tenant_id)) data.push(showInbox(one));
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
