// LMDB keeps these at the beginning of each page, and of each entry (node) of a tree.

export const head = { page: 0, txn: 8, flags: 18, lower: 20, upper: 22, pages: 20, bytes: 24 };
export const node = { flags: 4, keyBytes: 6, bytes: 8 };
export const flag = { branch: 0x01, leaf: 0x02, overflow: 0x04, meta: 0x08, largeData: 0x01 };
