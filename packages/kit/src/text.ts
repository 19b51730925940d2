/** Whether a text is a single line of whole characters, such as a name or a title. */
export const isOneLine = (text: string): boolean => text.isWellFormed() && !/\p{Cc}/u.test(text);

/** The first units of a text, without half a character at the end. */
// Half of one has no UTF-8, and no store takes it.
export const cutText = (text: string, most: number): string =>
  text
    .slice(0, most)
    .replace(/[\ud800-\udbff]$/, '')
    .toWellFormed();
