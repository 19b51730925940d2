import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { Suspense, useState } from 'react';
import { lateComponent } from './late-module.tsx';
import type { PageLink } from './navigation.tsx';

// Few people use shortcuts, so the first page does not wait for them.
const Palette = lateComponent(() => import('./palette.tsx'));
const ShortcutHelp = lateComponent(() => import('./shortcut-help.tsx'));

export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
const focus = (selector: string) => {
  const target = document.querySelector<HTMLElement>(selector);
  if (target instanceof HTMLButtonElement) target.click();
  else target?.focus();
};

/** Whether it is or ever was true. Keeps a dialog mounted after it was opened, so that it can animate its closing. */
export function useWasTrue(isTrue: boolean): boolean {
  const [was, setWas] = useState(isTrue);
  if (isTrue && !was) setWas(true);
  return was;
}

/** The console's keyboard shortcuts, and a button that opens the palette. */
export function useShortcuts(pages: readonly PageLink[]) {
  const [isHelpOpen, help] = useDisclosure(false);
  const isHelpWanted = useWasTrue(isHelpOpen);
  const [opened, setOpened] = useState(0); // how often, as the key of a fresh palette
  const openPalette = () => setOpened(count => count + 1);
  useHotkeys([['mod+K', openPalette]], []); // also inside fields
  useHotkeys([
    ['/', () => focus('[data-search]')],
    ['C', () => focus('[data-create]')],
    ['shift+?', help.open],
    ['?', help.open],
  ]);
  const dialogs = (
    <>
      {opened > 0 && (
        <Suspense>
          <Palette key={opened} pages={pages} />
        </Suspense>
      )}
      {isHelpWanted && (
        <Suspense>
          <ShortcutHelp isOpen={isHelpOpen} onClose={help.close} />
        </Suspense>
      )}
    </>
  );
  return { openPalette, openHelp: help.open, dialogs };
}
