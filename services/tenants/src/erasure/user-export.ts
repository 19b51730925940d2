import type { Service } from '../deps.ts';
import type { Eraser, ExportedItem } from './erasers.ts';
import { ownStep } from './erasures.ts';

type Line = (ExportedItem & { service: string }) | { kind: 'end'; items: number };

// Everything that every service has about a user, one line of JSON each. The last line says that it is complete:
// without it, the export was cut off.
export function exportUser(
  { erasers, ownEraser }: Service & { ownEraser: Eraser },
  tenantId: string,
  userId: string,
): ReadableStream<Uint8Array> {
  const others = erasers().filter(({ name }) => name !== ownStep);
  const lines = exportLines([ownEraser, ...others], tenantId, userId);
  const encoder = new TextEncoder();
  return new ReadableStream({
    // The next item is read when the reader has consumed the last one, so a slow reader costs no memory.
    async pull(controller) {
      const { done, value } = await lines.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
    },
    cancel: () => void lines.return(undefined),
  });
}

async function* exportLines(
  services: readonly Eraser[],
  tenantId: string,
  userId: string,
): AsyncGenerator<Line, undefined> {
  let items = 0;
  for (const service of services)
    for await (const { kind, item } of service.exportUser?.(tenantId, userId) ?? []) {
      items += 1;
      yield { service: service.name, kind, item };
    }
  yield { kind: 'end', items };
}
