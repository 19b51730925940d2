import { Loaded } from '@stak/portal-react/parts';
import { useQuery } from '@tanstack/react-query';
import { client, tenantId } from '../session.ts';

// Days of quotas are those of UTC.
const dayFormat = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });

export function Usage() {
  const usage = useQuery({
    queryKey: ['usage'],
    queryFn: async () => (await client.agents.getTenantUsage({ tenant_id: tenantId })).data,
  });
  return (
    <section>
      <h1>Usage</h1>
      <Loaded query={usage}>
        {({ days, total, limit_per_day }) => (
          <>
            <p>
              {`${total.messages.toLocaleString()} messages in 30 days.`}
              {limit_per_day !== null && ` At most ${limit_per_day.toLocaleString()} a day.`}
            </p>
            <div className="stak-portal-scroll">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Day</th>
                    <th scope="col">Messages</th>
                    <th scope="col">Tokens read</th>
                    <th scope="col">Tokens written</th>
                  </tr>
                </thead>
                <tbody>
                  {days.toReversed().map(day => (
                    <tr key={day.date}>
                      <td>{dayFormat.format(new Date(day.date))}</td>
                      <td>{day.messages.toLocaleString()}</td>
                      <td>{day.input_tokens.toLocaleString()}</td>
                      <td>{day.output_tokens.toLocaleString()}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </>
        )}
      </Loaded>
    </section>
  );
}
