import { useIsFetching } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { PageLoading } from '../../shell/late-module.tsx';

/**
 * Shows its children once all of their queries have loaded. Parts that load one by one would push each other down
 * while somebody is reading.
 */
export function Together({ children }: { children: ReactNode }) {
  const [isShown, setIsShown] = useState(false);
  const isReading = useIsFetching({ predicate: ({ state }) => state.status === 'pending' }) > 0;
  useEffect(() => {
    if (isReading || isShown) return;
    // The parts that just arrived may start queries of their own.
    const frame = requestAnimationFrame(() => setIsShown(true));
    return () => cancelAnimationFrame(frame);
  }, [isReading, isShown]);
  return (
    <>
      {!isShown && (
        <div style={{ position: 'relative' }}>
          <div style={{ position: 'absolute', insetInline: 0 }}>
            <PageLoading />
          </div>
        </div>
      )}
      <div style={{ display: 'contents', ...(!isShown && { visibility: 'hidden' }) }}>{children}</div>
    </>
  );
}
