export const channelTypes = ['slack', 'teams', 'telegram', 'whatsapp'] as const;
export type ChannelType = (typeof channelTypes)[number];

export const channelNames: Readonly<Record<ChannelType, string>> = {
  slack: 'Slack',
  teams: 'Teams',
  telegram: 'Telegram',
  whatsapp: 'WhatsApp',
};

export const isChannelType = (type: string): type is ChannelType =>
  (channelTypes as readonly string[]).includes(type);

type Kind = {
  idLabel: string;
  secrets: Readonly<Record<string, string>>; // the provider's label of each secret, by our name
  tell: string; // what to do on the provider's side
};

export const channelKinds: Readonly<Record<ChannelType, Kind>> = {
  slack: {
    idLabel: 'Team ID',
    secrets: { signing_secret: 'Signing secret', bot_token: 'Bot token' },
    tell: 'Enter it as the request URL of the event subscription.',
  },
  teams: {
    idLabel: 'App ID of the bot',
    secrets: { app_password: 'App password' },
    tell: 'Enter it as the messaging endpoint of the bot.',
  },
  telegram: {
    idLabel: 'ID of the bot',
    secrets: { secret_token: 'Secret token (16 characters or more)', bot_token: 'Bot token' },
    tell: 'Call setWebhook with it and with the secret token.',
  },
  whatsapp: {
    idLabel: 'Phone number ID',
    secrets: { app_secret: 'App secret', verify_token: 'Verify token', access_token: 'Access token' },
    tell: 'Enter it as the callback URL, with the verify token.',
  },
};

export const webhookAddress = (type: string, channel_id: string): string =>
  `${location.origin}/v1/channels/${type}/${encodeURIComponent(channel_id)}/webhook`;
