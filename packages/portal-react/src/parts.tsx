import { StakError } from '@stak/client';
import { type UseQueryResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { usePortal } from './provider.tsx';

// What the pages are made of, for pages of your own that look the same.

export { userKey } from './queries.ts';
export { themeOf } from './theme.ts';

/** What to show of an error. */
export const messageOf = (error: unknown): string =>
  error instanceof StakError ? error.detail : error instanceof Error ? error.message : String(error);

/** The title of a page: below the headings of a page that it is only a part of. */
export function Title({ id, children }: { id?: string; children: ReactNode }) {
  const Level = usePortal().isPage ? 'h1' : 'h2';
  return (
    <Level id={id} className="stak-portal-title">
      {children}
    </Level>
  );
}

/** Shows an error, or nothing if there is none. */
export function Failure({ error }: { error: unknown }) {
  return error ? (
    <p className="stak-portal-failure" role="alert">
      {messageOf(error)}
    </p>
  ) : null;
}

/** Shows the data of a query, and until then that it is loading or why it failed. */
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
    <p role="status" className="stak-portal-dim">
      Loading…
    </p>
  );
}

/** A label for a field: `children` gets the id that the field needs. */
export function Field({ label, children }: { label: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="stak-portal-field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
    </div>
  );
}

/** Runs something, shows that it runs and why it failed, and reads the changed queries again. */
export function useAction<T>(run: (input: T) => Promise<unknown>, ...changed: readonly string[][]) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSettled: () => Promise.all(changed.map(queryKey => queries.invalidateQueries({ queryKey }))),
  });
}

/** A handler for `onSubmit` of a form that does not leave the page. */
export const onSubmit = (submit: () => void) => (event: FormEvent) => {
  event.preventDefault();
  submit();
};

type ConfirmProps = {
  label: string;
  about?: string; // what it is done to, for those who do not see where the button stands
  onConfirm: () => void;
};

/** A button that asks once more, in place. */
export function ConfirmButton({ label, about, onConfirm }: ConfirmProps) {
  const [isOpen, setIsOpen] = useState(false);
  const really = `Really ${label.charAt(0).toLowerCase()}${label.slice(1)}`;
  const nameOf = (text: string) => (about === undefined ? undefined : `${text} ${about}`);
  if (!isOpen)
    return (
      <button type="button" aria-label={nameOf(label)} onClick={() => setIsOpen(true)}>
        {label}
      </button>
    );
  return (
    <span className="stak-portal-confirm">
      <button
        type="button"
        aria-label={nameOf(really)}
        className="stak-portal-danger"
        onClick={() => {
          setIsOpen(false);
          onConfirm();
        }}
      >
        {really}
      </button>
      <button type="button" onClick={() => setIsOpen(false)}>
        Cancel
      </button>
    </span>
  );
}
