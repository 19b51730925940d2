import { ActionIcon, Menu } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { Fragment } from 'react';

type Choice = readonly [label: string, term: string];
type Group = readonly [label: string, choices: readonly Choice[]];

// These are the terms that most people filter by. The guide has the rest of the language.
const groups: readonly Group[] = [
  [
    'Due',
    [
      ['Overdue', 'is:overdue'],
      ['Today', 'due:today'],
      ['Within a week', 'due<=+7d'],
      ['Without a date', 'due:none'],
    ],
  ],
  [
    'Priority',
    [
      ['High or more', 'priority>=high'],
      ['Urgent', 'priority:urgent'],
    ],
  ],
  [
    'State',
    [
      ['Open', 'is:open'],
      ['Done', 'status:completed'],
      ['Not cancelled', '-status:cancelled'],
    ],
  ],
];

/** The filter with the term, or without it if it has it already. */
function withTerm(filter: string, term: string): string {
  const terms = filter.split(/\s+/).filter(Boolean);
  return (terms.includes(term) ? terms.filter(one => one !== term) : [...terms, term]).join(' ');
}

type Props = { filter: string; isDisabled: boolean; onChange: (filter: string) => void };

/** Builds a filter without knowing its language. */
export function FilterMenu({ filter, isDisabled, onChange }: Props) {
  const terms = new Set(filter.split(/\s+/));
  return (
    <Menu position="bottom-end" closeOnItemClick={false}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label="Add to the filter" disabled={isDisabled}>
          <IconPlus size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {groups.map(([label, choices]) => (
          <Fragment key={label}>
            <Menu.Label>{label}</Menu.Label>
            {choices.map(([name, term]) => (
              <Menu.CheckboxItem
                key={term}
                checked={terms.has(term)}
                onChange={() => onChange(withTerm(filter, term))}
              >
                {name}
              </Menu.CheckboxItem>
            ))}
          </Fragment>
        ))}
        <Menu.Divider />
        <Menu.Item component="a" href="/docs/guides/tasks">
          The language of filters
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
