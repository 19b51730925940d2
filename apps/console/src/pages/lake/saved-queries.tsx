import { ActionIcon, Button, Group, Menu } from '@mantine/core';
import { IconBookmark, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { Prompt } from '../../components/prompt.tsx';
import { useSavedList } from '../../components/saved-list.ts';

/** Queries that somebody keeps, in this browser. */
export function SavedQueries({ sql, onPick }: { sql: string; onPick: (sql: string) => void }) {
  const saved = useSavedList<string>('queries');
  const [isNaming, setIsNaming] = useState(false);
  return (
    <>
      <Menu position="bottom-end" width={260}>
        <Menu.Target>
          <Button variant="default" leftSection={<IconBookmark size={16} aria-hidden />}>
            Saved queries
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {saved.all.length > 0 && <Menu.Label>Saved in this browser</Menu.Label>}
          {saved.all.map(({ name, value }) => (
            <Group key={name} gap={4} wrap="nowrap">
              <Menu.Item onClick={() => onPick(value)}>{name}</Menu.Item>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Delete the query ${name}`}
                onClick={() => saved.remove(name)}
              >
                <IconTrash size={14} />
              </ActionIcon>
            </Group>
          ))}
          <Menu.Item disabled={sql.trim() === ''} onClick={() => setIsNaming(true)}>
            Save this query…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Prompt
        isOpen={isNaming}
        title="Save this query"
        label="Name of the query"
        onClose={() => setIsNaming(false)}
        onSubmit={name => saved.add(name, sql)}
      />
    </>
  );
}
