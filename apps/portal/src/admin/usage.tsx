import { Loaded } from '@stak/portal-react/parts';
import { useQuery } from '@tanstack/react-query';
import { client, tenantId } from '../session.ts';

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
              {`${total.messages} messages in 30 days.`}
              {limit_per_day !== null && ` At most ${limit_per_day} a day.`}
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
                      <td>{day.date}</td>
                      <td>{day.messages}</td>
                      <td>{day.input_tokens}</td>
                      <td>{day.output_tokens}</td>
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
