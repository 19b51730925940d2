import { ActionIcon, Button, Group, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { CodeField } from '../../components/fields/code-field.tsx';
import {
  draftFilters,
  type FilterDraft,
  filtersOf,
  type Operator,
  operatorNames,
  type RuleDraft,
  takesValue,
} from './filter-draft.ts';

const fields = [
  { value: 'body', label: 'Body' },
  { value: 'header', label: 'Header' },
  { value: 'query', label: 'Query' },
  { value: 'method', label: 'Method' },
];
const operatorChoices = Object.entries(operatorNames).map(([value, label]) => ({ value, label }));
const newRule: RuleDraft = { field: 'body', path: '$.type', operator: 'equals', value: '' };

type Props = { value: string; onChange: (json: string) => void; error: string | undefined };

function draftOf(json: string): FilterDraft | undefined {
  try {
    const parsed: unknown = JSON.parse(json);
    return Array.isArray(parsed) ? draftFilters(parsed) : undefined;
  } catch {
    return undefined;
  }
}

/** Edits a filter as rows of rules or as JSON. The JSON is what is saved. */
export function FilterBuilder({ value, onChange, error }: Props) {
  const draft = draftOf(value);
  const [isJson, setIsJson] = useState(draft === undefined);
  const change = (next: FilterDraft) => onChange(JSON.stringify(filtersOf(next), null, 2));
  const showsJson = isJson || draft === undefined;
  return (
    <Stack gap="xs" role="group" aria-label="Filter">
      <Group justify="space-between">
        <div>
          <Text size="sm" fw={600}>
            Filter
          </Text>
          <Text size="xs" c="dimmed">
            Which events are delivered. Without a rule, every event is.
          </Text>
        </div>
        <SegmentedControl
          size="xs"
          aria-label="Filter as"
          data={[
            { value: 'rules', label: 'Rules', disabled: draft === undefined },
            { value: 'json', label: 'JSON' },
          ]}
          value={showsJson ? 'json' : 'rules'}
          onChange={next => setIsJson(next === 'json')}
        />
      </Group>
      {showsJson ? (
        <CodeField
          label="Filter as JSON"
          isLabelHidden
          language="json"
          value={value}
          onChange={onChange}
          error={error}
          minRows={4}
        />
      ) : (
        <Rows draft={draft} onChange={change} />
      )}
      {!showsJson && error !== undefined && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {error}
        </Text>
      )}
    </Stack>
  );
}

function Rows({ draft, onChange }: { draft: FilterDraft; onChange: (draft: FilterDraft) => void }) {
  const { match, rules } = draft;
  const put = (at: number, part: Partial<RuleDraft>) =>
    onChange({ match, rules: rules.map((rule, index) => (index === at ? { ...rule, ...part } : rule)) });
  return (
    <>
      {rules.length > 1 && (
        <Select
          aria-label="How many rules have to match"
          size="xs"
          w={200}
          data={[
            { value: 'all', label: 'All rules match' },
            { value: 'any', label: 'Any rule matches' },
          ]}
          value={match}
          allowDeselect={false}
          onChange={value => onChange({ match: value === 'any' ? 'any' : 'all', rules })}
        />
      )}
      {rules.map((rule, at) => (
        <RuleRow
          // biome-ignore lint/suspicious/noArrayIndexKey: rules have no id but their position
          key={at}
          rule={rule}
          number={at + 1}
          onChange={part => put(at, part)}
          onRemove={() => onChange({ match, rules: rules.filter((_, index) => index !== at) })}
        />
      ))}
      <div>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconPlus size={14} />}
          onClick={() => onChange({ match, rules: [...rules, newRule] })}
        >
          Add rule
        </Button>
      </div>
    </>
  );
}

type RowProps = {
  rule: RuleDraft;
  number: number;
  onChange: (part: Partial<RuleDraft>) => void;
  onRemove: () => void;
};

function RuleRow({ rule, number, onChange, onRemove }: RowProps) {
  const { field, path, operator, value } = rule;
  return (
    <fieldset className="stak-rule" aria-label={`Rule ${number}`}>
      <Select
        aria-label="Part of the request"
        size="xs"
        data={fields}
        value={field}
        allowDeselect={false}
        onChange={next =>
          onChange({
            field: next as RuleDraft['field'],
            path:
              next === 'body'
                ? '$.type'
                : next === 'header'
                  ? 'x-event-type'
                  : next === 'query'
                    ? 'type'
                    : '',
          })
        }
      />
      {field === 'method' ? (
        <span />
      ) : (
        <TextInput
          aria-label={field === 'body' ? 'Path in the body' : 'Name'}
          size="xs"
          value={path}
          placeholder={field === 'body' ? '$.amount' : 'x-event-type'}
          onChange={event => onChange({ path: event.currentTarget.value })}
          classNames={{ input: 'stak-mono' }}
        />
      )}
      <Select
        aria-label="Comparison"
        size="xs"
        data={operatorChoices}
        value={operator}
        allowDeselect={false}
        onChange={next => onChange({ operator: next as Operator })}
      />
      {takesValue(operator) ? (
        <TextInput
          aria-label="Value"
          size="xs"
          value={value}
          placeholder="order.paid, 1000, true"
          onChange={event => onChange({ value: event.currentTarget.value })}
          classNames={{ input: 'stak-mono' }}
        />
      ) : (
        <span />
      )}
      <ActionIcon variant="subtle" color="gray" aria-label={`Remove rule ${number}`} onClick={onRemove}>
        <IconTrash size={16} />
      </ActionIcon>
    </fieldset>
  );
}
