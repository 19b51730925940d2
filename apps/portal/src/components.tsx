import { type UseQueryResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { go, hrefOf } from './router.ts';
import { messageOf } from './session.ts';

export function Failure({ error }: { error: unknown }) {
  return error ? (
    <p className="failure" role="alert">
      {messageOf(error)}
    </p>
  ) : null;
}

export function Loaded<T>({
  query,
  children,
}: {
  query: UseQueryResult<T>;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error)
    return (
      <div>
        <Failure error={query.error} />
        <button type="button" onClick={() => void query.refetch()}>
          Try again
        </button>
      </div>
    );
  return (
    <p role="status" className="dim">
      Loading…
    </p>
  );
}

export function Field({ label, children }: { label: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
    </div>
  );
}

export function PageLink({ page, now, children }: { page: string; now: string; children: ReactNode }) {
  return (
    <a
      href={hrefOf(page)}
      aria-current={now === page ? 'page' : undefined}
      onClick={event => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        go(page);
      }}
    >
      {children}
    </a>
  );
}

// Runs something, shows that it runs and why it failed, and reads again what it changed.
export function useAction<T>(run: (input: T) => Promise<unknown>, ...changed: readonly string[][]) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSettled: () => Promise.all(changed.map(queryKey => queries.invalidateQueries({ queryKey }))),
  });
}

// A form without pages: the first submit, then what the answer says.
export const onSubmit = (submit: () => void) => (event: FormEvent) => {
  event.preventDefault();
  submit();
};

// Asks once more, in place.
export function ConfirmButton({ label, onConfirm }: { label: string; onConfirm: () => void }) {
  const [isOpen, setIsOpen] = useState(false);
  if (!isOpen)
    return (
      <button type="button" onClick={() => setIsOpen(true)}>
        {label}
      </button>
    );
  return (
    <span className="confirm">
      <button
        type="button"
        className="danger"
        onClick={() => {
          setIsOpen(false);
          onConfirm();
        }}
      >
        {`Really ${label.toLowerCase()}`}
      </button>
      <button type="button" onClick={() => setIsOpen(false)}>
        Cancel
      </button>
    </span>
  );
}
