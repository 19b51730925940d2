import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useEffectEvent, useRef, useState } from 'react';

// Text that is written to the URL when typing pauses. Going back in the history changes the text.
export function useAddressText(
  inAddress: string,
  onSettled: (text: string) => void,
  pauseMs = 300,
): readonly [string, (text: string) => void] {
  const [text, setText] = useState(inAddress);
  const [settled] = useDebouncedValue(text.trim(), pauseMs);
  const known = useRef(inAddress);
  const tell = useEffectEvent(onSettled);
  useEffect(() => {
    if (settled === known.current) return;
    known.current = settled;
    tell(settled);
  }, [settled]);
  useEffect(() => {
    if (inAddress === known.current) return;
    known.current = inAddress;
    setText(inAddress);
  }, [inAddress]);
  return [text, setText];
}
