import fc from 'fast-check';
import { binaries, type Json, numbers, strings } from './fragments.ts';
import type { KeyKind } from './tables.ts';

// `paged` requests are followed to their last page. Where the range key leaves the order open, `order` names it.
export type Request = { operation: string; input: Json; paged?: boolean; order?: string };

export const keyValues: Record<KeyKind, fc.Arbitrary<Json>> = {
  S: fc.record({ S: strings.filter(Boolean) }),
  N: fc.record({ N: numbers }),
  B: fc.record({ B: binaries.filter(Boolean) }),
};
// Partitions are few, so that they hold something.
export const hashValues: Record<KeyKind, fc.Arbitrary<Json>> = {
  S: fc.constantFrom({ S: 'p' }, { S: 'q' }),
  N: fc.constantFrom({ N: '1' }, { N: '1.0' }, { N: '2' }, { N: '-3' }, { N: '4' }),
  B: fc.constantFrom({ B: 'AA==' }, { B: 'AP8=' }),
};

// Left out `absent` times for each time it is there.
export const optional = <T>(arbitrary: fc.Arbitrary<T>, absent = 1): fc.Arbitrary<T | undefined> =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: absent }, { arbitrary, weight: 1 });
export const withoutUndefined = (input: Json): Json =>
  Object.fromEntries(Object.entries(input).filter(([, member]) => member !== undefined));
