import { Accordion, NumberInput, Stack, Switch, TextInput } from '@mantine/core';
import type { Connection } from '@stak/client';
import { delaysText, readDelays, usualDelaysS } from './retry-delays.ts';
import { RetryPicture } from './retry-picture.tsx';

export type DeliveryDraft = {
  delays: string; // "30s, 2m, 1h"; empty for the defaults
  maxAttempts: number | string;
  maxConcurrency: number | string;
  ratePerSecond: number | string;
  ordered: boolean;
};

export const draftOf = (connection: Connection | undefined): DeliveryDraft => ({
  delays: delaysText(connection?.retryConfig.delaysS ?? []),
  maxAttempts: connection?.retryConfig.maxAttempts ?? '',
  maxConcurrency: connection?.maxConcurrency ?? '',
  ratePerSecond: connection?.ratePerSecond ?? '',
  ordered: connection?.ordered ?? false,
});

// A new connection omits empty fields; an existing one resets them.
export function deliveryOf(draft: DeliveryDraft, isNew: boolean) {
  const delaysS = readDelays(draft.delays);
  const { maxAttempts, maxConcurrency, ratePerSecond, ordered } = draft;
  const limitOf = (name: string, value: number | string) =>
    value !== '' ? { [name]: Number(value) } : isNew ? {} : { [name]: null };
  return {
    retryConfig: {
      ...(delaysS.length > 0 && { delaysS }),
      ...(maxAttempts !== '' && { maxAttempts: Number(maxAttempts) }),
    },
    ...limitOf('maxConcurrency', maxConcurrency),
    ...limitOf('ratePerSecond', ratePerSecond),
    ordered,
  };
}

type Props = {
  draft: DeliveryDraft;
  complaints: Readonly<Record<string, string>>;
  onChange: (part: Partial<DeliveryDraft>) => void;
};

// Retries, rate and order of deliveries.
export function DeliverySettings({ draft, complaints, onChange }: Props) {
  return (
    <Accordion variant="contained" chevronPosition="left">
      <Accordion.Item value="delivery">
        <Accordion.Control>Retries, rate and order</Accordion.Control>
        <Accordion.Panel>
          <Stack>
            <TextInput
              label="Wait before each retry"
              description="Such as 30s, 5m, 1h; at most 24h each. Leave empty for the default schedule."
              placeholder={delaysText(usualDelaysS)}
              value={draft.delays}
              error={complaints.retryConfig}
              onChange={event => onChange({ delays: event.currentTarget.value })}
            />
            <Schedule draft={draft} />
            <NumberInput
              label="Attempts at most"
              placeholder="8"
              min={1}
              max={8}
              allowDecimal={false}
              value={draft.maxAttempts}
              onChange={maxAttempts => onChange({ maxAttempts })}
            />
            <NumberInput
              label="Concurrent deliveries"
              placeholder="16"
              min={1}
              max={100}
              allowDecimal={false}
              value={draft.maxConcurrency}
              error={complaints.maxConcurrency}
              onChange={maxConcurrency => onChange({ maxConcurrency })}
            />
            <NumberInput
              label="Deliveries per second"
              description="Empty means no limit."
              placeholder="No limit"
              min={1}
              max={1000}
              allowDecimal={false}
              value={draft.ratePerSecond}
              error={complaints.ratePerSecond}
              onChange={ratePerSecond => onChange({ ratePerSecond })}
            />
            <Switch
              label="Deliver in order"
              description="Each event waits until the one before it is delivered or has finally failed."
              checked={draft.ordered}
              onChange={event => onChange({ ordered: event.currentTarget.checked })}
            />
          </Stack>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}

// The attempts on a timeline, if the delays are valid.
function Schedule({ draft }: { draft: DeliveryDraft }) {
  let delays: number[];
  try {
    delays = readDelays(draft.delays);
  } catch {
    return null;
  }
  const most = draft.maxAttempts === '' ? 8 : Number(draft.maxAttempts);
  const used = (delays.length > 0 ? delays : usualDelaysS).slice(0, Math.max(0, most - 1));
  return <RetryPicture delaysS={used} />;
}
