import { Card, SimpleGrid, Stack, Text } from '@mantine/core';
import { Heading } from '../../../components/display/section.tsx';
import { Loaded } from '../../../components/feedback/loaded.tsx';
import { useSkills } from '../queries.ts';
import { OwnSkills } from './own-skills.tsx';
import { SkillSwitch } from './skill-switch.tsx';

type Props = { tenant_id: string };

export const Skills = ({ tenant_id }: Props) => (
  <Stack>
    <BuiltInSkills tenant_id={tenant_id} />
    <OwnSkills tenant_id={tenant_id} />
  </Stack>
);

function BuiltInSkills({ tenant_id }: Props) {
  const skills = useSkills(tenant_id);
  return (
    <Card withBorder component="section" aria-label="Skills">
      <Heading>Skills</Heading>
      <Text c="dimmed" size="sm" mb="md">
        What the agent may look up and do, when a user says a trigger phrase or the model asks for it.
      </Text>
      <Loaded query={skills}>
        {all => (
          <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
            {all
              .filter(one => !one.is_custom || one.name.startsWith('mcp_'))
              .map(skill => (
                <SkillSwitch
                  key={skill.name}
                  tenant_id={tenant_id}
                  skill={skill}
                  label={skill.name}
                  description={skill.description}
                />
              ))}
          </SimpleGrid>
        )}
      </Loaded>
    </Card>
  );
}
