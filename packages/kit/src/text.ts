// A name, a title: whole characters, and none that moves the cursor or rings a bell.
export const isOneLine = (text: string): boolean => text.isWellFormed() && !/\p{Cc}/u.test(text);

// At most so many units of a text, and whole characters only: half of one has no UTF-8, and no store takes it.
export const cutText = (text: string, most: number): string =>
  text
    .slice(0, most)
    .replace(/[\ud800-\udbff]$/, '')
    .toWellFormed();
