import { expect, it } from 'vitest';
import { codeAt, matchCode, secretText, secretUri, stepOf } from './totp.ts';

const secret = Buffer.from('12345678901234567890');

// The last six digits of the table in RFC 6238, appendix B.
it.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('at %i seconds the code is %s', (seconds, code) => {
  expect(codeAt(secret, stepOf(seconds * 1000))).toBe(code);
});

it('accepts codes of the adjacent time steps, each once', () => {
  const nowMs = 1_111_111_111_000;
  const now = stepOf(nowMs);
  for (const step of [now - 1, now, now + 1])
    expect(matchCode(secret, codeAt(secret, step), nowMs, 0)).toBe(step);
  for (const step of [now - 2, now + 2])
    expect(matchCode(secret, codeAt(secret, step), nowMs, 0)).toBeUndefined();
  expect(matchCode(secret, codeAt(secret, now), nowMs, now)).toBeUndefined();
  expect(matchCode(secret, codeAt(secret, now - 1), nowMs, now)).toBeUndefined();
});

it('encodes secrets as apps read them', () => {
  expect(secretText(secret)).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
  expect(secretUri(secret, 'My Stak', 'ann@example.com')).toBe(
    'otpauth://totp/My%20Stak:ann%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=My%20Stak',
  );
});
