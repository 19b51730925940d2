import { needsRecovery, recoverStore } from './journal/recovery.ts';
import { hasLivePeer } from './peers.ts';
import { type Catalog, createCatalog } from './storage/catalog.ts';
import { StoreError, storeExists } from './storage/file.ts';
import { claimFormat, openStore, type Store } from './storage/store.ts';

// Opens the file of a store: recovered after a power failure, of a format that is known, and with a catalog that can be
// read.

type OpenOptions = { mayCreate: boolean; readOnly: boolean; pagesVerifiedAtOpen: number | undefined };

export async function openChecked(
  path: string,
  { mayCreate, readOnly, ...verifying }: OpenOptions,
): Promise<{ store: Store; catalog: Catalog }> {
  if (!mayCreate && path !== ':memory:' && !storeExists(path))
    throw new StoreError(`there is no store in ${path}`);
  if (path !== ':memory:') await recoverIfNeeded(path);
  const store = openStore(path, verifying);
  try {
    await claimFormat(store, { mayWrite: !readOnly, isServed: () => hasLivePeer(path) });
    const catalog = createCatalog(store);
    catalog.list(); // a damaged description is reported before anything runs
    return { store, catalog };
  } catch (error) {
    await store.close();
    throw error instanceof StoreError
      ? error
      : new StoreError(`cannot use ${path}: ${(error as Error).message}`);
  }
}

// If a process has the store open, the machine has not stopped since: that process has recovered it.
async function recoverIfNeeded(path: string): Promise<void> {
  if (!needsRecovery(path)) return;
  if (!(await hasLivePeer(path))) return recoverStore(path);
  if (needsRecovery(path))
    throw new StoreError(`${path} is in use, but not by a process of this machine: stop the other one first`);
}
