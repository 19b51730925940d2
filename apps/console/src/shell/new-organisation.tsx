import { Modal, Stack, TextInput } from '@mantine/core';
import { fieldComplaints } from '../components/feedback/complaint.ts';
import { Failure } from '../components/feedback/failure.tsx';
import { submitHandler } from '../components/fields/submit-handler.ts';
import { SubmitRow } from '../components/fields/submit-row.tsx';
import { useSubmit } from '../queries/actions.ts';
import { client, session } from '../queries/api.ts';

export default function NewOrganisation({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const make = useSubmit(async (name: string) => {
    const { data } = await client.accounts.createOrganisation({ body: { name } });
    await session.switchTo(data.accountId);
  });
  const complaint = fieldComplaints(make.error).name;
  const submit = submitHandler(text => make.mutate(text('name')));
  return (
    <Modal opened={isOpen} onClose={onClose} title="New organisation">
      <form onSubmit={submit}>
        <Stack>
          {make.error !== null && complaint === undefined && <Failure error={make.error} />}
          <TextInput name="name" label="Name" required maxLength={100} error={complaint} data-autofocus />
          <SubmitRow isBusy={make.isPending}>Create</SubmitRow>
        </Stack>
      </form>
    </Modal>
  );
}
