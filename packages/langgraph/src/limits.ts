// The limits of this package, each with its reason.

export const inlineBytes = 1024; // of a value that is stored in its item: as cheap as a reference to it
export const chunkBytes = 4 * 1024; // what one step adds to a long list is written in one or two of them
export const valueBytes = 16 * 1024 * 1024; // of one channel: its references then have 80 KB of an item's 400
export const itemBytes = 350 * 1024; // of a stored item, below DynamoDB's 400 KB
export const together = 100; // items that one call reads or deletes
export const threadShards = 16; // of the list of threads
export const knownNamespaces = 10_000; // namespaces that a process has registered
