import { keyOf } from '@stak/table';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bucketOf, checkInboxId, inboxOfBucket, isKey, isUid } from './inbox-id.ts';
import { publicStats, send, tenantSettings, userStats } from './tables.ts';

const slug = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/);
const uid = fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9._:@|+=~-]{0,10}$/).filter(isUid);
const inboxId = fc.record({ tenant_key: slug, inbox_key: slug });

// Every partition of a tenant begins with one of these, and no other tenant's does.
const roots = (tenant: string) => [
  `t#${tenant}`,
  ...['U', 'G', 'S', 'R'].map(letter => `t#${tenant}${letter}#`),
];
const isIn = (tenant: string, pk: string) =>
  roots(tenant).some((root, i) => (i === 0 ? pk === root : pk.startsWith(root)));

describe('keys', () => {
  it('distinguish tenants, users and inboxes', () => {
    fc.assert(
      fc.property(inboxId, uid, inboxId, uid, (a, u, b, v) => {
        const keys = (one: typeof a, who: string) => [
          keyOf(userStats, { ...one, uid: who }).pk,
          keyOf(publicStats, one).pk,
          keyOf(send, { ...one, bucket: bucketOf(one, 'x'), id: 'x' }).pk,
          keyOf(tenantSettings, one).pk,
        ];
        const [first, second] = [keys(a, u), keys(b, v)];
        for (const pk of first) {
          expect(isIn(a.tenant_key, pk)).toBe(true);
          if (a.tenant_key !== b.tenant_key) expect(isIn(b.tenant_key, pk)).toBe(false);
        }
        expect(inboxOfBucket(bucketOf(a, 'x'))).toBe(a.inbox_key);
        expect(first[0] === second[0]).toBe(JSON.stringify([a, u]) === JSON.stringify([b, v]));
      }),
    );
  });

  it.each(['acmeU', 'a#b', '', 'Acme', 'a b', '-a', 'a-', 'a'.repeat(64)])(
    '"%s" is not a tenant or inbox',
    text => expect(isKey(text)).toBe(false),
  );

  it.each(['$public', 'me', 'a#b', '', 'a b', 'ä', 'a/b', 'a'.repeat(129)])('"%s" is not a uid', text => {
    expect(isUid(text)).toBe(false);
    expect(() => checkInboxId({ tenant_key: 'acme', inbox_key: 'main', uid: text })).toThrow('A uid');
  });
});
