// Shared by the code that builds the index and the code that reads it.

// Words of a question that say nothing about its answer.
const emptyWords = new Set(
  'a an and are at be by can do does for from how i in is it me my of on or our should that the their to we what when where which with you your'.split(
    ' ',
  ),
);

// Forms of a word are one word: verify, verifies, verified; retry, retries.
function stemOf(word: string): string {
  if (word.length < 5) return word;
  const stem = word.replace(/(?:ies|ied)$/, 'y').replace(/(?:ing|ed|es|s|e)$/, '');
  return stem.length < 3 ? word : stem;
}

const processTerm = (term: string): string | null => {
  const word = term.toLowerCase();
  return emptyWords.has(word) ? null : stemOf(word);
};

export const searchOptions = {
  fields: ['title', 'page', 'text'],
  storeFields: ['url', 'title', 'page', 'text', 'isDesign'],
  processTerm,
  searchOptions: { boost: { title: 3, page: 2 }, prefix: true, fuzzy: 0.2, combineWith: 'AND' as const },
};
