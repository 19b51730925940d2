import type { ServerEvent, StreamOptions } from '@stak/client';
import { useEffect, useEffectEvent } from 'react';

type Open = (options: StreamOptions) => AsyncGenerator<ServerEvent, void, undefined>;

// Hears what happens for as long as the page is open. The client goes on by itself where a connection broke.
export function useLive(name: string, open: Open, onEvent: (event: ServerEvent) => void): void {
  const start = useEffectEvent(open);
  const hear = useEffectEvent(onEvent);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another name is another stream
  useEffect(() => {
    const leaving = new AbortController();
    const follow = async () => {
      for await (const event of start({ signal: leaving.signal })) hear(event);
    };
    // What cannot be followed is still shown as it was when it was read.
    follow().catch(() => {});
    return () => leaving.abort();
  }, [name]);
}
