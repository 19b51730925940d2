import { ActionIcon, Button, Group, Menu } from '@mantine/core';
import { IconBookmark, IconTrash } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { Prompt } from './prompt.tsx';
import { useSavedList } from './saved-list.ts';

type Props<Value> = {
  kind: string; // under which they are kept
  what: string; // one of them, as in "Delete the view …"
  label: string;
  saveLabel: string;
  value: Value | undefined; // that can be saved now
  onPick: (value: Value) => void;
  children?: ReactNode; // further items
};

/** Named things that somebody keeps in this browser: picks one, saves another. */
export function SavedMenu<Value>({ kind, what, label, saveLabel, value, onPick, children }: Props<Value>) {
  const saved = useSavedList<Value>(kind);
  const [isNaming, setIsNaming] = useState(false);
  return (
    <>
      <Menu position="bottom-end" width={260}>
        <Menu.Target>
          <Button variant="default" leftSection={<IconBookmark size={16} aria-hidden />}>
            {label}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {saved.all.length > 0 && <Menu.Label>Saved in this browser</Menu.Label>}
          {saved.all.map(one => (
            <Group key={one.name} gap={4} wrap="nowrap">
              <Menu.Item onClick={() => onPick(one.value)}>{one.name}</Menu.Item>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Delete the ${what} ${one.name}`}
                onClick={() => saved.remove(one.name)}
              >
                <IconTrash size={14} />
              </ActionIcon>
            </Group>
          ))}
          <Menu.Item disabled={value === undefined} onClick={() => setIsNaming(true)}>
            {saveLabel}…
          </Menu.Item>
          {children}
        </Menu.Dropdown>
      </Menu>
      <Prompt
        isOpen={isNaming}
        title={saveLabel}
        label={`Name of the ${what}`}
        onClose={() => setIsNaming(false)}
        onSubmit={name => value !== undefined && saved.add(name, value)}
      />
    </>
  );
}
