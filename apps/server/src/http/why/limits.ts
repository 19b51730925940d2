export const chain = 32; // causes up to the root; the longest of our own has about ten
export const depth = 12; // of what followed
export const branches = 200; // things that followed: more is a list, not an answer
export const lookups = 1000; // reads for one answer, about: most of what is looked for is not there
export const partChars = 600; // of one part of an id: the longest are ids of users, percent-encoded
export const idChars = 1200;
