import type { Fault } from '../fault.ts';

// What a damaged store must not pass.

export const damageFaults: readonly Fault[] = [
  {
    name: 'engine-item-unchecked',
    file: 'packages/engine/src/storage/codec.ts',
    before:
      '    if (end < textStart || bytes.readUInt32LE(sumAt) !== sum(bytes, end)) throw itemDamaged();\n',
    after: '',
    why: 'A damaged item is read as if it were whole',
    caughtBy: { test: 'packages/engine/src/storage/codec.test.ts' },
  },
  {
    name: 'engine-flags-unchecked',
    file: 'packages/engine/src/storage/codec.ts',
    before: 'Math.imul(bytes.readUInt32LE(1), 0x9e3779b1) ^ bytes[0]!',
    after: 'Math.imul(bytes.readUInt32LE(1), 0x9e3779b1)',
    why: 'An item whose flags are damaged is read with other characters',
    caughtBy: { test: 'packages/engine/src/storage/codec.test.ts' },
  },
  {
    name: 'engine-size-unchecked',
    file: 'packages/engine/src/storage/codec.ts',
    before: 'Math.imul(bytes.readUInt32LE(1), 0x9e3779b1) ^ bytes[0]!',
    after: 'bytes[0]!',
    why: 'An item is counted with a size that is damaged',
    caughtBy: { test: 'packages/engine/src/storage/codec.test.ts' },
  },
  {
    name: 'engine-order-unchecked',
    file: 'packages/engine/src/storage/page-check.ts',
    before:
      "    if (order > 0 || (order === 0 && before !== low)) throw new Damage(page, 'the keys are not in order');\n",
    after: '',
    why: 'Pages whose keys are out of order are given to LMDB',
    caughtBy: { test: 'packages/engine/test/damage.test.ts', name: 'keys that are not in order' },
  },
  {
    name: 'engine-page-of-later-state',
    file: 'packages/engine/src/storage/page-check.ts',
    before:
      "    if (numberAt(into, head.txn) > txn) throw new Damage(page, 'the page is of a later state');\n",
    after: '',
    why: 'A page from a later state is taken for one of this state',
    caughtBy: { test: 'packages/engine/test/damage.test.ts', name: 'a page of a later state' },
  },
  {
    name: 'engine-page-used-twice',
    file: 'packages/engine/src/storage/page-check.ts',
    before: "      if (used[n >> 3]! & bit) throw new Damage(n, 'the page is used twice');\n",
    after: '',
    why: 'A page that two others refer to is written twice',
    caughtBy: { test: 'packages/engine/test/damage.test.ts', name: 'a page that two others refer to' },
  },
];
