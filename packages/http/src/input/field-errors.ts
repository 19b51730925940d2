import type { ZodError } from 'zod';
import { type FieldError, refuse } from '../errors.ts';
import * as limits from '../limits.ts';

type Location = FieldError['in'];
type Issue = ZodError['issues'][number];

// RFC 6901 in a URI fragment: `/` and `~` are escaped, then everything that a URI cannot contain.
export function pointerTo(path: readonly PropertyKey[]): string {
  return ['#', ...path.map(part => escapePart(String(part).slice(0, limits.fieldNameChars)))].join('/');
}

const escapePart = (part: string): string =>
  encodeURIComponent(part.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1'));

// Invalid fields: how many there are, and a description of the first ones. `isCut` if the rest was not checked.
export type FieldErrors = { count: number; first: FieldError[]; isCut?: boolean };

export function addFieldErrors(errors: FieldErrors, error: ZodError, location: Location): void {
  for (const issue of error.issues) {
    const room = limits.fieldErrors - errors.first.length;
    errors.count += issue.code === 'unrecognized_keys' ? issue.keys.length : 1;
    if (room > 0) errors.first.push(...describe(issue, location, room));
  }
}

function describe(issue: Issue, location: Location, most: number): FieldError[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, most).map(key => ({
      in: location,
      pointer: pointerTo([...issue.path, key]),
      code: 'unknown_field',
      detail: 'Unknown field',
    }));
  return [{ in: location, pointer: pointerTo(issue.path), code: issue.code, detail: wordsOf(issue) }];
}

// Messages for people who fill in a form: Zod's messages are for people who wrote the schema. Messages of the schema
// itself are kept.
function wordsOf(issue: Issue): string {
  if (!/^(?:Invalid|Too small|Too big)\b/.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'too_small':
    case 'too_big':
      return boundWords(issue);
    case 'invalid_type':
      if (issue.message.endsWith('received undefined')) return 'Is required';
      return `Must be ${typeWords[issue.expected] ?? `of the type ${issue.expected}`}`;
    case 'invalid_value':
      return `Must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
    case 'invalid_format':
      return `Must be ${formatWords[issue.format] ?? 'in the form that the reference shows'}`;
    case 'invalid_union':
      return 'Fits none of the forms that the reference shows';
    default:
      return issue.message;
  }
}

type Bound = Extract<Issue, { code: 'too_small' | 'too_big' }>;

function boundWords(issue: Bound): string {
  const [bound, words] =
    issue.code === 'too_small' ? [issue.minimum, 'at least'] : [issue.maximum, 'at most'];
  const unit = units[issue.origin];
  if (unit !== undefined && Number(bound) === 1 && issue.code === 'too_small') return 'Must not be empty';
  if (unit !== undefined) return `Must have ${words} ${bound} ${Number(bound) === 1 ? unit.one : unit.many}`;
  const strictly = issue.code === 'too_small' ? 'more than' : 'less than';
  return `Must be ${issue.inclusive === false ? strictly : words} ${bound}`;
}

const entries = { one: 'entry', many: 'entries' };
const units: Readonly<Record<string, { one: string; many: string }>> = {
  string: { one: 'character', many: 'characters' },
  array: entries,
  set: entries,
  map: entries,
  object: { one: 'field', many: 'fields' },
};
const typeWords: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};
const formatWords: Readonly<Record<string, string>> = {
  email: 'an e-mail address',
  url: 'an address that begins with https:// or http://',
  datetime: 'a time such as 2026-03-01T10:00:00Z',
  date: 'a day such as 2026-03-01',
  time: 'a time such as 10:00:00',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  cidrv4: 'a network such as 192.0.2.0/24',
  cidrv6: 'a network such as 2001:db8::/32',
  uuid: 'a UUID',
};

export const requestInvalid = (errors: FieldErrors) =>
  refuse('http.request_invalid', describeCount(errors), { errors: errors.first });

const describeCount = ({ count, isCut = false }: FieldErrors): string => {
  if (isCut) return 'A field is not valid. See "errors". The fields after it were not checked.';
  return count === 1
    ? 'One field is not valid. See "errors".'
    : `${count} fields are not valid. See "errors".`;
};
