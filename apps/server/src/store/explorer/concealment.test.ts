import { createSealer } from '@stak/kit';
import { type AnyEntity, attributesOf } from '@stak/table';
import { describe, expect, it } from 'vitest';
import { designs } from '../designs.ts';
import { conceal, concealUnknownKey, isSecretName, mask } from './concealment.ts';
import { viewItem } from './item-view.ts';

const hash = 'b'.repeat(64);

describe('secrets in the explorer', () => {
  it.each([
    'passwordHash',
    'keyHash',
    'token_hash',
    'feed_hash',
    'stateHash',
    'refreshToken',
    'client_secret',
  ])('are masked in %s', name => {
    expect(conceal(name, 'let me in')).toEqual({ value: mask, note: 'masked' });
    expect(conceal(name, { S: 'let me in' }).value).toBe(mask);
  });

  it('are masked wherever they are nested, without changing the rest', () => {
    const stored = { a: [{ password: 'x', b: 1 }], input_tokens: 5, tokens_revoked_at: 7 };
    const shown = { a: [{ password: mask, b: 1 }], input_tokens: 5, tokens_revoked_at: 7 };
    expect(conceal('data', stored)).toEqual({ value: shown, note: 'masked' });
    expect(conceal('data', JSON.stringify(stored))).toEqual({ value: JSON.stringify(shown), note: 'masked' });
    const headers = '[["Accept","*/*"],["Authorization","Bearer x"]]';
    expect(conceal('headers', headers).value).toBe(`[["Accept","*/*"],["Authorization","${mask}"]]`);
    const plain = { a: [1, 'two', new Set(['three'])] };
    expect(conceal('data', plain)).toEqual({ value: plain, note: null });
    expect(conceal('text', '{ "a": 1 }').value).toBe('{ "a": 1 }');
    expect(conceal('text', '{ no JSON').value).toBe('{ no JSON');
  });

  it('are shown as stored if they are encrypted', () => {
    const sealed = createSealer({ keys: [{ id: 'k1', secret: 'a secret, long enough' }] }).seal(
      'whsec_1',
      'x',
    );
    expect(conceal('signingSecret', sealed)).toEqual({ value: sealed, note: 'sealed' });
    expect(conceal('signingSecret', 'whsec_1')).toEqual({ value: mask, note: 'masked' });
  });

  it('are masked in parts of keys, and in unknown keys', () => {
    const table = designs.find(({ name }) => name === 'ferryhook-main')!;
    const view = (stored: object) => viewItem(table, stored, { nowMs: 0 });
    const known = view({ PK: `KEYHASH#${hash}`, SK: 'KEY', keyHash: hash, keyId: 'key_1' });
    expect(known).toMatchObject({ entity: 'API key by hash' });
    expect(known.keys[0]).toMatchObject({ text: `KEYHASH#${mask}`, is_masked: true });
    const listed = view({ PK: 'USER#usr_1', SK: 'KEY#key_1', GSI2PK: `KEYHASH#${hash}`, GSI2SK: 'KEY' });
    const unknown = view({ PK: `NEW#${hash}`, SK: 'X' });
    expect(unknown).toMatchObject({ entity: null, keys: [{ text: `NEW#${mask}` }, { text: 'X' }] });
    expect(JSON.stringify([known, listed, unknown])).not.toContain(hash);
    expect(concealUnknownKey('USER#usr_0mjuxvy9s001')).toBe('USER#usr_0mjuxvy9s001');
  });
});

// No credentials: words about them, hashes of what nobody can send, and bytes that are sealed.
const harmless = new Set([
  'ferryhook-main: signedInWith',
  'ferryhook-main: secondFactor',
  'ferryhook-main: codeChallenge',
  'ferryhook-main: deviceId',
  'ferryhook-main: generation',
  'ferryhook-main: via',
  'ferryhook-main: whom',
  'ferryhook-main: place',
  'ferryhook-main: rotationId',
  'ferryhook-main: alertRotationId',
  'conversations: granted',
  'conversations: headers',
  'conversations: pins',
  'tenants: generation',
  'todo-app-data: request_id',
  'todo-app-data: fingerprint',
  'stak-http: fingerprint',
  'stak-http: counted',
  'stak-http: body',
]);

it('every attribute that sounds like a secret is masked, or known not to be one', () => {
  const sounds = /hash|secret|token|password|seal|sha-|private|credential(?!Id)|cookie|api.?key/i;
  const left = designs.flatMap(table =>
    table.entities.flatMap((entity: AnyEntity) =>
      attributesOf(entity)
        .filter(({ name, description }) => sounds.test(`${name} ${description}`) && !isSecretName(name))
        .map(({ name }) => `${table.name}: ${name}`),
    ),
  );
  expect(new Set(left)).toEqual(harmless);
});
