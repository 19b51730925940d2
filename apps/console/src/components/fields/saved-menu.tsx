import { Button, Group, Menu } from '@mantine/core';
import { IconBookmark, IconTrash } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useMay } from '../../queries/permissions.ts';
import { type SavedKind, type SavedText, useSaved } from '../../queries/saved.ts';
import { Prompt } from './prompt.tsx';

type Props = {
  kind: SavedKind;
  what: string; // the noun for one of them, as in "Delete the view …"
  label: string;
  saveLabel: string;
  text: string | undefined; // the text that can be saved now
  onPick: (text: string) => void;
  children?: ReactNode; // further items
};

/** A menu of the organisation's saved items: pick one, or save another. */
export function SavedMenu({ kind, what, label, saveLabel, text, onPick, children }: Props) {
  const saved = useSaved(kind);
  const may = useMay();
  const maySave = may('accounts.save');
  const mayRemove = may('accounts.removeSaved');
  const [isNaming, setIsNaming] = useState(false);
  const item = (one: SavedText, remove?: (one: SavedText) => void) => (
    <Group key={one.name} gap={4} wrap="nowrap">
      <Menu.Item onClick={() => onPick(one.text)}>{one.name}</Menu.Item>
      {remove && (
        <Menu.Item
          w="auto"
          aria-label={`Delete the ${what} ${one.name}`}
          closeMenuOnClick={false}
          onClick={() => remove(one)}
        >
          <IconTrash size={14} aria-hidden />
        </Menu.Item>
      )}
    </Group>
  );
  return (
    <>
      <Menu position="bottom-end" width={260} withinPortal={false}>
        <Menu.Target>
          <Button variant="default" leftSection={<IconBookmark size={16} aria-hidden />}>
            {label}
          </Button>
        </Menu.Target>
        <Menu.Dropdown mah={400} style={{ overflowY: 'auto' }}>
          {saved.shared.length > 0 && <Menu.Label>Saved for the organisation</Menu.Label>}
          {saved.shared.map(one => item(one, mayRemove ? saved.remove : undefined))}
          {saved.local.length > 0 && <Menu.Label>Only in this browser</Menu.Label>}
          {saved.local.map(one => item(one, saved.removeLocal))}
          {saved.local.length > 0 && maySave && (
            <Menu.Item disabled={saved.isLoading} onClick={() => saved.share()}>
              Move {saved.local.length === 1 ? 'it' : 'them'} to the organisation
            </Menu.Item>
          )}
          {maySave && (
            <Menu.Item disabled={text === undefined} onClick={() => setIsNaming(true)}>
              {saveLabel}…
            </Menu.Item>
          )}
          {children}
        </Menu.Dropdown>
      </Menu>
      <Prompt
        isOpen={isNaming}
        title={saveLabel}
        label={`Name of the ${what}`}
        taken={saved.shared.map(({ name }) => name)}
        onClose={() => setIsNaming(false)}
        onSubmit={name => text !== undefined && saved.save({ name, text })}
      />
    </>
  );
}
