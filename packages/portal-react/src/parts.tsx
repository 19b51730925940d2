import { StakError } from '@stak/client';
import { type UseQueryResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { usePortal } from './provider.tsx';

// The building blocks of the pages, for pages of your own that look the same.

export { userKey } from './queries.ts';
export { themeOf } from './theme.ts';

/** The message of an error to show to a user. */
export const messageOf = (error: unknown): string =>
  error instanceof StakError ? error.detail : error instanceof Error ? error.message : String(error);

/** The title of a page: a level 1 heading, or level 2 if the page is embedded in another one. */
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

/** Shows the data of a query, a placeholder while it loads, or why it failed. */
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

/** A field with a label. `children` receives the id for the field. */
export function Field({ label, children }: { label: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="stak-portal-field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
    </div>
  );
}

/** A mutation that invalidates the given queries when it is done. */
export function useAction<T>(run: (input: T) => Promise<unknown>, ...changed: readonly string[][]) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSettled: () => Promise.all(changed.map(queryKey => queries.invalidateQueries({ queryKey }))),
  });
}

/** An `onSubmit` handler that stays on the page. */
export const onSubmit = (submit: () => void) => (event: FormEvent) => {
  event.preventDefault();
  submit();
};

type ConfirmProps = {
  label: string;
  about?: string; // what the action applies to, for screen readers
  onConfirm: () => void;
};

/** A button that asks for confirmation in place. */
export function ConfirmButton({ label, about, onConfirm }: ConfirmProps) {
  const [isOpen, setIsOpen] = useState<boolean>(); // undefined until it was opened
  const really = `Really ${label.charAt(0).toLowerCase()}${label.slice(1)}`;
  const nameOf = (text: string) => (about === undefined ? undefined : `${text} ${about}`);
  if (!isOpen)
    return (
      <button
        type="button"
        aria-label={nameOf(label)}
        // biome-ignore lint/a11y/noAutofocus: the button that had the focus is gone
        autoFocus={isOpen === false}
        onClick={() => setIsOpen(true)}
      >
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
      {/* biome-ignore lint/a11y/noAutofocus: the button that had the focus is gone */}
      <button type="button" autoFocus onClick={() => setIsOpen(false)}>
        Cancel
      </button>
    </span>
  );
}
