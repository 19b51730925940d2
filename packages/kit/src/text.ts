/** Whether a text is a single line of whole characters, such as a name or a title. */
export const isOneLine = (text: string): boolean => text.isWellFormed() && !/\p{Cc}/u.test(text);

/** Cuts a text to a number of UTF-16 units, without half a character at the end. */
// Half a character has no UTF-8, and no store accepts it.
export const cutText = (text: string, most: number): string =>
  text
    .slice(0, most)
    .replace(/[\ud800-\udbff]$/, '')
    .toWellFormed();
