import { Button, Group, Text } from '@mantine/core';
import { useSkills } from '../queries.ts';

// Phrases that trigger each skill.
const examples: Readonly<Record<string, string>> = {
  sprint_status: 'How are my tasks?',
  inbox_summary: 'Any new messages?',
  usage: 'How much have I used?',
  remember: 'Remember that I like tea',
  search_history: 'Search my history for tea',
};

// Suggestions for users who do not know what to ask.
export function Suggestions({ tenant_id, onSay }: { tenant_id: string; onSay: (content: string) => void }) {
  const skills = useSkills(tenant_id).data ?? [];
  const known = skills.filter(skill => skill.is_enabled).flatMap(({ name }) => examples[name] ?? []);
  return (
    <div>
      <Text size="sm" c="dimmed" mb="xs">
        Rules and skills answer immediately and cost nothing. Everything else goes to the model in the
        settings.
      </Text>
      <Group gap="xs">
        {['Hello', 'What can you do?', ...known].map(text => (
          <Button key={text} size="compact-sm" variant="default" onClick={() => onSay(text)}>
            {text}
          </Button>
        ))}
      </Group>
    </div>
  );
}
