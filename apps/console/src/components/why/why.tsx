import { Badge, Button, Group, Stack, Text, Title, UnstyledButton } from '@mantine/core';
import type { ApiTypes } from '@stak/client';
import { IconHierarchy } from '@tabler/icons-react';
import { useState } from 'react';
import { useAnswer } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { counted, formatTime } from '../../text/format.ts';
import { Loaded } from '../feedback/loaded.tsx';
import { Permitted } from '../feedback/permitted.tsx';
import { depthsOf } from './lines.ts';

type Answer = ApiTypes['system.why']['data'];
type Node = Answer['chain'][number];

const refreshMs = 3_000; // what follows may still be on its way

/** A button that shows why something happened and what followed. `id` is one of `GET /v1/why/{id}`. */
export function Why({ id, about }: { id: string; about: string }) {
  const [shownId, setShownId] = useState<string>();
  if (shownId === undefined)
    return (
      <Permitted to="system.why">
        <Group>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconHierarchy size={14} />}
            aria-label={`Why ${about}?`}
            onClick={() => setShownId(id)}
          >
            Why?
          </Button>
        </Group>
      </Permitted>
    );
  return (
    <section aria-label={`Why ${about}`}>
      <Group justify="space-between" mb="xs">
        <Title order={3} size="h5">
          Why?
        </Title>
        <Group gap="xs">
          {shownId !== id && (
            <Button variant="subtle" size="compact-xs" onClick={() => setShownId(id)}>
              Back
            </Button>
          )}
          <Button variant="subtle" size="compact-xs" onClick={() => setShownId(undefined)}>
            Hide
          </Button>
        </Group>
      </Group>
      <Picture id={shownId} onOpen={setShownId} />
    </section>
  );
}

type PictureProps = { id: string; onOpen: (id: string) => void };

// The chain from its root, and below it the tree of what followed.
function Picture({ id, onOpen }: PictureProps) {
  const why = useAnswer(['why', id], () => client.system.why({ id }), {
    refetchInterval: refreshMs,
    placeholderData: before => before,
  });
  return (
    <Loaded query={why}>
      {({ chain, followed, has_more }) => {
        const depths = depthsOf(chain, followed);
        return (
          <Stack gap={4}>
            {[...chain, ...followed].map((node, at) => (
              <Line
                key={node.id ?? `gap ${at}`}
                node={node}
                depth={depths[at]!}
                isCentre={at === chain.length - 1}
                onOpen={onOpen}
              />
            ))}
            {has_more && (
              <Text size="xs" c="dimmed">
                More has followed than is listed.
              </Text>
            )}
          </Stack>
        );
      }}
    </Loaded>
  );
}

type LineProps = { node: Node; depth: number; isCentre: boolean; onOpen: (id: string) => void };

function Line({ node, depth, isCentre, onOpen }: LineProps) {
  const { id, kind, what, at, by, decided, hidden } = node;
  const said = [by === null ? undefined : `by ${by}`, decided ?? undefined].filter(Boolean).join(', ');
  const text = (
    <>
      <Group gap={6} wrap="nowrap" align="baseline">
        <Badge variant={isCentre ? 'filled' : 'light'} size="sm" style={{ flexShrink: 0 }}>
          {kind}
        </Badge>
        <Text size="sm" className="stak-break" {...(isCentre && { fw: 600 })}>
          {kind === 'gap' ? `${counted(hidden, 'thing')} that you cannot see` : what}
        </Text>
      </Group>
      <Text size="xs" c="dimmed" className="stak-break">
        {[at === null ? '' : formatTime(Date.parse(at)), said].filter(Boolean).join(' · ')}
        {kind !== 'gap' && hidden > 0 && ` · ${counted(hidden, 'thing')} below that you cannot see`}
      </Text>
    </>
  );
  const style = { paddingInlineStart: `${Math.min(depth, 8) * 16}px` };
  if (id === null || isCentre) return <div style={style}>{text}</div>;
  return (
    <UnstyledButton style={style} onClick={() => onOpen(id)}>
      {text}
    </UnstyledButton>
  );
}
