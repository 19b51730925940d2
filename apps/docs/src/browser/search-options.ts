// Shared by the code that builds the index and the code that reads it.
export const searchOptions = {
  fields: ['title', 'page', 'text'],
  storeFields: ['url', 'title', 'page', 'text'],
  searchOptions: { boost: { title: 3, page: 2 }, prefix: true, fuzzy: 0.2, combineWith: 'AND' as const },
};
