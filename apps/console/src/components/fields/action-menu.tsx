import { ActionIcon, type ActionIconProps, Menu } from '@mantine/core';
import { IconDots, type IconPencil } from '@tabler/icons-react';
import { useState } from 'react';
import { type OperationId, useMay } from '../../queries/permissions.ts';
import { ConfirmDialog, type Question } from './confirm.tsx';

type Action = {
  label: string;
  icon?: typeof IconPencil;
  question?: Question; // asked before the action runs
  needs?: OperationId; // hidden from people who may not call this
  onClick: () => void;
};

type Props = Pick<ActionIconProps, 'variant' | 'size'> & {
  label: string; // whose actions they are
  actions: readonly Action[];
};

// The actions of one item behind three dots. The dialogs are outside the menu, because a click closes it.
export function ActionMenu({ label, actions: all, variant = 'subtle', size }: Props) {
  const [asked, setAsked] = useState<string>();
  const may = useMay();
  const actions = all.filter(({ needs }) => needs === undefined || may(needs));
  if (actions.length === 0) return null;
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant={variant} color="gray" size={size} aria-label={label}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {actions.map(({ label, icon: Icon, question, onClick }) => (
            <Menu.Item
              key={label}
              leftSection={Icon && <Icon size={16} />}
              onClick={question ? () => setAsked(label) : onClick}
            >
              {label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {actions.map(
        ({ label, question, onClick }) =>
          question && (
            <ConfirmDialog
              key={label}
              {...question}
              isOpen={asked === label}
              onConfirm={onClick}
              onClose={() => setAsked(undefined)}
            />
          ),
      )}
    </>
  );
}
