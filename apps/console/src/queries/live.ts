import type { ServerEvent, StreamOptions } from '@stak/client';
import { useEffect, useEffectEvent } from 'react';

type Open = (options: StreamOptions) => AsyncGenerator<ServerEvent, void, undefined>;

// Follows an event stream while the page is open. The client reconnects by itself. Without a name there is no stream.
export function useLive(name: string | undefined, open: Open, onEvent: (event: ServerEvent) => void): void {
  const start = useEffectEvent(open);
  const hear = useEffectEvent(onEvent);
  useEffect(() => {
    if (name === undefined) return;
    const leaving = new AbortController();
    const follow = async () => {
      for await (const event of start({ signal: leaving.signal })) hear(event);
    };
    // Without the stream, the page still shows what it has loaded.
    follow().catch(() => {});
    return () => leaving.abort();
  }, [name]);
}
