import { Box, Code, Group, Loader, Stack, Text, VisuallyHidden } from '@mantine/core';
import { Markdown } from '@stak/portal-react/markdown';
import type { ReactNode } from 'react';
import { whyId } from '../../../components/why/lines.ts';
import { Why } from '../../../components/why/why.tsx';
import { formatTime } from '../../../text/format.ts';
import { jsonText } from '../../../text/payload-text.ts';
import type { ConversationPath, Turn } from '../queries.ts';
import { RoutingBadge } from './routing-badge.tsx';
import type { Talk } from './talk.ts';
import { TurnFeedback } from './turn-feedback.tsx';

function Bubble({ by, children }: { by: 'user' | 'agent'; children: ReactNode }) {
  return (
    <Box className="agents-bubble" data-by={by} dir="auto">
      {/* Visually, position and colour tell who is speaking. */}
      <VisuallyHidden dir="ltr">{by === 'user' ? 'User: ' : 'Agent: '}</VisuallyHidden>
      {by === 'agent' && typeof children === 'string' ? <Markdown text={children} /> : children}
    </Box>
  );
}

type TurnProps = { conversationPath: ConversationPath; turn: Turn };

export function TurnView({ conversationPath, turn }: TurnProps) {
  const { tenant_id, conversation_id } = conversationPath;
  return (
    <Stack gap={6} component="article" title={formatTime(turn.created_at)}>
      {turn.messages.map((message, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages of a turn never move
        <Said key={index} message={message} />
      ))}
      <Group gap="sm">
        <RoutingBadge {...turn} />
        {turn.routing !== 'import' && <TurnFeedback conversationPath={conversationPath} turn={turn} />}
      </Group>
      <Why id={whyId('turn', tenant_id, conversation_id, turn.seq)} about="this answer" />
    </Stack>
  );
}

type Message = Turn['messages'][number];
type Part = Exclude<Extract<Message, { role: 'assistant' }>['content'], string>[number];

function Said({ message }: { message: Message }) {
  if (message.role === 'system')
    return (
      <Text size="xs" c="dimmed">
        {message.content}
      </Text>
    );
  if (typeof message.content === 'string')
    return <Bubble by={message.role === 'user' ? 'user' : 'agent'}>{message.content}</Bubble>;
  return message.content.map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of a message never move
    <SaidPart key={index} part={part} />
  ));
}

function SaidPart({ part }: { part: Part }) {
  if (part.type === 'text') return part.text === '' ? null : <Bubble by="agent">{part.text}</Bubble>;
  const isCall = part.type === 'tool-call';
  return (
    <details className="agents-part">
      <summary>{isCall ? `Asks ${part.toolName}` : `${part.toolName} answers`}</summary>
      <Code block className="stak-code" tabIndex={0}>
        {jsonText(isCall ? part.input : part.output.value)}
      </Code>
    </details>
  );
}

// The turn that is being answered.
export function TalkView({ talk: { content, text, skills, isWaiting, failure } }: { talk: Talk }) {
  return (
    <Stack gap={6} component="article">
      <Bubble by="user">{content}</Bubble>
      {text !== '' && <Bubble by="agent">{text}</Bubble>}
      {failure === undefined && (
        <Group gap={8}>
          <Loader type="dots" size="xs" />
          <Text size="xs" c="dimmed">
            {isWaiting ? 'Waiting for an approval…' : doing({ text, skills })}
          </Text>
        </Group>
      )}
    </Stack>
  );
}

function doing({ text, skills }: Pick<Talk, 'text' | 'skills'>): string {
  if (text !== '') return 'Writing…';
  return skills.length > 0 ? `Using ${skills.at(-1)}…` : 'Thinking…';
}
