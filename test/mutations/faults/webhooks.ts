import type { Fault } from '../fault.ts';

// Leases, results, retries, order and counts of deliveries; signatures.

const src = 'services/webhooks/src';
const tests = 'services/webhooks/test';
const adversary = { test: `${tests}/adversary.test.ts`, seeds: [1, 1] } as const;
const verify = { test: `${src}/signatures/verify.test.ts` };
const insight = { test: `${tests}/insight.test.ts`, name: 'when responses are lost|killed' };

export const webhookFaults: readonly Fault[] = [
  {
    name: 'webhooks-claim-without-lease',
    file: `${src}/delivery/queue.ts`,
    before: 'if: and({ state: unfinished, dueIn: is.not(ref.connectionId) }, isFree),',
    after: 'if: and({ state: unfinished, dueIn: is.not(ref.connectionId) }, {}),',
    why: 'A worker claims a delivery that another one is making',
    caughtBy: adversary,
  },
  {
    name: 'webhooks-event-without-version',
    file: `${src}/delivery/result.ts`,
    before: 'write.update(event, eventKey(claimed), { set }, { ifVersion: version })',
    after: 'write.update(event, eventKey(claimed), { set }, {})',
    why: 'Two deliveries of an event that end together leave a status that counts one of them only',
    caughtBy: adversary,
  },
  {
    name: 'webhooks-results-dropped',
    file: `${src}/delivery/result.ts`,
    before: "await store.writeInOrder(groups, { pattern: 'result of a delivery', mayWait });",
    after:
      "const told = globalThis as { told?: number }; told.told = (told.told ?? 0) + 1; if (told.told % 50 !== 0) await store.writeInOrder(groups, { pattern: 'result of a delivery', mayWait });",
    why: 'One result in fifty is not written, and its delivery is made again',
    caughtBy: adversary,
  },
  {
    name: 'webhooks-delivery-without-version',
    file: `${src}/delivery/result.ts`,
    before: '{ set, remove },\n    { ifVersion: claimed.version },\n  );\n}\n\nfunction statusAfter(',
    after: '{ set, remove },\n    {},\n  );\n}\n\nfunction statusAfter(',
    why: 'A worker that lost its lease overwrites the result of the one that took over',
    caughtBy: { test: `${tests}/leases.test.ts` },
  },
  {
    name: 'webhooks-renewed-without-version',
    file: `${src}/delivery/queue.ts`,
    before: "{ ifVersion: leased.version, current: leased, pattern: 'renew lease of a delivery' }",
    after: "{ current: leased, pattern: 'renew lease of a delivery' }",
    why: 'A process that was suspended makes a delivery that another one has claimed',
    caughtBy: { test: `${tests}/leases.test.ts` },
  },
  {
    name: 'webhooks-provider-id-not-asked',
    file: `${src}/ingest/write-event.ts`,
    before: 'write.put(dedupe, item, { ifAbsent: true })',
    after: 'write.put(dedupe, item)',
    why: 'A webhook that its provider sends again becomes a second event',
    caughtBy: { test: `${tests}/ingest.test.ts` },
    isShort: true,
  },
  {
    name: 'webhooks-breaker-without-condition',
    file: `${src}/delivery/breaker.ts`,
    before: "const guard = { if: { breaker: is.oneOf(from), status: is.not('deleted' as const) } };",
    after: "const guard = { if: { status: is.not('deleted' as const) } };",
    why: 'A late success closes a circuit breaker that has opened since, and one outage has two alerts',
    caughtBy: { test: `${tests}/leases.test.ts` },
  },
  {
    name: 'webhooks-out-of-order',
    file: `${src}/delivery/order.ts`,
    before: 'if (!first || first.queueId === claimed.queueId) return true;',
    after: "if (!first || first.queueId !== '') return true;",
    why: 'Deliveries of an ordered connection overtake each other',
    caughtBy: { test: `${tests}/flow-control.test.ts` },
  },
  {
    name: 'webhooks-retries-without-end',
    file: `${src}/delivery/retry.ts`,
    before: 'if (attempts >= most) return undefined;',
    after: 'if (attempts > most) return undefined;',
    why: 'A delivery has one attempt more than its connection allows',
    caughtBy: { test: `${src}/delivery/retry.test.ts` },
  },
  {
    name: 'webhooks-retry-sooner-than-asked',
    file: `${src}/delivery/retry.ts`,
    before: 'return Math.max(delayMs, Math.min(retryAfterMs, limits.retryAfterMostMs));',
    after: 'return Math.min(delayMs, Math.min(retryAfterMs, limits.retryAfterMostMs));',
    why: 'A destination that asks for a longer delay is not heard',
    caughtBy: { test: `${src}/delivery/retry.test.ts` },
  },
  {
    name: 'webhooks-count-without-checkpoint',
    file: `${src}/analytics/event-counts.ts`,
    before: "from === '' ? { ifAbsent: true } : { if: { through: from } },",
    after: '{},',
    why: 'Two processes count the same page, and usage is billed twice',
    caughtBy: insight,
  },
  {
    name: 'webhooks-status-counted-on',
    file: `${src}/analytics/event-counts.ts`,
    before: 'bump(add, `s_${before}`, -1);',
    after: '',
    why: 'An event counts with its old status and its new one',
    caughtBy: insight,
  },
  {
    name: 'webhooks-any-signature',
    file: `${src}/signatures/signing.ts`,
    before: "return matched ? accept(dedupeId) : refuse('mismatch');",
    after: "return given.length > 0 ? accept(dedupeId) : refuse('mismatch');",
    why: 'Any signature is accepted',
    caughtBy: verify,
    isShort: true,
  },
  {
    name: 'webhooks-old-signature',
    file: `${src}/signatures/signing.ts`,
    before: 'return Math.abs(nowMs / 1000 - timestampS) > toleranceS;',
    after: 'return Math.abs(nowMs / 1000 - timestampS) > toleranceS * 1e6;',
    why: 'A signed request can be replayed for years',
    caughtBy: verify,
  },
  {
    name: 'webhooks-empty-secret',
    file: `${src}/signatures/verify.ts`,
    before: "input.secrets.filter(secret => secret !== '' && secret.length <= limits.secretChars);",
    after: 'input.secrets.filter(secret => secret.length <= limits.secretChars);',
    why: 'Anyone can sign for a source whose secret is empty',
    caughtBy: verify,
  },
  {
    name: 'webhooks-body-not-signed',
    file: `${src}/signatures/verify.ts`,
    before: "createMac('sha256', secret, [`${timestamp}.`, rawBody], 'hex')",
    after: "createMac('sha256', secret, [`${timestamp}.`], 'hex')",
    why: 'The signature of Stripe covers the time, and not the body',
    caughtBy: verify,
  },
];
