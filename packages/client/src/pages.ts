import type { Answer, CallOptions } from './operation.ts';

type Page = { data: unknown[]; next_cursor: string | null };
type ListCall = (args: never, options?: CallOptions) => Promise<Answer<Page>>;
type ItemOf<C extends ListCall> = Awaited<ReturnType<C>>['data']['data'][number];

/**
 * Iterates over all items of a list, and reads pages as they are needed. Takes the arguments of the call.
 *
 *     for await (const tenant of iterate(client.tenants.list, { limit: 100 })) …
 */
export async function* iterate<C extends ListCall>(
  call: C,
  ...given: Parameters<C>
): AsyncGenerator<ItemOf<C>, void, undefined> {
  const [args, options] = given as [args?: { cursor?: string }, options?: CallOptions];
  let next = args;
  for (;;) {
    const { data: page } = await call(next as never, options);
    yield* page.data as Awaited<ItemOf<C>>[];
    if (page.next_cursor === null) return;
    next = { ...args, cursor: page.next_cursor };
  }
}
