import fc from 'fast-check';
import { expect, it } from 'vitest';
import { commonWords } from './common-passwords.ts';
import { weaknessOf } from './password-policy.ts';

const ann = { email: 'ann.lovelace@example.com', name: 'Ann Lovelace' };
const weakness = (password: string) => weaknessOf(password, ann, commonWords);

it.each([
  ['short', /at least 10/],
  ['ann.lovelace@example.com', /your address/],
  ['Ann.Lovelace1', /your address/],
  ['annlovelace2024', /your address/],
  ['Lovelace!!!!', /your address/],
  ['aaaaaaaaaaaa', /repeats/],
  ['abcabcabcabc', /repeats/],
  ['passwordpassword', /repeats/],
  ['1231231231', /repeats/],
  ['1234567890', /row of keys/],
  ['abcdefghijkl', /row of keys/],
  ['qwertyuiop', /row of keys/],
  ['asdfghjkl;1', /row of keys/],
  ['0987654321!', /row of keys/],
  ['qwerty12345', /row of keys/],
  ['Password2024!', /first that are guessed/],
  ['p4ssw0rd!99', /first that are guessed/],
  ['iloveyou1234', /first that are guessed/],
  ['LetMeIn-2025', /first that are guessed/],
  ['Welcome@123!', /first that are guessed/],
  ['administrator1', /first that are guessed/],
  ['sunshinedragon', /first that are guessed/],
  ['secret password', /first that are guessed/],
])('refuses %s', (password, why) => {
  expect(weakness(password)).toMatch(why);
});

it.each([
  'correct horse battery',
  'a long enough password',
  'seven green umbrellas',
  'Tr0ub4dor&3x',
  'k9$vQx2!mLp7',
  'mein geheimes fahrrad',
  'пять зелёных зонтов',
  'ann likes tall bicycles',
])('accepts %s', password => {
  expect(weakness(password)).toBeUndefined();
});

it('accepts random passwords, and is fast for long ones', () => {
  fc.assert(
    fc.property(fc.uuid(), id => {
      expect(weakness(id)).toBeUndefined();
    }),
  );
  const started = process.cpuUsage();
  for (const one of ['a', 'ab', 'p4ssw0rd', '1234', 'é']) weakness(one.repeat(256).slice(0, 256));
  expect(process.cpuUsage(started).user).toBeLessThan(1_000_000);
});
