import { Alert, Box, Button, Group, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type UIEvent, useEffect, useLayoutEffect, useRef } from 'react';
import { More, usePages } from '../../../components/display/pages.tsx';
import { Loaded } from '../../../components/feedback/loaded.tsx';
import { Permitted } from '../../../components/feedback/permitted.tsx';
import { useAnswer } from '../../../queries/answers.ts';
import { client } from '../../../queries/api.ts';
import { paced } from '../../../queries/pace.ts';
import { useMay } from '../../../queries/permissions.ts';
import { type ConversationPath, conversationKey, turnsKey } from '../queries.ts';
import { Approvals } from './approvals.tsx';
import { Composer } from './composer.tsx';
import { ConversationHead } from './conversation-head.tsx';
import { Suggestions } from './suggestions.tsx';
import { endTalk, resumeTalk, say, useTalk } from './talk.ts';
import { TalkView, TurnView } from './turn-view.tsx';

const refreshMs = 5_000; // others may write too, and there is no stream for it
const nearPx = 80; // a reader this close to the end follows new messages

export function ConversationPane({
  conversationPath,
  onLeave,
}: {
  conversationPath: ConversationPath;
  onLeave: () => void;
}) {
  const queries = useQueryClient();
  const head = useAnswer(
    conversationKey(conversationPath),
    () => client.agents.getConversation(conversationPath),
    { retry: false },
  );
  const turns = usePages(
    turnsKey(conversationPath),
    cursor => client.agents.listMessages({ ...conversationPath, order: 'newest', limit: 30, ...cursor }),
    { refetchInterval: paced(refreshMs) },
  );
  const talk = useTalk(conversationPath);
  const may = useMay();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another conversation is another pane
  useEffect(() => resumeTalk(queries, conversationPath), []);
  const isKept = turns.data?.some(one => one.seq === talk?.seq) ?? false;
  const isBusy = talk !== null && talk.failure === undefined;
  const { follow, ...log } = useFollow(
    `${turns.data?.[0]?.seq} ${talk?.content} ${talk?.text.length} ${talk?.failure}`,
  );
  const speak = (content: string) => {
    follow();
    void say(queries, conversationPath, content);
  };

  return (
    <>
      <Loaded query={head}>
        {conversation => (
          <ConversationHead
            conversationPath={conversationPath}
            conversation={conversation}
            onLeave={onLeave}
          />
        )}
      </Loaded>
      <Box {...log} className="agents-log" role="log" aria-label="Turns" aria-busy={isBusy} tabIndex={0}>
        <Stack gap="lg" p="md">
          <More of={turns} label="Older turns" />
          {!head.error && (
            <Loaded query={turns}>
              {newest =>
                newest.length === 0 && talk === null && may('agents.sendMessage') ? (
                  <Suggestions tenant_id={conversationPath.tenant_id} onSay={speak} />
                ) : (
                  newest
                    .toReversed()
                    .map(turn => <TurnView key={turn.seq} conversationPath={conversationPath} turn={turn} />)
                )
              }
            </Loaded>
          )}
          {talk && !isKept && <TalkView talk={talk} />}
          <Approvals conversationPath={conversationPath} />
          {talk?.failure !== undefined && (
            <Alert color="red" title="There is no answer" role="alert">
              <Group justify="space-between">
                <Text size="sm">{talk.failure}</Text>
                <Group gap="xs">
                  <Button size="xs" variant="default" onClick={() => endTalk(queries, conversationPath)}>
                    Leave it
                  </Button>
                  <Button size="xs" variant="light" color="red" onClick={() => speak(talk.content)}>
                    Say it again
                  </Button>
                </Group>
              </Group>
            </Alert>
          )}
        </Stack>
      </Box>
      <Permitted to="agents.sendMessage">
        <div className="agents-foot">
          <Composer isBusy={isBusy} onSay={speak} />
        </div>
      </Permitted>
    </>
  );
}

// Keeps the end in view unless the reader has scrolled up.
function useFollow(change: string) {
  const ref = useRef<HTMLDivElement>(null);
  const isNear = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the change that moves the end
  useLayoutEffect(() => {
    if (isNear.current && ref.current) ref.current.scrollTop = ref.current.scrollHeight;
  }, [change]);
  const onScroll = ({ currentTarget: box }: UIEvent) => {
    isNear.current = box.scrollHeight - box.scrollTop - box.clientHeight < nearPx;
  };
  const follow = () => {
    isNear.current = true;
  };
  return { ref, onScroll, follow };
}
