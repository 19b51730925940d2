import { Badge, Group, Text } from '@mantine/core';
import { IconBolt, IconDownload, IconSparkles, IconTool } from '@tabler/icons-react';
import { formatNumber } from '../../../text/format.ts';
import { formatCost } from '../cost.ts';
import type { Turn } from '../queries.ts';

type Figures = Pick<Turn, 'routing' | 'rule' | 'skills' | 'model' | 'usage' | 'cost_usd'>;

// How a turn was answered, with its time, tokens and cost.
export function RoutingBadge({ routing, rule, skills, model, usage, cost_usd }: Figures) {
  const tokens = usage.input_tokens + usage.output_tokens;
  return (
    <Group gap={6} aria-label="How it was answered" role="group">
      <Route routing={routing} rule={rule} model={model} />
      {skills.map(name => (
        <Badge key={name} variant="default" size="sm" leftSection={<IconTool size={12} />}>
          {name}
        </Badge>
      ))}
      {routing !== 'import' && (
        <Text size="xs" c="dimmed" className="stak-figures">
          {tokens === 0
            ? 'No tokens'
            : `${formatNumber(usage.input_tokens)} in, ${formatNumber(usage.output_tokens)} out tokens`}
          {' · '}
          {formatCost(cost_usd)}
        </Text>
      )}
    </Group>
  );
}

const ruleNames: Readonly<Record<string, string>> = { no_model: 'no model' };

function Route({ routing, rule, model }: Pick<Figures, 'routing' | 'rule' | 'model'>) {
  if (routing === 'model')
    return (
      <Badge variant="light" color="blue" size="sm" maw="100%" leftSection={<IconSparkles size={12} />}>
        {model ?? 'Model'}
      </Badge>
    );
  if (routing === 'import')
    return (
      <Badge variant="light" color="gray" size="sm" leftSection={<IconDownload size={12} />}>
        Imported
      </Badge>
    );
  return (
    <Badge variant="light" color="teal" size="sm" leftSection={<IconBolt size={12} />}>
      Rule{rule === null ? '' : `: ${ruleNames[rule] ?? rule}`}
    </Badge>
  );
}
