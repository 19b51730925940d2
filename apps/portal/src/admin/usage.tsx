import { Loaded } from '@stak/portal-react/parts';
import { useQuery } from '@tanstack/react-query';
import { client, tenantId } from '../session.ts';

// Usage is counted by UTC day.
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
              {`${total.messages.toLocaleString()} ${total.messages === 1 ? 'message' : 'messages'} in 30 days.`}
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
                      <td data-label="Messages">{day.messages.toLocaleString()}</td>
                      <td data-label="Tokens read">{day.input_tokens.toLocaleString()}</td>
                      <td data-label="Tokens written">{day.output_tokens.toLocaleString()}</td>
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
