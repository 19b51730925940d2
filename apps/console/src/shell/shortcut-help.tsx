import { Kbd, Modal, Table } from '@mantine/core';
import { isMac } from './shortcuts.tsx';

const keys: [keys: string[], what: string][] = [
  [[isMac ? '⌘' : 'Ctrl', 'K'], 'Go to a page, search, or open something by its id'],
  [['/'], 'Search on this page'],
  [['C'], 'Create on this page'],
  [['J'], 'Next event in a list of events'],
  [['K'], 'Previous event'],
  [['Enter'], 'Open the marked event'],
  [['X'], 'Choose the marked event'],
  [['R'], 'Replay the open or marked event'],
  [['Esc'], 'Close what is open beside a list'],
  [['?'], 'Show these shortcuts'],
  [['Space'], 'Pick up a task on the board or in the calendar, and drop it'],
];

export default function ShortcutHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keyboard shortcuts">
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
  );
}
