import type { Store } from './store.ts';

const everyMs = 20; // a megabyte is verified within two milliseconds

/** Verifies the pages that were not read when the store was opened, some at a time. Returns a function that stops it. */
export function verifyInBackground(
  { verifyPages }: Pick<Store, 'verifyPages'>,
  onError: (error: Error, work: string) => void,
): () => void {
  let timer = setTimeout(verify, everyMs).unref();

  function verify(): void {
    let hasMore = true;
    try {
      hasMore = verifyPages();
    } catch (error) {
      onError(error as Error, 'verify pages');
    }
    if (hasMore) timer = setTimeout(verify, everyMs).unref();
  }

  return () => clearTimeout(timer);
}
