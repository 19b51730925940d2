import type { z } from 'zod';
import type { Base, SkillDeps } from '../deps.ts';

export const channelTypes = ['slack', 'teams', 'telegram', 'whatsapp'] as const;
export type ChannelType = (typeof channelTypes)[number];

// The request: exact bytes, because signatures are computed over them.
export type Delivery = {
  channelId: string;
  header(name: string): string | undefined;
  body: Uint8Array;
};

// One message of a user, in the provider's own ids.
export type ChannelMessage = {
  id: string; // the same for every repetition
  identity: string; // the sender
  chat: string; // the chat: one conversation each
  text: string;
  atS?: number; // when it was sent, if the provider's signature does not show its age
  replyTo: Record<string, string>; // what the provider needs to deliver the answer
};

// A press of a button under a question.
export type ChannelPress = {
  identity: string; // the person who pressed it
  conversation_id: string;
  approval_id: string;
  approved: boolean;
  privateTo?: Record<string, string>; // where to show the person alone why it had no effect
};

// The calls of a turn that need or needed an approval. Pending ones have buttons.
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

export type ProviderDeps = Pick<Base, 'clock' | 'log'> & Pick<SkillDeps, 'outbound'>;

// The differences between providers. A delivery is not read before it is verified.
export type ChannelKind = {
  readonly credentials: z.ZodObject; // all of them secret
  // Called before credentials are stored, if a delivery does not show that its sender knows them.
  checkOwner?(service: ProviderDeps, channelId: string, secrets: Secrets): Promise<Outcome>;
  prove(service: ProviderDeps, delivery: Delivery, secrets: Secrets): Promise<boolean>;
  read(delivery: Delivery): Understood;
  // The handshake of a provider that sends a GET request first.
  greet?(query: Readonly<Record<string, string>>, secrets: Secrets): string | undefined;
  send(
    service: ProviderDeps,
    channelId: string,
    secrets: Secrets,
    replyTo: Record<string, string>,
    text: string,
  ): Promise<Outcome>;
  // For channels with buttons. Shows the question, or, with the result of that, updates it.
  ask?(
    service: ProviderDeps,
    channelId: string,
    secrets: Secrets,
    replyTo: Record<string, string>,
    question: Question,
    shownAs?: Record<string, string>,
  ): Promise<Outcome & { shownAs?: Record<string, string> }>;
  // Sends a text to a person alone who pressed a button too late, or that is not theirs.
  sendPrivately?(
    service: ProviderDeps,
    channelId: string,
    secrets: Secrets,
    privateTo: Record<string, string>,
    text: string,
  ): Promise<Outcome>;
  // The body of the response to a press, if the provider shows it to that person only.
  answerPress?(delivery: Delivery, text: string): PressAnswer | undefined;
};
type PressAnswer = { statusCode: number; type: string; value: string };
export type ChannelKinds = Readonly<Record<ChannelType, ChannelKind>>;
