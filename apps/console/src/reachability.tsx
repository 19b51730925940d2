import { Alert } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useSyncExternalStore } from 'react';

let isReachable = true;
const listeners = new Set<() => void>();

function become(reachable: boolean): void {
  if (isReachable === reachable) return;
  isReachable = reachable;
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
  return () => listeners.delete(listener);
}

export function Reachability() {
  const isThere = useSyncExternalStore(subscribe, () => isReachable);
  const wasThere = useRef(true);
  const queries = useQueryClient();
  useEffect(() => {
    if (isThere && !wasThere.current) void queries.invalidateQueries();
    wasThere.current = isThere;
  }, [isThere, queries]);
  if (isThere) return null;
  return (
    <Alert color="orange" mb="md" role="status" title="The server cannot be reached">
      What you see may be old. It goes on by itself when the connection is back.
    </Alert>
  );
}
