import type { z } from 'zod';
import type { Service } from '../deps.ts';

export const channelTypes = ['slack', 'teams', 'telegram', 'whatsapp'] as const;
export type ChannelType = (typeof channelTypes)[number];

// What came in: the bytes as they were sent, because signatures are made over them.
export type Delivery = {
  channelId: string;
  header(name: string): string | undefined;
  body: Uint8Array;
};

// One message of a user, in the provider's own ids.
export type ChannelMessage = {
  id: string; // the same for every repetition
  identity: string; // who says it
  chat: string; // where: one conversation each
  text: string;
  atS?: number; // when it was said, if the provider's signature does not tell how old it is
  replyTo: Record<string, string>; // what the provider needs to put the answer there
};

// A button under a question, pressed by somebody.
export type ChannelPress = {
  identity: string; // who pressed it
  conversation_id: string;
  approval_id: string;
  approved: boolean;
  tellTo?: Record<string, string>; // where to tell them, and nobody else, why nothing came of it
};

// The calls of a turn that wait for an approval or waited for one. Those that wait have buttons.
export type Question = {
  text: string;
  conversation_id: string;
  calls: readonly { approval_id: string; text: string; outcome?: string }[];
};

type Understood = {
  messages: readonly ChannelMessage[];
  presses?: readonly ChannelPress[];
  challenge?: string;
};
export type Outcome = { ok: true } | { ok: false; retryMs?: number; reason: string };

type Secrets = Record<string, string>;

// What tells one provider from another. Nothing is read from a delivery before it is proven.
export type ChannelKind = {
  readonly credentials: z.ZodObject; // all of them secret
  // Asked before credentials are kept, where a delivery does not show that its sender knows them.
  checkOwner?(service: Service, channelId: string, secrets: Secrets): Promise<Outcome>;
  prove(service: Service, delivery: Delivery, secrets: Secrets): Promise<boolean>;
  read(delivery: Delivery): Understood;
  // The handshake of a provider that asks by GET before it sends anything.
  greet?(query: Readonly<Record<string, string>>, secrets: Secrets): string | undefined;
  send(
    service: Service,
    channelId: string,
    secrets: Secrets,
    replyTo: Record<string, string>,
    text: string,
  ): Promise<Outcome>;
  // Of channels with buttons. Shows the question, or, with what came of that, what has become of it since.
  ask?(
    service: Service,
    channelId: string,
    secrets: Secrets,
    replyTo: Record<string, string>,
    question: Question,
    shownAs?: Record<string, string>,
  ): Promise<Outcome & { shownAs?: Record<string, string> }>;
  // To somebody who pressed a button that is not theirs, or too late.
  tell?(
    service: Service,
    channelId: string,
    secrets: Secrets,
    tellTo: Record<string, string>,
    text: string,
  ): Promise<Outcome>;
  // The body of the answer to a press, where the provider shows it to whom it was.
  answerPress?(delivery: Delivery, text: string): PressAnswer | undefined;
};
type PressAnswer = { statusCode: number; type: string; value: string };
export type ChannelKinds = Readonly<Record<ChannelType, ChannelKind>>;
