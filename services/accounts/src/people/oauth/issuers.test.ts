import { expect, it, onTestFinished, vi } from 'vitest';
import { isIssuer } from './issuers.ts';

it.each([
  ['https://id.example', true],
  ['https://id.example/realms/one', true],
  ['http://127.0.0.1:4000', true],
  ['http://id.example', false],
  ['https://id.example?realm=one', false],
  ['https://me:secret@id.example', false],
  ['id.example', false],
])('%s can be an issuer: %s', (text, can) => {
  expect(isIssuer(text)).toBe(can);
});

it('refuses an overlong host before parsing it', () => {
  const parse = vi.spyOn(URL, 'canParse');
  onTestFinished(() => parse.mockRestore());
  expect(isIssuer(`https://${'\u4e00'.repeat(80_000)}`)).toBe(false);
  expect(parse).not.toHaveBeenCalled();
});
