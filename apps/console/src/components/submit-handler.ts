import type { FormEvent } from 'react';

/** Handles the submission of a form, with the texts of its fields. */
export const submitHandler =
  (handle: (text: (field: string) => string, form: HTMLFormElement) => void) =>
  (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    // React passes the submission of a dialog's form on to the form that opened it.
    event.stopPropagation();
    const form = event.currentTarget;
    const fields = new FormData(form);
    handle(field => String(fields.get(field) ?? ''), form);
  };
