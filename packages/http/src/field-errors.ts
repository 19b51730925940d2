import type { ZodError } from 'zod';
import { type FieldError, refuse } from './errors.ts';
import * as limits from './limits.ts';

type Location = FieldError['in'];
type Issue = ZodError['issues'][number];

// RFC 6901 in a URI fragment: `/` and `~` are spelled out, then whatever a URI cannot hold is escaped.
export function pointerTo(path: readonly PropertyKey[]): string {
  return ['#', ...path.map(part => escapePart(String(part).slice(0, limits.fieldNameChars)))].join('/');
}

const escapePart = (part: string): string =>
  encodeURIComponent(part.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1'));

export function fieldErrorsOf(error: ZodError, location: Location): FieldError[] {
  return error.issues.flatMap(issue => describe(issue, location));
}

function describe(issue: Issue, location: Location): FieldError[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map(key => ({
      in: location,
      pointer: pointerTo([...issue.path, key]),
      code: 'unknown_field',
      detail: 'Unknown field',
    }));
  return [{ in: location, pointer: pointerTo(issue.path), code: issue.code, detail: issue.message }];
}

export const requestInvalid = (errors: readonly FieldError[]) =>
  refuse('http.request_invalid', describeCount(errors.length), {
    errors: errors.slice(0, limits.fieldErrors),
  });

const describeCount = (count: number): string =>
  count === 1 ? 'One field is not valid. See "errors".' : `${count} fields are not valid. See "errors".`;
