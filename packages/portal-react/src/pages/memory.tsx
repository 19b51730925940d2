import type { ApiTypes } from '@stak/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmButton, Failure, Loaded, onSubmit, Title, useAction } from '../parts.tsx';
import { usePortal } from '../provider.tsx';
import { memoryKey } from '../queries.ts';

type Item = ApiTypes['agents.listMemory']['data']['data'][number];

function usePerson() {
  const { client, tenant_id } = usePortal();
  return { client, person: { tenant_id, user_id: 'me' } };
}

export function Memory() {
  const { client, person } = usePerson();
  const memory = useQuery({
    queryKey: memoryKey,
    queryFn: async () => {
      const [status, list] = await Promise.all([
        client.agents.getMemorySettings(person),
        client.agents.listMemory({ ...person, limit: 100 }),
      ]);
      return { ...status.data, items: list.data.data };
    },
  });
  const decline = useAction(
    (is_declined: boolean) => client.agents.changeMemorySettings({ ...person, body: { is_declined } }),
    memoryKey,
  );
  const forgetSummary = useAction(
    () => client.agents.changeMemorySettings({ ...person, body: { memory_summary: null } }),
    memoryKey,
  );
  return (
    <section>
      <Title>What is remembered about you</Title>
      <Loaded query={memory}>
        {({ is_declined, memory_summary, items }) => (
          <>
            {is_declined ? (
              <p>Nothing is remembered, as you wanted.</p>
            ) : items.length === 0 && memory_summary === null ? (
              <p className="stak-portal-dim">Nothing yet. Ask the agent to remember something.</p>
            ) : null}
            {memory_summary !== null && (
              <div className="stak-portal-card">
                <p>{memory_summary}</p>
                <button type="button" onClick={() => forgetSummary.mutate(undefined)}>
                  Forget the summary
                </button>
              </div>
            )}
            {items.map(item => (
              <Remembered key={item.session_id} item={item} />
            ))}
            {is_declined ? (
              <button type="button" onClick={() => decline.mutate(false)}>
                Remember me again
              </button>
            ) : (
              <ConfirmButton label="Forget me and remember nothing" onConfirm={() => decline.mutate(true)} />
            )}
          </>
        )}
      </Loaded>
      <Failure error={decline.error ?? forgetSummary.error} />
    </section>
  );
}

function Remembered({ item }: { item: Item }) {
  const { client, person } = usePerson();
  const { session_id, summary, key_facts } = item;
  const change = useAction(
    (facts: readonly { fact_id?: string; fact: string }[]) =>
      client.agents.editMemory({
        ...person,
        session_id,
        body: { key_facts: facts.map(({ fact_id, fact }) => ({ fact_id, fact })) },
      }),
    memoryKey,
  );
  const forget = useAction(() => client.agents.deleteMemory({ ...person, session_id }), memoryKey);
  return (
    <div className="stak-portal-card">
      {summary !== null && <p>{summary}</p>}
      <ul>
        {key_facts.map(fact => (
          <Fact
            key={fact.fact_id}
            text={fact.fact}
            onSave={text =>
              change.mutate(
                key_facts.map(one => (one.fact_id === fact.fact_id ? { ...one, fact: text } : one)),
              )
            }
            // If nothing is left, the entry is deleted.
            onForget={() =>
              key_facts.length === 1 && summary === null
                ? forget.mutate(undefined)
                : change.mutate(key_facts.filter(one => one.fact_id !== fact.fact_id))
            }
          />
        ))}
      </ul>
      <Failure error={change.error ?? forget.error} />
      {summary !== null && (
        <ConfirmButton label="Forget all of this" onConfirm={() => forget.mutate(undefined)} />
      )}
    </div>
  );
}

function Fact({
  text,
  onSave,
  onForget,
}: {
  text: string;
  onSave: (text: string) => void;
  onForget: () => void;
}) {
  const [draft, setDraft] = useState<string>();
  if (draft === undefined)
    return (
      <li className="stak-portal-bar">
        <span className="stak-portal-space">{text}</span>
        <button type="button" aria-label={`Edit ${text}`} onClick={() => setDraft(text)}>
          Edit
        </button>
        <button type="button" aria-label={`Forget ${text}`} onClick={onForget}>
          Forget
        </button>
      </li>
    );
  return (
    <li>
      <form
        className="stak-portal-bar"
        onSubmit={onSubmit(() => {
          setDraft(undefined);
          onSave(draft);
        })}
      >
        <input
          aria-label="What to remember"
          required
          value={draft}
          onChange={event => setDraft(event.target.value)}
        />
        <button type="submit" className="stak-portal-main">
          Save
        </button>
        <button type="button" onClick={() => setDraft(undefined)}>
          Cancel
        </button>
      </form>
    </li>
  );
}
