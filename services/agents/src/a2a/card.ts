import type { EnteredTenant } from '../deps.ts';

// What other agents read about one before they talk to it. A tenant has one agent, without a name of its own.

export const a2aPath = '/v1/tenants/{tenant_id}/a2a' as const;

const text = 'text/plain';

export function showCard({ tenant_id, name }: Pick<EnteredTenant, 'tenant_id' | 'name'>, publicUrl: string) {
  const url = `${publicUrl}${a2aPath.replace('{tenant_id}', encodeURIComponent(tenant_id))}`;
  const description = `The agent of ${name}: answers in conversations, with its skills and memory.`;
  return {
    ...{ name, description, version: '1.0.0' },
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
    securitySchemes: {
      bearer: {
        httpAuthSecurityScheme: {
          ...{ scheme: 'Bearer', description: 'An API key, or the token of an end user' },
        },
      },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: [text],
    defaultOutputModes: [text],
    skills: [{ id: 'chat', name: 'Chat', description, tags: ['chat'] }],
  };
}
