import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import { StakError } from '@stak/client';

export const isWrongPassword = (error: unknown): boolean =>
  error instanceof StakError && error.code === 'accounts.password_wrong';

type Props = Pick<PasswordInputProps, 'name' | 'label' | 'w'> & {
  error: unknown; // of the action that needed it
};

/** Asks for the signed-in person's password again. Shown only if they have one. */
export const OwnPassword = ({ error, name = 'password', label = 'Your password', w }: Props) => (
  <PasswordInput
    name={name}
    label={label}
    required
    w={w}
    autoComplete="current-password"
    error={isWrongPassword(error) && 'This is not your password.'}
  />
);
