import { Kbd, Modal, Table } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { Suspense, useState } from 'react';
import { lateComponent } from './late-module.tsx';
import type { PageLink } from './navigation.tsx';

// Few people press the keys, and the first page should not wait for it.
const Palette = lateComponent(() => import('./palette.tsx'));

export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
const keys: [keys: string[], what: string][] = [
  [[isMac ? '⌘' : 'Ctrl', 'K'], 'Go to a page, search, or open something by its id'],
  [['/'], 'Search on this page'],
  [['C'], 'Create on this page'],
  [['?'], 'Show these shortcuts'],
  [['Space'], 'Pick up a task on the board or in the calendar, and drop it'],
];

const focus = (selector: string) => {
  const target = document.querySelector<HTMLElement>(selector);
  if (target instanceof HTMLButtonElement) target.click();
  else target?.focus();
};

/** The keys of the console, and the way to the palette for those who would rather click. */
export function useShortcuts(pages: readonly PageLink[]) {
  const [isHelpOpen, help] = useDisclosure(false);
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
      <Modal opened={isHelpOpen} onClose={help.close} title="Keyboard shortcuts">
        <Table>
          <Table.Tbody>
            {keys.map(([combination, what]) => (
              <Table.Tr key={what}>
                <Table.Td w={120}>
                  {combination.map(key => (
                    <Kbd key={key} mr={4}>
                      {key}
                    </Kbd>
                  ))}
                </Table.Td>
                <Table.Td>{what}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Modal>
    </>
  );
  return { openPalette, openHelp: help.open, dialogs };
}
