import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import { StakError } from '@stak/client';

export const isWrongPassword = (error: unknown): boolean =>
  error instanceof StakError && error.code === 'accounts.password_wrong';

type Props = Pick<PasswordInputProps, 'name' | 'label' | 'w'> & {
  error: unknown; // of what it was given for
};

/** The password of the person who is signed in, for what needs it once more. Shown to those who have one. */
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
