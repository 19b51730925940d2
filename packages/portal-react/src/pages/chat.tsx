import { emptyReply, type Reply, streamReply } from '@stak/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { jsonText } from '../json-text.ts';
import { Markdown } from '../markdown.tsx';
import { ConfirmButton, Failure, Loaded, messageOf, onSubmit, Title, useAction } from '../parts.tsx';
import { usePortal } from '../provider.tsx';
import { type Approval, approvalsKey, conversationsKey, type Turn, turnsKey } from '../queries.ts';

const refreshMs = 5_000; // approvals may be decided elsewhere, and the host may write too
const turnsShown = 50;

// A message that is not part of the conversation yet, and as much of its answer as has arrived.
type Talk = Reply & { content: string };

function doing({ text, skills, isWaiting }: Reply): string {
  if (isWaiting) return 'Waiting for an approval…';
  if (text !== '') return 'Writing…';
  return skills.length > 0 ? `Using ${skills.at(-1)!.replaceAll('_', ' ')}…` : 'Thinking…';
}

export function Chat() {
  const { client, tenant_id } = usePortal();
  const titleId = useId();
  const [chosen, setChosen] = useState<string>();
  const list = useQuery({
    queryKey: conversationsKey,
    queryFn: async () => (await client.agents.listConversations({ tenant_id, limit: 50 })).data.data,
  });
  const begin = useAction(
    async () =>
      setChosen((await client.agents.createConversation({ tenant_id, body: {} })).data.conversation_id),
    conversationsKey,
  );
  const remove = useAction(async (conversation_id: string) => {
    await client.agents.deleteConversation({ tenant_id, conversation_id });
    setChosen(undefined);
  }, conversationsKey);
  return (
    <section className="stak-portal-chat" aria-labelledby={titleId}>
      <Title id={titleId}>Chat</Title>
      <Loaded query={list}>
        {all => {
          const open = chosen ?? all[0]?.conversation_id;
          return (
            <>
              <div className="stak-portal-bar">
                {all.length > 0 && (
                  <select
                    aria-label="Conversation"
                    value={open}
                    onChange={event => setChosen(event.target.value)}
                  >
                    {all.some(one => one.conversation_id === open) || (
                      <option value={open}>New conversation</option>
                    )}
                    {all.map(one => (
                      <option key={one.conversation_id} value={one.conversation_id}>
                        {one.title ?? 'New conversation'}
                      </option>
                    ))}
                  </select>
                )}
                <button type="button" disabled={begin.isPending} onClick={() => begin.mutate(undefined)}>
                  New conversation
                </button>
                {open !== undefined && <ConfirmButton label="Delete" onConfirm={() => remove.mutate(open)} />}
              </div>
              <Failure error={begin.error ?? remove.error} />
              {open === undefined ? (
                <p className="stak-portal-dim">Begin a conversation to ask something.</p>
              ) : (
                <Conversation key={open} conversation_id={open} />
              )}
            </>
          );
        }}
      </Loaded>
    </section>
  );
}

function Conversation({ conversation_id }: { conversation_id: string }) {
  const { client, settings, tenant_id } = usePortal();
  const queries = useQueryClient();
  const [talk, setTalk] = useState<Talk>();
  const turns = useQuery({
    queryKey: turnsKey(conversation_id),
    queryFn: async () =>
      (await client.agents.listMessages({ tenant_id, conversation_id, order: 'newest', limit: turnsShown }))
        .data.data,
    refetchInterval: refreshMs,
  });
  const end = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the change that moves the end
  useEffect(() => end.current?.scrollIntoView({ block: 'nearest' }), [talk?.text, turns.data?.length]);

  const say = async (content: string) => {
    let now: Talk = { ...emptyReply, content };
    setTalk(now);
    try {
      for await (const reply of streamReply(settings, { tenant_id, conversation_id, content })) {
        if (reply.isWaiting && !now.isWaiting)
          void queries.invalidateQueries({ queryKey: approvalsKey(conversation_id) });
        now = { ...reply, content };
        setTalk(now);
      }
    } catch (error) {
      now = { ...now, failure: messageOf(error) };
    }
    await queries.invalidateQueries({ queryKey: turnsKey(conversation_id) });
    void queries.invalidateQueries({ queryKey: conversationsKey });
    setTalk(now.failure === undefined ? undefined : now);
  };

  return (
    <>
      <div
        className="stak-portal-log"
        role="log"
        aria-label="Messages"
        aria-busy={talk !== undefined}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
        tabIndex={0}
      >
        <Loaded query={turns}>
          {newest =>
            newest
              .toReversed()
              .map(turn => <TurnView key={turn.seq} conversation_id={conversation_id} turn={turn} />)
          }
        </Loaded>
        {talk && (
          <article>
            <Bubble by="user" text={talk.content} />
            {talk.text !== '' && <Bubble by="agent" text={talk.text} />}
            {talk.failure === undefined ? (
              <p className="stak-portal-dim">{doing(talk)}</p>
            ) : (
              <div>
                <Failure error={talk.failure} />
                <button type="button" onClick={() => void say(talk.content)}>
                  Say it again
                </button>
              </div>
            )}
          </article>
        )}
        <Approvals conversation_id={conversation_id} />
        <div ref={end} />
      </div>
      <Composer
        isBusy={talk !== undefined && talk.failure === undefined}
        onSay={content => void say(content)}
      />
    </>
  );
}

function Bubble({ by, text }: { by: 'user' | 'agent'; text: string }) {
  return (
    <div className="stak-portal-bubble" data-by={by} dir="auto">
      <span className="stak-portal-hidden">{by === 'user' ? 'You: ' : 'Agent: '}</span>
      {by === 'agent' ? <Markdown text={text} /> : text}
    </div>
  );
}

type TurnProps = { conversation_id: string; turn: Turn };

function TurnView({ conversation_id, turn }: TurnProps) {
  return (
    <article>
      {turn.messages.flatMap((message, index) => {
        const by = message.role === 'user' ? 'user' : 'agent';
        if (typeof message.content === 'string')
          // biome-ignore lint/suspicious/noArrayIndexKey: messages of a turn never move
          return message.role === 'system' ? [] : [<Bubble key={index} by={by} text={message.content} />];
        return message.content.flatMap((part, at) => {
          const key = `${index} ${at}`;
          if (part.type === 'text')
            return part.text === '' ? [] : [<Bubble key={key} by={by} text={part.text} />];
          return part.type === 'tool-call'
            ? [
                <p key={key} className="stak-portal-dim">
                  {`Used ${part.toolName.replaceAll('_', ' ')}`}
                </p>,
              ]
            : [];
        });
      })}
      {turn.routing !== 'import' && <Feedback conversation_id={conversation_id} turn={turn} />}
    </article>
  );
}

const thumbs = [
  { rating: 'good', label: 'Good answer' },
  { rating: 'bad', label: 'Bad answer' },
] as const;

// The user's feedback on an answer. Pressing the same thumb again removes it.
function Feedback({ conversation_id, turn: { seq, feedback } }: TurnProps) {
  const { client, tenant_id } = usePortal();
  const [comment, setComment] = useState('');
  const rate = useAction(
    (body: { rating: 'good' | 'bad' | null; comment?: string }) =>
      client.agents.rateAnswer({ tenant_id, conversation_id, seq, body }),
    turnsKey(conversation_id),
  );
  const explain = () => rate.mutate({ rating: 'bad', comment: comment.trim() });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would need its styles reset
    <div className="stak-portal-feedback" role="group" aria-label="Feedback">
      {thumbs.map(({ rating, label }) => (
        <button
          key={rating}
          type="button"
          aria-label={label}
          aria-pressed={feedback?.rating === rating}
          disabled={rate.isPending}
          onClick={() => rate.mutate({ rating: feedback?.rating === rating ? null : rating })}
        >
          <Thumb isDown={rating === 'bad'} />
        </button>
      ))}
      {feedback?.comment && <span className="stak-portal-dim">{feedback.comment}</span>}
      {feedback?.rating === 'bad' && feedback.comment === null && (
        <form className="stak-portal-bar" onSubmit={onSubmit(explain)}>
          <input
            aria-label="What was wrong with it?"
            placeholder="What was wrong with it?"
            maxLength={2_000}
            value={comment}
            onChange={event => setComment(event.target.value)}
          />
          <button type="submit" disabled={rate.isPending || comment.trim() === ''}>
            Save
          </button>
        </form>
      )}
      <Failure error={rate.error} />
    </div>
  );
}

const Thumb = ({ isDown }: { isDown: boolean }) => (
  <svg viewBox="0 0 24 24" width="18" height="18" aria-hidden data-down={isDown || undefined}>
    <path d="M7 11v8a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1h3a4 4 0 0 0 4-4V6a2 2 0 0 1 4 0v5h3a2 2 0 0 1 2 2l-1 5a2 3 0 0 1-2 2h-7a3 3 0 0 1-3-3" />
  </svg>
);

function Composer({ isBusy, onSay }: { isBusy: boolean; onSay: (content: string) => void }) {
  const [text, setText] = useState('');
  const send = () => {
    const content = text.trim();
    if (isBusy || content === '') return;
    setText('');
    onSay(content);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // During IME composition, Enter confirms the word.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form className="stak-portal-composer" onSubmit={onSubmit(send)}>
      <textarea
        aria-label="Message"
        placeholder="Write a message"
        rows={2}
        value={text}
        onChange={event => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <button type="submit" className="stak-portal-main" disabled={isBusy}>
        Send
      </button>
    </form>
  );
}

// Actions that the agent may take only after an approval. The conversation continues when everything is decided.
function Approvals({ conversation_id }: { conversation_id: string }) {
  const { client, tenant_id } = usePortal();
  const { data = [] } = useQuery({
    queryKey: approvalsKey(conversation_id),
    queryFn: async () =>
      (await client.agents.listConversationApprovals({ tenant_id, conversation_id, limit: 100 })).data.data,
    refetchInterval: refreshMs,
  });
  return data
    .filter(one => one.status === 'waiting')
    .map(one => <WaitingApproval key={one.approval_id} conversation_id={conversation_id} approval={one} />);
}

function WaitingApproval({ conversation_id, approval }: { conversation_id: string; approval: Approval }) {
  const { client, tenant_id } = usePortal();
  const [reason, setReason] = useState('');
  const { approval_id, name, input } = approval;
  const decide = useAction(
    (approved: boolean) => {
      const why = reason.trim();
      const body = { approved, ...(!approved && why !== '' && { reason: why }) };
      return client.agents.decideApproval({ tenant_id, conversation_id, approval_id, body });
    },
    approvalsKey(conversation_id),
    turnsKey(conversation_id),
  );
  return (
    <section className="stak-portal-card" aria-label={`Approval of ${name}`}>
      <strong>{`Approve ${name}?`}</strong>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <pre tabIndex={0}>{jsonText(input)}</pre>
      {approval.approval === 'admin' && <p className="stak-portal-dim">An admin has to agree.</p>}
      <Failure error={decide.error} />
      <div className="stak-portal-bar">
        <button
          type="button"
          className="stak-portal-main"
          disabled={decide.isPending}
          onClick={() => decide.mutate(true)}
        >
          Approve
        </button>
        <button type="button" disabled={decide.isPending} onClick={() => decide.mutate(false)}>
          Refuse
        </button>
        <input
          aria-label="Reason, if you refuse"
          placeholder="Reason, if you refuse"
          value={reason}
          onChange={event => setReason(event.target.value)}
        />
      </div>
    </section>
  );
}
