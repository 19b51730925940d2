import { accountsErrors } from '../../errors.ts';
import * as limits from '../../limits.ts';

// The person who chooses a password, which must not be built from their name or address.
export type PasswordOwner = { email: string; name?: string };

// `field` is the password's field in the body, so that a form can show the problem next to it.
export type CheckPassword = (password: string, who: PasswordOwner, field: string) => Promise<void>;

// Runs when a password is chosen, never when one is tried: older passwords keep working. The list is loaded on first
// use.
export const checkPassword: CheckPassword = async (password, who, field) => {
  const { commonWords } = await import('./common-passwords.ts');
  const detail = weaknessOf(password, who, commonWords);
  if (detail === undefined) return;
  const errors = [{ in: 'body', pointer: `#/${field}`, code: 'password_weak', detail }];
  throw accountsErrors.create('accounts.password_weak', detail, { errors });
};

const advice = 'Use three or four words that do not belong together.';

// Says in a sentence what is wrong with the password and what to do. Undefined if it is good enough.
export function weaknessOf(
  password: string,
  { email, name = '' }: PasswordOwner,
  common: ReadonlySet<string>,
): string | undefined {
  if ([...password].length < limits.passwordCharsLeast)
    return `The password needs at least ${limits.passwordCharsLeast} characters. ${advice}`;
  const plain = password.normalize('NFKC').toLowerCase();
  const rest = withoutKnown(lettersOf(plain), [email, email.split('@')[0]!, name, ...name.split(/\s+/)]);
  if (rest !== lettersOf(plain) && rest.length < limits.passwordOwnChars)
    return `The password is made of your address or your name. ${advice}`;
  if (new Set(plain).size < limits.passwordDistinct || isRepeated(plain))
    return `The password repeats itself. ${advice}`;
  if (withoutRuns(plain).length < limits.passwordOwnChars)
    return `The password is a row of keys or of letters. ${advice}`;
  if (isCommon(plain, common)) return `The password is one of the first that are guessed. ${advice}`;
  return undefined;
}

const lettersOf = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]/gu, '');

function withoutKnown(text: string, words: readonly string[]): string {
  const parts = words
    .map(word => lettersOf(word.normalize('NFKC').toLowerCase()))
    .filter(word => word.length >= 4);
  return parts
    .toSorted((word, other) => other.length - word.length)
    .reduce((left, part) => left.replaceAll(part, ''), text);
}

// Matches `abcabcabcabc` and `passwordpassword`, also with an incomplete last repetition.
function isRepeated(text: string): boolean {
  for (let unit = 1; unit <= text.length / 2; unit++)
    if (
      text
        .slice(0, unit)
        .repeat(Math.ceil(text.length / unit))
        .startsWith(text)
    )
      return true;
  return false;
}

const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  'qwertyuiop',
  'qwertzuiop',
  'asdfghjkl',
  'zxcvbnm',
  'azertyuiop',
];
const reversed = rows.map(row => [...row].reverse().join(''));
const runs = [...rows, ...reversed].flatMap(row =>
  Array.from({ length: row.length - 3 }, (_, at) => row.slice(at, at + 4)),
);
const inRun: ReadonlySet<string> = new Set(runs);

// Removes runs of four or more consecutive characters.
function withoutRuns(text: string): string {
  const isInRun = new Array<boolean>(text.length).fill(false);
  for (let at = 0; at + 4 <= text.length; at++)
    if (inRun.has(text.slice(at, at + 4))) isInRun.fill(true, at, at + 4);
  return [...text].filter((_, at) => !isInRun[at]).join('');
}

const substitutes: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

// One or two listed words, with any digits and signs around them or in place of their letters.
function isCommon(plain: string, common: ReadonlySet<string>): boolean {
  const core = plain.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  const spelled = [...core].map(character => substitutes[character] ?? character).join('');
  return [core, spelled].map(lettersOf).some(text => {
    if (common.has(text)) return true;
    for (let at = 3; at <= text.length - 3; at++)
      if (common.has(text.slice(0, at)) && common.has(text.slice(at))) return true;
    return false;
  });
}
