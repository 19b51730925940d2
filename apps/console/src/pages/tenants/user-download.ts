import { notifications } from '@mantine/notifications';
import { saveFile } from '../../components/fields/saved-file.ts';
import { countedClient, unhurried } from '../../queries/counted-client.ts';
import type { User } from '../../queries/tenants.ts';
import { formatBytes } from '../../text/format.ts';

/** Saves all data of a user as a file, and shows how much has arrived meanwhile. */
export async function downloadUser({ tenant_id, user_id, display_name }: User): Promise<void> {
  const title = `Everything about ${display_name}`;
  const id = notifications.show({ title, message: '', loading: true, autoClose: false });
  let shown = '';
  const client = countedClient(bytes => {
    const message = `${formatBytes(bytes)} received`;
    if (message !== shown) notifications.update({ id, title, message, loading: true, autoClose: false });
    shown = message;
  });
  try {
    const { data } = await client.tenants.exportUser({ tenant_id, user_id }, unhurried);
    if (!isComplete(data)) throw new Error('The download was interrupted. Nothing was saved; try it again.');
    saveFile(`${tenant_id}-${user_id}.ndjson`, data as Uint8Array<ArrayBuffer>);
    notifications.update({
      id,
      title,
      message: `${shown}. The file is complete.`,
      loading: false,
      autoClose: true,
    });
  } catch (error) {
    notifications.hide(id);
    throw error;
  }
}

const lastLineBytes = 200; // at most

function isComplete(data: Uint8Array): boolean {
  const end = new TextDecoder().decode(data.subarray(-lastLineBytes)).trimEnd();
  return /^\{"kind":"end"[,}]/.test(end.slice(end.lastIndexOf('\n') + 1));
}
