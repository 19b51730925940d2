import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { Suspense, useState } from 'react';
import { lateComponent } from './late-module.tsx';
import type { PageLink } from './navigation.tsx';

// Few people press the keys, and the first page should not wait for them.
const Palette = lateComponent(() => import('./palette.tsx'));
const ShortcutHelp = lateComponent(() => import('./shortcut-help.tsx'));

export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
const focus = (selector: string) => {
  const target = document.querySelector<HTMLElement>(selector);
  if (target instanceof HTMLButtonElement) target.click();
  else target?.focus();
};

/** Whether it is true, or was before: what has been opened stays, so that it can close. */
export function useWasTrue(isTrue: boolean): boolean {
  const [was, setWas] = useState(isTrue);
  if (isTrue && !was) setWas(true);
  return was;
}

/** The keys of the console, and the way to the palette for those who would rather click. */
export function useShortcuts(pages: readonly PageLink[]) {
  const [isHelpOpen, help] = useDisclosure(false);
  const isHelpWanted = useWasTrue(isHelpOpen);
  const [opened, setOpened] = useState(0); // how often: each time is a palette of its own
  const openPalette = () => setOpened(count => count + 1);
  useHotkeys([['mod+K', openPalette]], []); // in a field too
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
