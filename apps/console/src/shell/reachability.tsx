import { Alert } from '@mantine/core';
import { onlineManager, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useSyncExternalStore } from 'react';

const probeMs = 2000;

let hasAnswered = true;
let probing: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();
const isReachable = (): boolean => hasAnswered;

// Only the server's answers count: a browser may be offline with a server on the same machine, or online without
// reaching the server. Requests wait meanwhile.
onlineManager.setEventListener(() => undefined);

function become(answering: boolean): void {
  if (!answering) probing ??= setTimeout(probe, probeMs);
  if (hasAnswered === answering) return;
  hasAnswered = answering;
  onlineManager.setOnline(answering);
  for (const listener of listeners) listener();
}

function probe(): void {
  void checkServer();
}

export async function checkServer(): Promise<boolean> {
  clearTimeout(probing);
  probing = undefined;
  return watchedFetch('/healthz', { cache: 'no-store' }).then(
    () => true,
    () => false,
  );
}

export const untilReachable = (): Promise<void> =>
  new Promise(resolve => {
    if (hasAnswered) return resolve();
    const listener = () => {
      if (!hasAnswered) return;
      listeners.delete(listener);
      resolve();
    };
    listeners.add(listener);
  });

export async function watchedFetch(url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, init);
    become(true);
    return response;
  } catch (error) {
    if (!init.signal?.aborted) become(false);
    throw error;
  }
}

// When the network changes, check twice: a network that is going down may still carry the first request.
function networkChanged(): void {
  probe();
  probing = setTimeout(probe, probeMs);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('online', networkChanged);
  addEventListener('offline', networkChanged);
  return () => {
    listeners.delete(listener);
    removeEventListener('online', networkChanged);
    removeEventListener('offline', networkChanged);
  };
}

export const useReachable = (): boolean => useSyncExternalStore(subscribe, isReachable);

export function Reachability() {
  const isThere = useReachable();
  const wasThere = useRef(true);
  const queries = useQueryClient();
  useEffect(() => {
    if (isThere && !wasThere.current) void queries.invalidateQueries();
    wasThere.current = isThere;
  }, [isThere, queries]);
  if (isThere) return null;
  return (
    <Alert color="orange" mb="md" role="status" title="The server cannot be reached">
      You may be looking at old data. The console reconnects by itself and then sends the changes you made in
      the meantime.
    </Alert>
  );
}
