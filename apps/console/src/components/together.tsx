import { useIsFetching } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { PageLoading } from '../shell/late-module.tsx';

/**
 * Shows what is in it once everything in it has been read for the first time. Where several parts stand below each
 * other and each is read by itself, one that arrives would push the others away while somebody looks at them.
 */
export function Together({ children }: { children: ReactNode }) {
  const [isShown, setIsShown] = useState(false);
  const isReading = useIsFetching({ predicate: ({ state }) => state.status === 'pending' }) > 0;
  useEffect(() => {
    if (isReading || isShown) return;
    // What has just arrived may read something more.
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
