import { fstatSync, readSync } from 'node:fs';
import { type MetaPage, readMetaPages } from './meta-page.ts';
import { flag, head, node } from './page-layout.ts';

// LMDB maps its file and trusts every number in it: a page number, an offset or a length that is wrong ends the process.
// So the structure of the pages is verified before LMDB sees them: both trees, from their roots, with the order of the
// keys, the space on each page and the counts that the file says. What is inside a value is not looked at here.

export type PageDamage = { page: number; message: string };

/** A page is not what the file says of it. */
class Damage extends Error {
  constructor(
    readonly page: number,
    message: string,
  ) {
    super(message);
  }
}

export type PageCheckOptions = {
  // How many of the pages that hold keys and values are read. Of the others only their place is verified.
  mostLeafPages: number;
};

/** Keys from `low` on and before `high`; without them, from the first one on, or to the last one. */
export type KeySpan = { low: Buffer | undefined; high: Buffer | undefined };

type Tree = {
  name: string;
  flags: number;
  depth: number;
  branchPages: number;
  leafPages: number;
  overflowPages: number;
  entries: number;
  root: number;
};

const treeBytes = 48;
const freeTreeAt = 48; // in the page that describes the file
const mainTreeAt = freeTreeAt + treeBytes;
const noRoot = 0xffff_ffff_ffff_ffffn;
const firstPage = 2; // after the two that describe the file
const deepest = 32; // what LMDB can follow
const describedDamage = 100;
const attempts = 5;

const numberAt = (bytes: Buffer, at: number): number => Number(bytes.readBigUInt64LE(at));

function readTree(meta: Buffer, at: number, name: string): Tree {
  const root = meta.readBigUInt64LE(at + 40);
  return {
    name,
    flags: meta.readUInt16LE(at + 4),
    depth: meta.readUInt16LE(at + 6),
    branchPages: numberAt(meta, at + 8),
    leafPages: numberAt(meta, at + 16),
    overflowPages: numberAt(meta, at + 24),
    entries: numberAt(meta, at + 32),
    root: root === noRoot ? -1 : Number(root),
  };
}

/**
 * What is wrong with the pages of the newest state of a file; nothing if others write faster than it can be read. A
 * page of a state keeps its content at least until the transaction after the next one, which overwrites the page that
 * describes the state: if that is as it was, so was everything that was read.
 */
export function findPageDamage(handle: number, options: PageCheckOptions): PageDamage[] {
  return checkPages(handle, options).damage;
}

/** The same, and the keys whose pages were not read, some hundred pages together. */
export function checkPages(
  handle: number,
  options: PageCheckOptions,
): { damage: PageDamage[]; unread: KeySpan[] } {
  let unread: KeySpan[] = [];
  const damage = attemptCheck(handle, metas => {
    unread = [];
    return checkState(handle, metas, options, unread);
  });
  return { damage, unread };
}

/** Lists the damaged pages among those that hold these keys. The pages above them were verified before. */
export const findSpanDamage = (handle: number, span: KeySpan): PageDamage[] =>
  attemptCheck(handle, metas => checkSpan(handle, metas, span));

type Metas = [MetaPage, MetaPage];

function attemptCheck(handle: number, check: (metas: Metas) => PageDamage[]): PageDamage[] {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const metas = readMetaPages(handle);
    const damage = metas ? check(metas) : [notDescribed];
    if (damage.length === 0) return [];
    if (metas && isUnchanged(metas, readMetaPages(handle))) return damage;
    if (!metas && !readMetaPages(handle)) return damage;
  }
  return [];
}

const notDescribed: PageDamage = { page: 0, message: 'the file does not begin as a store does' };

const newest = ([first, second]: [MetaPage, MetaPage]): 0 | 1 => (first.txn > second.txn ? 0 : 1);

function isUnchanged(before: [MetaPage, MetaPage], now: [MetaPage, MetaPage] | undefined): boolean {
  const page = newest(before);
  return now?.[page].bytes.equals(before[page].bytes) ?? false;
}

function checkSpan(handle: number, metas: Metas, span: KeySpan): PageDamage[] {
  const damage: PageDamage[] = [];
  const options = { mostLeafPages: Number.POSITIVE_INFINITY, span, unread: [] };
  const { checkTree } = createWalk(handle, metas, damage, options);
  checkTree(readTree(metas[newest(metas)].bytes, mainTreeAt, 'the store'), false);
  return damage;
}

function checkState(
  handle: number,
  metas: Metas,
  options: PageCheckOptions,
  unread: KeySpan[],
): PageDamage[] {
  const damage: PageDamage[] = [];
  try {
    const walk = createWalk(handle, metas, damage, { ...options, unread });
    checkMetas(metas);
    checkLength(metas, fstatSync(handle).size);
    walk.checkTree(readTree(metas[newest(metas)].bytes, freeTreeAt, 'the list of free pages'), true);
    walk.checkTree(readTree(metas[newest(metas)].bytes, mainTreeAt, 'the store'), false);
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
    damage.push({ page: error.page, message: error.message });
  }
  return damage;
}

// The two pages that describe the file. Transaction n writes page n % 2, so one is of the transaction before the other.
// In a new file both are of none; in a copy that LMDB made, one is.
function checkMetas(metas: [MetaPage, MetaPage]): void {
  const [first, second] = metas;
  for (const [page, { bytes, pageSize, txn }] of metas.entries()) {
    const isMeta =
      numberAt(bytes, head.page) === page &&
      bytes.readUInt16LE(head.flags) === flag.meta &&
      bytes.readUInt32LE(28) % 0x10000 === 2;
    if (!isMeta || pageSize !== first.pageSize || (pageSize & (pageSize - 1)) !== 0)
      throw new Damage(page, 'the page that describes the store is damaged');
    if (txn > 0 && txn % 2 !== page) throw new Damage(page, 'the page describes the state of another');
  }
  if (Math.abs(first.txn - second.txn) > 1 && Math.min(first.txn, second.txn) > 0)
    throw new Damage(newest(metas), 'the state does not follow the one before');
}

// LMDB writes new pages after the last one. That may be outside the file, because pages at its end that were freed
// again are not written, but not by much.
function checkLength(metas: [MetaPage, MetaPage], bytes: number): void {
  const { lastPage, pageSize } = metas[newest(metas)];
  if (lastPage > 2 * Math.ceil(bytes / pageSize) + unwrittenPages)
    throw new Damage(newest(metas), `the file should have ${lastPage + 1} pages`);
}

const unwrittenPages = 0x10000;

function createWalk(
  handle: number,
  metas: Metas,
  damage: PageDamage[],
  { mostLeafPages, span, unread }: PageCheckOptions & { span?: KeySpan; unread: KeySpan[] },
) {
  const { pageSize, lastPage, txn } = metas[newest(metas)];
  const pageCount = Math.min(lastPage + 1, Math.ceil(fstatSync(handle).size / pageSize));
  const used = span ? undefined : new Uint8Array(Math.ceil(pageCount / 8));
  const buffers: Buffer[] = []; // one for each level: the keys of a parent are needed for its children
  const room = pageSize - head.bytes;

  function claim(page: number, count = 1): void {
    if (page < firstPage || page + count > pageCount) throw new Damage(page, 'the page is outside the file');
    for (let n = page; used && n < page + count; n++) {
      const bit = 1 << (n % 8);
      if (used[n >> 3]! & bit) throw new Damage(n, 'the page is used twice');
      used[n >> 3]! |= bit;
    }
  }

  function read(page: number, into: Buffer): Buffer {
    if (readSync(handle, into, 0, into.length, page * pageSize) !== into.length)
      throw new Damage(page, 'the page is missing');
    if (numberAt(into, head.page) !== page) throw new Damage(page, 'the page is another');
    if (numberAt(into, head.txn) > txn) throw new Damage(page, 'the page is of a later state');
    return into;
  }

  function checkTree(tree: Tree, isFreeList: boolean): void {
    const before = damage.length;
    const counts = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
    let leafPages = 0; // that were read
    const meta = newest(metas);
    if (tree.flags % 0x100 !== (isFreeList ? integerKeys : 0) || tree.depth > deepest)
      throw new Damage(meta, `the page describes ${tree.name} wrongly`);
    if (tree.root < 0 !== (tree.depth === 0)) throw new Damage(meta, `the root of ${tree.name} is missing`);
    if (tree.root >= 0) attempt(() => visit(tree.root, 1, undefined, undefined));
    const isWhole = leafPages === counts.leafPages;
    if (damage.length > before || span) return;
    for (const name of ['branchPages', 'leafPages', 'overflowPages', 'entries'] as const)
      if (counts[name] !== tree[name] && (isWhole || name === 'branchPages' || name === 'leafPages'))
        damage.push({
          page: meta,
          message: `${tree.name} has ${counts[name]} ${name} and says ${tree[name]}`,
        });

    function attempt(work: () => void): void {
      if (damage.length >= describedDamage) return;
      try {
        work();
      } catch (error) {
        if (!(error instanceof Damage)) throw error;
        damage.push({ page: error.page, message: error.message });
      }
    }

    function visit(page: number, level: number, low: Buffer | undefined, high: Buffer | undefined): void {
      claim(page);
      const isLeaf = level === tree.depth;
      counts[isLeaf ? 'leafPages' : 'branchPages']++;
      if (isLeaf && !isFreeList && leafPages >= mostLeafPages) return;
      buffers[level] ??= Buffer.allocUnsafe(pageSize);
      const bytes = read(page, buffers[level]!);
      const nodes = readNodes(page, bytes, isLeaf);
      checkOrder(page, bytes, nodes, { low, high, isLeaf, isFreeList });
      if (isLeaf) {
        leafPages++;
        counts.entries += nodes.length;
        for (const at of nodes) attempt(() => checkValue(page, bytes, at));
        return;
      }
      for (const [n, at] of nodes.entries()) {
        const child = bytes.readUInt32LE(at) + bytes.readUInt16LE(at + node.flags) * 2 ** 32;
        const next = nodes[n + 1];
        const from = n === 0 ? low : keyOf(bytes, at);
        const until = next === undefined ? high : keyOf(bytes, next);
        if (!span || overlaps(span, from, until)) attempt(() => visit(child, level + 1, from, until));
      }
      const hasUnread = level === tree.depth - 1 && leafPages < counts.leafPages;
      if (hasUnread && !isFreeList)
        unread.push({ low: low && Buffer.from(low), high: high && Buffer.from(high) });
    }

    function checkValue(page: number, bytes: Buffer, at: number): void {
      const isLarge = bytes.readUInt16LE(at + node.flags) === flag.largeData;
      const dataBytes = bytes.readUInt32LE(at);
      const start = at + node.bytes + bytes.readUInt16LE(at + node.keyBytes);
      let value = bytes.subarray(start, start + dataBytes);
      if (isLarge) {
        const first = numberAt(bytes, start);
        // A value that was replaced by a shorter one keeps its pages.
        const count = numberAt(bytes, start + 16);
        if (count < Math.ceil((head.bytes + dataBytes) / pageSize))
          throw new Damage(page, 'a large value is cut');
        claim(first, count);
        counts.overflowPages += count;
        const large = read(first, Buffer.allocUnsafe(isFreeList ? count * pageSize : head.bytes));
        if (large.readUInt16LE(head.flags) !== flag.overflow || large.readUInt32LE(head.pages) !== count)
          throw new Damage(first, 'the page does not hold the large value it should');
        value = large.subarray(head.bytes, head.bytes + dataBytes);
      }
      if (isFreeList) checkFree(page, value);
    }
  }

  // LMDB writes into the pages that are listed as free.
  function checkFree(page: number, list: Buffer): void {
    if (list.length < 8 || list.length % 8 !== 0) throw new Damage(page, 'a list of free pages is cut');
    const count = numberAt(list, 0);
    if (8 * (count + 1) > list.length) throw new Damage(page, 'a list of free pages is cut');
    for (let n = 1; n <= count; n++) {
      const entry = Number(list.readBigInt64LE(8 * n));
      if (entry === 0) continue;
      // A negative number is a length, and the next one where that many pages begin.
      if (entry < 0 && n === count) throw new Damage(page, 'a list of free pages is cut');
      const length = entry < 0 ? -entry : 1;
      const first = entry < 0 ? Number(list.readBigInt64LE(8 * ++n)) : entry;
      if (first < firstPage || first + length > lastPage + 1)
        throw new Damage(page, 'a list of free pages names one outside the file');
    }
  }

  // Finds the nodes of a page. Together they take all the space that the page says is taken.
  function readNodes(page: number, bytes: Buffer, isLeaf: boolean): number[] {
    if (bytes.readUInt16LE(head.flags) !== (isLeaf ? flag.leaf : flag.branch))
      throw new Damage(page, 'the page is of another kind');
    const lower = bytes.readUInt16LE(head.lower);
    const upper = bytes.readUInt16LE(head.upper);
    if (lower % 2 !== 0 || lower > upper || upper > room)
      throw new Damage(page, 'the page has no such space');
    const count = lower / 2;
    if (count < (isLeaf ? 1 : 2)) throw new Damage(page, 'the page is empty');
    const nodes: number[] = [];
    let taken = 0;
    for (let n = 0; n < count; n++) {
      const offset = bytes.readUInt16LE(head.bytes + 2 * n);
      if (offset < upper || offset + node.bytes > room)
        throw new Damage(page, 'an entry is outside the page');
      const size = nodeBytes(page, bytes, head.bytes + offset, isLeaf);
      if (offset + size > room) throw new Damage(page, 'an entry is longer than the page');
      taken += size + (size % 2);
      nodes.push(head.bytes + offset);
    }
    if (taken !== room - upper) throw new Damage(page, 'the entries do not fill the page');
    return nodes;
  }

  function nodeBytes(page: number, bytes: Buffer, at: number, isLeaf: boolean): number {
    const keyBytes = bytes.readUInt16LE(at + node.keyBytes);
    if (!isLeaf) return node.bytes + keyBytes;
    const flags = bytes.readUInt16LE(at + node.flags);
    if (flags !== 0 && flags !== flag.largeData) throw new Damage(page, 'an entry is of an unknown kind');
    if (keyBytes === 0) throw new Damage(page, 'an entry has no key');
    return node.bytes + keyBytes + (flags === 0 ? bytes.readUInt32LE(at) : largeBytes);
  }

  return { checkTree };
}

const overlaps = ({ low, high }: KeySpan, from: Buffer | undefined, until: Buffer | undefined): boolean =>
  (!high || !from || Buffer.compare(from, high) < 0) && (!low || !until || Buffer.compare(low, until) < 0);

const integerKeys = 0x08; // in the lower byte; the upper one is how LMDB has opened the file
const largeBytes = 24; // where the pages of a large value are, in place of the value

const keyOf = (bytes: Buffer, at: number): Buffer =>
  bytes.subarray(at + node.bytes, at + node.bytes + bytes.readUInt16LE(at + node.keyBytes));

type Bounds = { low: Buffer | undefined; high: Buffer | undefined; isLeaf: boolean; isFreeList: boolean };

// Keys rise on a page, and stay within those of its parent. The first key of a branch is not looked at by LMDB.
function checkOrder(
  page: number,
  bytes: Buffer,
  nodes: number[],
  { low, high, isLeaf, isFreeList }: Bounds,
): void {
  const compare = isFreeList ? compareNumbers : Buffer.compare;
  let before = low;
  for (const [n, at] of nodes.entries()) {
    if (n === 0 && !isLeaf) continue;
    const key = keyOf(bytes, at);
    if (isFreeList && key.length !== 8) throw new Damage(page, 'a list of free pages has no number');
    const order = before ? compare(before, key) : -1;
    // The first key of a child may be that of its parent.
    if (order > 0 || (order === 0 && before !== low)) throw new Damage(page, 'the keys are not in order');
    before = key;
  }
  if (high && before && compare(before, high) >= 0) throw new Damage(page, 'a key belongs to another page');
}

const compareNumbers = (a: Buffer, b: Buffer): number => numberAt(a, 0) - numberAt(b, 0);
