import { Badge, Select } from '@mantine/core';
import type { User } from '../../queries/tenants.ts';
import { choicesOf, withCapital } from '../../text/capital.ts';

type Role = User['role'];

export const RoleBadge = ({ role }: { role: Role }) => (
  <Badge variant="light" color={role === 'admin' ? 'teal' : 'gray'} miw="max-content">
    {withCapital(role)}
  </Badge>
);

export const RoleSelect = ({ role, onChange }: { role: Role; onChange: (role: Role) => void }) => (
  <Select
    label="Role"
    data={choicesOf(['member', 'admin'])}
    value={role}
    allowDeselect={false}
    onChange={value => onChange((value ?? 'member') as Role)}
  />
);
