import { Button, Modal, Stack, Text, TextInput } from '@mantine/core';
import { StakError } from '@stak/client';
import { type ReactNode, useState } from 'react';
import { Failure } from '../../components/feedback/failure.tsx';
import { submitHandler } from '../../components/fields/submit-handler.ts';
import { useSubmit } from '../../queries/actions.ts';
import { client, messageOf, session } from '../../queries/api.ts';
import { useMe } from '../../queries/organisation.ts';
import { canUsePasskeys } from '../../queries/passkey.ts';

type Waiting = { resolve: () => void; reject: () => void };

// Some actions need a recently confirmed second factor. `guard` runs the action, asks for the factor if the server
// requires it, and runs the action again. `dialog` has to be rendered on the page.
export function useStepUp(): { guard<T>(work: () => Promise<T>): Promise<T>; dialog: ReactNode } {
  const [waiting, setWaiting] = useState<Waiting>();
  const guard = async <T,>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StakError) || error.code !== 'accounts.step_up_needed') throw error;
      await new Promise<void>((resolve, reject) => setWaiting({ resolve, reject: () => reject(error) }));
      return work();
    }
  };
  const close = (settle: keyof Waiting) => {
    waiting?.[settle]();
    setWaiting(undefined);
  };
  const dialog = (
    <Modal
      opened={waiting !== undefined}
      onClose={() => close('reject')}
      title="Show your second factor again"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <StepUp onShown={() => close('resolve')} />
    </Modal>
  );
  return { guard, dialog };
}

function StepUp({ onShown }: { onShown: () => void }) {
  const { data: me } = useMe();
  const show = useSubmit(
    async (code: string | undefined) => {
      if (code === undefined) await session.stepUpWithPasskey();
      else await client.accounts.stepUp({ body: { code } });
    },
    { onSuccess: onShown },
  );
  const submit = submitHandler(text => show.mutate(text('code')));
  const isWrong = show.error instanceof StakError && show.error.code === 'accounts.code_wrong';
  const hasPasskey = (me?.passkeys ?? 0) > 0 && canUsePasskeys();
  return (
    <Stack>
      <Text size="sm">This needs a second factor used within the last ten minutes.</Text>
      {show.error !== null && !isWrong && <Failure error={show.error} />}
      {hasPasskey && (
        <Button loading={show.isPending} onClick={() => show.mutate(undefined)} data-autofocus>
          Use a passkey
        </Button>
      )}
      <form onSubmit={submit} aria-label="Second factor">
        <Stack>
          <TextInput
            name="code"
            label="Code"
            description="From your authenticator app, or a recovery code"
            required
            autoComplete="one-time-code"
            error={isWrong && messageOf(show.error)}
          />
          <Button type="submit" variant={hasPasskey ? 'default' : 'filled'} loading={show.isPending}>
            Confirm
          </Button>
        </Stack>
      </form>
    </Stack>
  );
}
