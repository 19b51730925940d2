import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes } from 'react';

type Link<Own> = Own & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof Own>;

// A router link that looks like any other link.
export const TextLink = createLink((props: Link<AnchorProps>) => <Anchor {...props} />);

// A router link that looks like a button.
export const ButtonLink = createLink((props: Link<ButtonProps>) => <Button component="a" {...props} />);
