import type { Context } from '../context.ts';
import { tagsPerTable } from '../limits.ts';
import { taggedTable } from '../tables/tagged-table.ts';
import { type TagResourceInput, tooManyTags, validateTagResource } from '../validation/tags.ts';

export async function tagResource(context: Context, input: TagResourceInput): Promise<object> {
  validateTagResource(input);
  await context.submit(tx => {
    const table = taggedTable(context, 'TagResource', input.ResourceArn);
    const tags = new Map(Object.entries(table.tags));
    for (const { Key, Value } of input.Tags) tags.set(Key, Value);
    if (tags.size > tagsPerTable) {
      throw tooManyTags();
    }
    context.catalog.save(tx, { ...table, tags: Object.fromEntries(tags) });
  });
  return {};
}
