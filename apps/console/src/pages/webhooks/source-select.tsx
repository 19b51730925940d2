import { Select } from '@mantine/core';
import { useSources } from './queries.ts';

type Props = { value: string | undefined; onChange: (sourceId: string | undefined) => void; w?: number };

/** One source of the account, or all of them. */
export function SourceSelect({ value, onChange, w }: Props) {
  const { data: sources = [] } = useSources();
  return (
    <Select
      label="Source"
      placeholder="All"
      clearable
      searchable
      clearButtonProps={{ 'aria-label': 'All sources' }}
      data={sources.map(source => ({ value: source.sourceId, label: source.name }))}
      value={value ?? null}
      onChange={next => onChange(next ?? undefined)}
      w={w}
    />
  );
}
