import type { ServerEvent, StreamOptions } from '@stak/client';
import { useEffect, useEffectEvent } from 'react';

type Open = (options: StreamOptions) => AsyncGenerator<ServerEvent, void, undefined>;

// Hears what happens for as long as the page is open. The client goes on by itself where a connection broke. Without a
// name there is nothing to hear.
export function useLive(name: string | undefined, open: Open, onEvent: (event: ServerEvent) => void): void {
  const start = useEffectEvent(open);
  const hear = useEffectEvent(onEvent);
  useEffect(() => {
    if (name === undefined) return;
    const leaving = new AbortController();
    const follow = async () => {
      for await (const event of start({ signal: leaving.signal })) hear(event);
    };
    // What cannot be followed is still shown as it was when it was read.
    follow().catch(() => {});
    return () => leaving.abort();
  }, [name]);
}
