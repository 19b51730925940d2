import type { Fault } from '../fault.ts';

// Writes whose answers get lost, conditions, cursors, expiry.

const adversary = { test: 'packages/table/test/adversary.test.ts', seeds: [1, 1] } as const;
const contract = { test: 'packages/table/test/contract.test.ts' };

export const tableFaults: readonly Fault[] = [
  {
    name: 'table-addition-token-anew',
    file: 'packages/table/src/writes/single-write.ts',
    before: "await send(session, 'write', pattern, input, transactWrite, { mayRepeat: true });",
    after:
      "await send(session, 'write', pattern, input, one => transactWrite({ ...one, ClientRequestToken: tokenFor(session) }), { mayRepeat: true });",
    why: 'An addition whose answer is lost is sent again with another token, and counts twice',
    caughtBy: adversary,
    isShort: true,
  },
  {
    name: 'table-transaction-token-anew',
    file: 'packages/table/src/writes/transaction.ts',
    before: 'const transactWrite = failingFirst(failure, session.client.transactWrite);',
    after:
      'const sent = failingFirst(failure, session.client.transactWrite); const transactWrite: typeof sent = one => sent({ ...one, ...(token !== undefined && { ClientRequestToken: tokenFor(session) }) });',
    why: 'A transaction whose answer is lost is sent again with another token',
    caughtBy: adversary,
  },
  {
    name: 'table-addition-without-token',
    file: 'packages/table/src/writes/repeated-write.ts',
    before:
      "  Object.keys(append).length > 0 || Object.values(add).some(value => typeof value === 'number');",
    after: "  Object.keys(append).length > 0 && Object.values(add).some(value => typeof value === 'string');",
    why: 'An addition is taken for a write that can be repeated without harm',
    caughtBy: adversary,
  },
  {
    name: 'table-refusal-always-own',
    file: 'packages/table/src/writes/single-write.ts',
    before: 'if (isUncertain && isRefused && isOwn(stored)) return',
    after: 'if (isRefused) return',
    why: "Every refusal is taken for the result of an earlier attempt of one's own",
    caughtBy: adversary,
    isShort: true,
  },
  {
    name: 'table-refusal-never-own',
    file: 'packages/table/src/writes/single-write.ts',
    before: 'if (isUncertain && isRefused && isOwn(stored)) return',
    after: 'if (isUncertain && isRefused && !isOwn(stored)) return',
    why: "A write that was made is reported as refused, and another one's as made",
    caughtBy: adversary,
  },
  {
    name: 'table-own-result-of-any-version',
    file: 'packages/table/src/writes/repeated-write.ts',
    before: 'if (ifVersion !== undefined && stored[entity.version!] !== ifVersion + 1) return false;',
    after: '',
    why: "After a lost request, a newer version of somebody else counts as one's own",
    caughtBy: adversary,
  },
  {
    name: 'table-throttling-not-retried',
    file: 'packages/table/src/client/retry.ts',
    before: "  'ThrottlingException',\n",
    after: '',
    why: 'A throttled request fails at once',
    caughtBy: adversary,
  },
  {
    name: 'table-limit-without-guard',
    file: 'packages/table/src/store/create-within.ts',
    before:
      'const guard = last ? { ifVersion: (last as { version: number }).version } : { ifAbsent: true as const };',
    after: 'const guard = {};',
    why: 'Of callers that counted at the same time, all create: more than the limit',
    caughtBy: adversary,
    isShort: true,
  },
  {
    name: 'table-unprocessed-writes-dropped',
    file: 'packages/table/src/store/batch.ts',
    before: 'left = answer.UnprocessedItems ?? {};',
    after: 'left = {};',
    why: 'What DynamoDB returns of a batch as not written is lost',
    caughtBy: contract,
  },
  {
    name: 'table-expired-items-shown',
    file: 'packages/table/src/design/item.ts',
    before: "return typeof ttl === 'number' && ttl * 1000 <= nowMs;",
    after: "return typeof ttl === 'number' && nowMs < 0;",
    why: 'Items are read for days after they have expired, until DynamoDB removes them',
    caughtBy: contract,
  },
  {
    name: 'table-cursor-for-any-list',
    file: 'packages/table/src/client/cursor.ts',
    before: 'const contextOf = (bound: readonly unknown[]): string => JSON.stringify(bound, plainSets);',
    after:
      'const contextOf = (bound: readonly unknown[]): string => JSON.stringify(bound.slice(bound.length), plainSets);',
    why: 'A cursor opens the list of another caller',
    caughtBy: contract,
  },
  {
    name: 'engine-token-of-other-request',
    file: 'packages/engine/src/actions/client-token.ts',
    before: 'if (record.fingerprint === fingerprint) return replay();',
    after: "if (record.fingerprint !== '') return replay();",
    why: 'Another transaction with a used token is answered as if it had been made',
    caughtBy: { test: 'packages/engine/test/engine-tokens.test.ts' },
  },
  {
    name: 'engine-token-forgotten',
    file: 'packages/engine/src/actions/client-token.ts',
    before: 'if (record && record.expiresAt > context.now()) {',
    after: 'if (record && record.expiresAt < 0) {',
    why: 'A repeated transaction is applied again',
    caughtBy: { test: 'packages/engine/test/engine-tokens.test.ts' },
  },
  {
    name: 'kit-sealed-for-any-place',
    file: 'packages/kit/src/sealer.ts',
    before: 'Buffer.from(`s1.${id}.${location}`)',
    after: 'Buffer.from(`s1.${id}.${location.slice(location.length)}`)',
    why: 'A sealed secret can be copied to another item and opened there',
    caughtBy: { test: 'packages/kit/src/sealer.test.ts' },
  },
];
