// The URLs of the providers' APIs. Different in tests, behind a proxy, or in a sovereign cloud.
export type ChannelAddresses = {
  slack: string;
  telegram: string;
  whatsapp: string;
  teamsOpenId: string;
  teamsToken: string;
};

export const providerAddresses: ChannelAddresses = {
  slack: 'https://slack.com/api',
  telegram: 'https://api.telegram.org',
  whatsapp: 'https://graph.facebook.com/v21.0',
  teamsOpenId: 'https://login.botframework.com/v1/.well-known/openidconfiguration',
  teamsToken: 'https://login.microsoftonline.com/botframework.com/oauth2/v2.0/token',
};
