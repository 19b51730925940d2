import type { Context } from '../context.ts';
import { taggedTable } from '../tables/tagged-table.ts';
import { type ListTagsOfResourceInput, type Tag, validateListTagsOfResource } from '../validation/tags.ts';

// A table has at most fifty tags, so there is never a second page.
export function listTagsOfResource(context: Context, input: ListTagsOfResourceInput): { Tags: Tag[] } {
  validateListTagsOfResource(input);
  const { tags } = taggedTable(context, 'ListTagsOfResource', input.ResourceArn);
  return { Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) };
}
