import type { Answer, CallOptions } from './operation.ts';

type Page<Item> = { data: Item[]; next_cursor: string | null };
type ListCall<Args, Item> = (args: Args, options?: CallOptions) => Promise<Answer<Page<Item>>>;

// Every item of a list, page by page as they are needed: `for await (const tenant of iterate(client.tenants.list))`.
export async function* iterate<Args extends { cursor?: string }, Item>(
  call: ListCall<Args, Item>,
  args: Args = {} as Args,
  options?: CallOptions,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | null | undefined = args.cursor;
  do {
    const { data: page } = await call(cursor == null ? args : { ...args, cursor }, options);
    yield* page.data;
    cursor = page.next_cursor;
  } while (cursor !== null);
}
