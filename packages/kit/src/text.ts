/** Whether a text is a single line of whole characters, such as a name or a title. */
export const isOneLine = (text: string): boolean => text.isWellFormed() && !/\p{Cc}/u.test(text);

/** Whether a text is a single line that looks the same wherever it stands, such as a name that others see. */
// Overrides and isolates of direction turn the text around them, which makes one name look like another, and spaces
// without width and tags are invisible. Marks of direction and joiners stay: Hebrew, Persian and emoji need them. So do
// the tags of a flag, such as Scotland's.
export const isName = (text: string): boolean =>
  isOneLine(text) && !invisible.test(text.replaceAll(taggedFlag, ''));

const invisible = /[\p{Zl}\p{Zp}\u202a-\u202e\u2060-\u206f\u200b\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/u;
const taggedFlag = /\u{1f3f4}[\u{e0061}-\u{e007a}]{2,6}\u{e007f}/gu;

/** Cuts a text to a number of UTF-16 units, without half a character at the end. */
// Half a character has no UTF-8, and no store accepts it.
export const cutText = (text: string, most: number): string =>
  text
    .slice(0, most)
    .replace(/[\ud800-\udbff]$/, '')
    .toWellFormed();
