type Line = { kind: string; item: unknown };

// One line of JSON each. The last one says that it is complete: without it, something broke off.
export function linesOf(items: AsyncGenerator<Line>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let count = 0;
  let isOver = false;
  return new ReadableStream({
    // The next item is read when the reader has taken the one before, so a slow one costs no memory.
    async pull(controller) {
      if (isOver) return controller.close();
      const { done, value } = await items.next();
      isOver = done === true;
      if (!done) count += 1;
      const line = done ? { kind: 'end', items: count } : value;
      controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
    },
    cancel: () => void items.return(undefined),
  });
}
