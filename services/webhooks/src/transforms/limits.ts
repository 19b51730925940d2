// Limits of a customer's transforms.

export const codeChars = 64 * 1024;
export const scriptMs = 1_000; // of processor time; a thousand times what reshaping a body takes
export const outputBytes = 512 * 1024; // twice the largest body received
export const outputDepth = 100; // serialising is recursive, here and at the receiver
export const outputHeaders = 50;
export const outputHeaderChars = 8 * 1024; // all of them; destinations refuse more than 8 to 16 KB

export const mappings = 50;
export const paths = 100; // in all mappings together: each has to be compiled
export const widePaths = 10; // of these, with `..`, `*` or `[?…]`: each may visit every value of the body
export const templateChars = 1_000;
export const templateValues = 10;
export const targetIndex = 99; // an array that a mapping fills from its end would be mostly nulls
