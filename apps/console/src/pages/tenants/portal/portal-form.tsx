import {
  Card,
  ColorInput,
  Group,
  Input,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useId, useState } from 'react';
import { Heading } from '../../../components/display/section.tsx';
import { fieldComplaints } from '../../../components/feedback/complaint.ts';
import { PermittedFields } from '../../../components/feedback/permitted.tsx';
import { SaveFailure } from '../../../components/feedback/save-failure.tsx';
import { submitHandler } from '../../../components/fields/submit-handler.ts';
import { SubmitRow } from '../../../components/fields/submit-row.tsx';
import { useSubmit } from '../../../queries/actions.ts';
import { client } from '../../../queries/api.ts';
import type { Settings } from '../settings-draft.ts';

type Props = {
  tenant_id: string;
  read: { settings: Settings; etag: string };
  onSaved: () => Promise<void>;
};

const draftOf = (settings: Settings) => ({
  portal_sign_in: settings.portal_sign_in ?? 'host',
  portal_name: settings.portal_name ?? '',
  portal_logo: settings.portal_logo ?? '',
  portal_color: settings.portal_color ?? '',
  portal_header_color: settings.portal_header_color ?? '',
});
type Draft = ReturnType<typeof draftOf>;

/** How users sign in to the portal, and how it looks to them. */
export function PortalForm({ tenant_id, read, onSaved }: Props) {
  const [{ settings, etag }] = useState(read); // the version that is edited, even if a newer one has been read since
  const [draft, setDraft] = useState(() => draftOf(settings));
  const edit = (part: Partial<Draft>) => setDraft(old => ({ ...old, ...part }));
  const signInLabel = useId();
  const save = useSubmit(() => client.tenants.updateSettings({ tenant_id, body: draft }, { ifMatch: etag }), {
    done: 'Saved.',
    onSuccess: onSaved,
  });
  const complaints = fieldComplaints(save.error);
  const submit = submitHandler(() => save.mutate());
  return (
    <Card withBorder component="section" aria-label="Sign-in and looks">
      <form onSubmit={submit}>
        <PermittedFields to="tenants.updateSettings">
          <Stack gap="sm">
            <Heading>Sign-in and looks</Heading>
            <div>
              <Input.Label labelElement="div" display="block" mb={4} id={signInLabel}>
                Users sign in
              </Input.Label>
              <SegmentedControl
                aria-labelledby={signInLabel}
                data={[
                  { value: 'host', label: 'Only through your product' },
                  { value: 'mail', label: 'Also with a mailed code' },
                ]}
                value={draft.portal_sign_in}
                onChange={value => edit({ portal_sign_in: value as Draft['portal_sign_in'] })}
              />
            </div>
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
              <TextInput
                label="Name"
                placeholder="The name of the tenant"
                value={draft.portal_name}
                onChange={event => edit({ portal_name: event.currentTarget.value })}
                error={complaints.portal_name}
              />
              <TextInput
                label="Logo"
                placeholder="https://…"
                value={draft.portal_logo}
                onChange={event => edit({ portal_logo: event.currentTarget.value })}
                error={complaints.portal_logo}
              />
              <ColorInput
                label="Colour of buttons and links"
                placeholder="#0b7285"
                eyeDropperButtonProps={{ 'aria-label': 'Pick the colour of buttons on the screen' }}
                value={draft.portal_color}
                onChange={portal_color => edit({ portal_color })}
                error={complaints.portal_color}
              />
              <ColorInput
                label="Colour of the bar at the top"
                placeholder="#ffffff"
                eyeDropperButtonProps={{ 'aria-label': 'Pick the colour of the bar on the screen' }}
                value={draft.portal_header_color}
                onChange={portal_header_color => edit({ portal_header_color })}
                error={complaints.portal_header_color}
              />
            </SimpleGrid>
            <Preview {...draft} />
            {save.error && <SaveFailure error={save.error} onReadAgain={() => void onSaved()} />}
            <SubmitRow isBusy={save.isPending}>Save the portal</SubmitRow>
          </Stack>
        </PermittedFields>
      </form>
    </Card>
  );
}

const isColor = (text: string): boolean => /^#[0-9a-f]{6}$/i.test(text);

// Black or white, whichever can be read on the colour.
function inkOn(color: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map(at => Number.parseInt(color.slice(at, at + 2), 16));
  return red * 0.299 + green * 0.587 + blue * 0.114 > 150 ? '#000000' : '#ffffff';
}

const Preview = ({ portal_name, portal_color, portal_header_color }: Draft) => {
  const bar = isColor(portal_header_color) ? portal_header_color : '#ffffff';
  const button = isColor(portal_color) ? portal_color : '#0b7285';
  return (
    <Group aria-hidden justify="space-between" px="md" py="xs" bg={bar} bd="1px solid gray" maw={480}>
      <Text fw={600} c={inkOn(bar)}>
        {portal_name || 'The name of the tenant'}
      </Text>
      <Text size="sm" px="sm" py={4} bg={button} c={inkOn(button)} style={{ borderRadius: 4 }}>
        Send
      </Text>
    </Group>
  );
};
