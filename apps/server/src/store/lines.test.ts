import fc from 'fast-check';
import { expect, test } from 'vitest';
import { linesOf } from './lines.ts';

async function* inPieces(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test('only \\n ends a line, wherever the text is split', async () => {
  const line = fc.string({
    unit: fc.constantFrom('a', 'ü', '😀', '\r', '\u2028', '\u2029', '\u0085'),
    minLength: 1,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(line),
      fc.integer({ min: 1, max: 9 }),
      fc.boolean(),
      async (all, size, ends) => {
        const bytes = Buffer.from(all.join('\n') + (ends && all.length > 0 ? '\n' : ''));
        const found: string[] = [];
        for await (const one of linesOf(inPieces(bytes, size))) found.push(one);
        expect(found).toEqual(all);
      },
    ),
  );
});
