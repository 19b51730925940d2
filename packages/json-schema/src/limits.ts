export const steps = 50_000; // of one check, about 10 ms; honest values take a few hundred
export const charsPerStep = 32; // of a text that has to be read
export const formatChars = 2_048; // of a text with a format: the longest are addresses
export const shownChars = 200; // of what a schema requires, in an explanation
