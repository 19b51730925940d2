import { Text } from '@mantine/core';
import { MessageItem } from '@stak/inbox-react';
import type { Draft } from './draft.ts';

// As the user will see it, by the same component; nothing in it can be pressed.
export function MessagePreview({ draft }: { draft: Draft }) {
  const nowS = Math.floor(Date.now() / 1000);
  return (
    <div>
      <Text size="sm" fw={500} mb={4}>
        Preview
      </Text>
      <div className="stak-inbox console-inbox" inert>
        <ul className="stak-inbox-list console-preview">
          <MessageItem
            startsOpen
            onMark={() => {}}
            message={{
              id: 'preview',
              host_system_id: null,
              sender: '',
              audiences: { kind: draft.audience },
              received: nowS,
              delivered: nowS,
              expiredat: nowS + 1,
              read: false,
              readat: null,
              seen: false,
              archived: false,
              snoozed_until: null,
              ...(draft.category && { taxonomy: { category: draft.category } }),
              message: {
                title: draft.title || 'Title',
                body: draft.body || 'Text',
                cta_uri: draft.link || null,
              },
            }}
          />
        </ul>
      </div>
    </div>
  );
}
