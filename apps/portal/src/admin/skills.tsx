import { Failure, Loaded, useAction } from '@stak/portal-react/parts';
import { useQuery } from '@tanstack/react-query';
import { settingsKey, skillsKey } from '../queries.ts';
import { client, tenantId } from '../session.ts';
import { readSettings } from './settings.tsx';

const tenant_id = tenantId;

export function Skills() {
  const skills = useQuery({
    queryKey: skillsKey,
    queryFn: async () => (await client.agents.listSkills({ tenant_id })).data.data,
  });
  const change = useAction(
    async ({ name, is_custom, isOn }: { name: string; is_custom: boolean; isOn: boolean }) => {
      const { settings, etag } = await readSettings();
      const field = is_custom ? ('custom_skills' as const) : ('enabled_skills' as const);
      const others = settings[field].filter(one => one !== name);
      const body = { [field]: isOn ? [...others, name] : others };
      await client.tenants.updateSettings({ tenant_id, body }, { ifMatch: etag });
    },
    skillsKey,
    settingsKey,
  );
  return (
    <section>
      <h1>Skills</h1>
      <p className="stak-portal-dim">What the agent can do besides talking.</p>
      <Failure error={change.error} />
      <Loaded query={skills}>
        {all => (
          <ul className="stak-portal-plain">
            {all.map(({ name, description, is_enabled, is_custom, approval }) => (
              <li key={name} className="stak-portal-card">
                <label>
                  <input
                    type="checkbox"
                    checked={is_enabled}
                    disabled={change.isPending}
                    onChange={event => change.mutate({ name, is_custom, isOn: event.target.checked })}
                  />{' '}
                  <strong>{name}</strong>
                </label>
                <p>{description}</p>
                {approval !== 'never' && (
                  <p className="stak-portal-dim">
                    {approval === 'admin' ? 'An admin has to agree.' : 'The user has to agree.'}
                  </p>
                )}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  );
}
