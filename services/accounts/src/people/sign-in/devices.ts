import { addressKey } from '@stak/http';
import { type WriteStep, write } from '@stak/table';
import { type Base, inSeconds, isoTime, sha256 } from '../../deps.ts';
import * as limits from '../../limits.ts';
import { devicesOfUser, knownDevice } from '../../main-table.ts';
import type { Outbox } from '../../notices/outbox.ts';
import { greeted } from '../../notices/texts.ts';
import type { Origin } from '../../origin.ts';
import { deviceName } from './device-name.ts';

type DevicesDeps = Pick<Base, 'store' | 'clock'> & { outbox: Outbox };
type Person = { userId: string; email: string; name: string; emailVerified?: boolean };

// For the transaction that starts a session: records the device and mails its owner about a new one. The first device
// on record causes no mail: it created the account, or was in use before devices were recorded.
export async function deviceSteps(
  { store, clock, outbox }: DevicesDeps,
  person: Person,
  { userAgent, address }: Origin,
): Promise<Record<string, WriteStep>> {
  const { userId, email } = person;
  const device = deviceName(userAgent);
  const deviceId = sha256(`${device} from ${addressKey(address)}`).slice(0, 32);
  const nowMs = clock.now();
  const { items } = await store.query(devicesOfUser, { userId }, { limit: limits.devicesKnown });
  const isNew = items.length > 0 && !items.some(item => item.deviceId === deviceId);
  const details = {
    ...greeted(person),
    // The User-Agent can be any text.
    device: person.emailVerified ? device : 'a new device',
    address: address ?? 'an unknown address',
    at: isoTime(nowMs),
  };
  const expiresAt = inSeconds(nowMs) + limits.deviceS;
  return {
    'the device': write.put(knownDevice, { userId, deviceId, expiresAt }),
    ...(isNew && outbox.steps({ kind: 'session.new_device', to: email, userId, details })),
  };
}
