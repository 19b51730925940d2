// A name, a title: whole characters, and none that moves the cursor or rings a bell.
export const isOneLine = (text: string): boolean => text.isWellFormed() && !/\p{Cc}/u.test(text);
