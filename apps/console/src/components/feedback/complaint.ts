import { notifications } from '@mantine/notifications';
import { StakError } from '@stak/client';
import { messageOf } from '../../queries/api.ts';

export const complain = (error: unknown): void =>
  void notifications.show({ color: 'red', title: 'This did not work', message: messageOf(error) });

// The API's complaint about each field, by the first step of its JSON pointer.
export function fieldComplaints(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof StakError)) return {};
  const complaints: Record<string, string> = {};
  for (const { pointer, detail } of error.errors) {
    const [, field = '', ...rest] = pointer.split('/');
    const prefix = rest.length > 0 ? `${rest.join('/')}: ` : '';
    complaints[field] = [complaints[field], prefix + detail].filter(Boolean).join('\n');
  }
  return complaints;
}
