import type { Context } from '../context.ts';
import { taggedTable } from '../tables/tagged-table.ts';
import { type UntagResourceInput, validateUntagResource } from '../validation/tags.ts';

export async function untagResource(context: Context, input: UntagResourceInput): Promise<object> {
  validateUntagResource(input);
  await context.submit(tx => {
    const table = taggedTable(context, 'UntagResource', input.ResourceArn);
    const kept = Object.entries(table.tags).filter(([key]) => !input.TagKeys.includes(key));
    context.catalog.save(tx, { ...table, tags: Object.fromEntries(kept) });
  });
  return {};
}
