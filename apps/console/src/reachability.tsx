import { Alert } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useSyncExternalStore } from 'react';

let hasAnswered = true;
const listeners = new Set<() => void>();
const isReachable = (): boolean => hasAnswered && navigator.onLine;

function become(answering: boolean): void {
  if (hasAnswered === answering) return;
  hasAnswered = answering;
  for (const listener of listeners) listener();
}

// Streams try again forever: one that gets through tells that the server is back.
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

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('online', listener);
  addEventListener('offline', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('online', listener);
    removeEventListener('offline', listener);
  };
}

export function Reachability() {
  const isThere = useSyncExternalStore(subscribe, isReachable);
  const wasThere = useRef(true);
  const queries = useQueryClient();
  useEffect(() => {
    if (isThere && !wasThere.current) void queries.invalidateQueries();
    wasThere.current = isThere;
  }, [isThere, queries]);
  if (isThere) return null;
  return (
    <Alert color="orange" mb="md" role="status" title="The server cannot be reached">
      What you see may be old. It goes on by itself when the connection is back, with what you do meanwhile.
    </Alert>
  );
}
