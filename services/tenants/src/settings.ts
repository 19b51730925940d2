import { nameSchemas, versionMismatch } from '@stak/http';
import { createRecentMap, isName } from '@stak/kit';
import { is, isRefused } from '@stak/table';
import { z } from 'zod';
import { color, frameAncestors, logo } from './branding.ts';
import { type Service, timestampOf } from './deps.ts';
import { settingsRefused, tenantErrors, tooLarge } from './errors.ts';
import { mergePatch, parseObject } from './json-object.ts';
import * as limits from './limits.ts';
import { channelType, withinBytes } from './schema.ts';
import { tenant } from './tables.ts';

const name = z.string().min(1).max(200);
const names = z.array(name).max(limits.listedNames);

const agentFields = {
  ai_provider: name.describe('The provider of the model.'),
  ai_model: name.describe('The model that answers, by the provider’s own name.'),
  system_prompt_override: z
    .string()
    .max(limits.promptChars)
    .describe('Instructions for the model, instead of the usual ones.'),
  max_tokens_per_message: z
    .int()
    .min(1)
    .max(limits.tokensPerMessage)
    .describe('How long an answer may be, in tokens.'),
  enabled_channels: z
    .array(channelType)
    .max(limits.listedNames)
    .describe('The channels that users may write on.'),
  enabled_skills: names.describe('The skills that are enabled.'),
  custom_skills: z
    .array(z.union([name, z.looseObject({})]))
    .max(limits.listedNames)
    .describe('Skills that the tenant serves itself.'),
  messages_per_day: z
    .int()
    .min(0)
    .max(limits.messagesPerDay)
    .describe('How many messages a day the tenant’s users may send.'),
  max_conversation_history: z
    .int()
    .min(0)
    .max(limits.conversationHistory)
    .describe('How many turns the model sees.'),
};
const portalFields = {
  portal_sign_in: z
    .enum(['host', 'mail'])
    .describe('How users sign in to the portal: with your tokens only, or also with a mailed code'),
  portal_frame_ancestors: frameAncestors.describe('Origins of pages that may show the portal in a frame'),
  portal_name: z
    .string()
    .trim()
    .max(limits.nameChars)
    .refine(isName, 'No control or invisible characters')
    .describe('The title of the portal. Empty for the name of the tenant'),
  portal_logo: logo.describe('An https:// URL, or a small image as a data: URL'),
  portal_color: color.describe('The colour of buttons and links in the portal, such as #0f766e'),
  portal_header_color: color.describe('The colour of the bar at the top of the portal'),
};
const fields = { ...agentFields, ...portalFields };
type Fields = typeof fields;

const frozen = (...values: string[]): string[] => Object.freeze(values) as string[];

export type TenantSettings = { [F in keyof Fields]: z.infer<Fields[F]> } & { [other: string]: unknown };

// Shared by all readers, so it is frozen.
export const defaultSettings: TenantSettings = Object.freeze({
  // The operator's current choice.
  ai_provider: 'default',
  ai_model: 'default',
  system_prompt_override: '',
  max_tokens_per_message: 4096,
  enabled_channels: frozen('dashboard'),
  enabled_skills: frozen('sprint_status'),
  custom_skills: frozen(),
  messages_per_day: 1000,
  max_conversation_history: 20,
  portal_sign_in: 'host',
  portal_frame_ancestors: frozen(),
  portal_name: '',
  portal_logo: '',
  portal_color: '',
  portal_header_color: '',
});

// An admin of the tenant may change these. The other settings cost the account something, or open the portal to other
// pages.
const forAdmins: ReadonlySet<string> = new Set([
  'system_prompt_override',
  'enabled_channels',
  'enabled_skills',
  'custom_skills',
  'skill_approvals',
  'portal_name',
  'portal_logo',
  'portal_color',
  'portal_header_color',
]);
export const isForAdmins = (name: string): boolean => forAdmins.has(name);

const nullish = Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, field.nullish()])) as {
  [F in keyof Fields]: z.ZodOptional<z.ZodNullable<Fields[F]>>;
};
const sizeHint = `At most ${limits.settingsBytes} bytes of JSON`;
const isSmall = withinBytes(limits.settingsBytes);

// Unknown keys are kept: a newer version, or the tenant's own program, wrote them. Those of the portal are optional for
// readers, because they were added later.
export const settingsShape = z.looseObject({ ...agentFields, ...z.object(portalFields).partial().shape });
nameSchemas({ TenantSettings: settingsShape });
export const settingsBody = z.looseObject(fields).partial().refine(isSmall, sizeHint);
export const settingsPatch = z.looseObject(nullish).refine(isSmall, sizeHint);

// They are read with every request of a tenant and rarely change, so parsed settings are cached by their text.
const rememberedTexts = createRecentMap<string, TenantSettings>(limits.rememberedSettings);

export function readSettings(text: string): TenantSettings {
  let settings = rememberedTexts.get(text);
  if (!settings) {
    settings = freeze(parseSettings(text));
    if (text.length <= limits.rememberedSettingsChars) rememberedTexts.set(text, settings);
  }
  return settings;
}

// Shared by all readers, so it is frozen.
function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value))
    for (const part of Object.values(Object.freeze(value))) freeze(part);
  return value;
}

// Missing or invalid fields of an older version get their default, so that readers can rely on every field.
function parseSettings(text: string): TenantSettings {
  const stored = parseObject(text);
  const settings: Record<string, unknown> = { ...stored };
  for (const [key, field] of Object.entries(fields))
    if (!field.safeParse(stored[key]).success) settings[key] = defaultSettings[key];
  return settings as TenantSettings;
}

// Skills about the account itself: tenants cannot use them, unless the account allows it.
export function refuseAccountSkills(
  { accountSkills }: Pick<Service, 'accountSkills'>,
  before: TenantSettings,
  patch: z.infer<typeof settingsPatch>,
): void {
  const known = new Set([...before.enabled_skills, ...before.custom_skills]);
  const approvals = patch.skill_approvals;
  const wanted = [
    ...[...(patch.enabled_skills ?? []), ...(patch.custom_skills ?? [])].filter(name => !known.has(name)),
    ...Object.keys(typeof approvals === 'object' && approvals !== null ? approvals : {}),
  ];
  const refused = (accountSkills?.() ?? []).filter(name => wanted.includes(name));
  if (refused.length > 0)
    throw tenantErrors.create(
      'tenants.admin_refused',
      `Only the account can enable these skills: ${refused.join(', ')}.`,
    );
}

export type VersionedSettings = { settings: TenantSettings; version: number };
type Read = { tenant_id: string; settings: TenantSettings; settings_version: number };

export const replaceSettings = (
  deps: Service,
  read: Read,
  body: z.infer<typeof settingsBody>,
  expected: string | undefined,
): Promise<VersionedSettings> => writeSettings(deps, read, { ...defaultSettings, ...body }, expected);

// A removed field gets its default, if it has one.
export function patchSettings(
  deps: Service,
  read: Read,
  patch: z.infer<typeof settingsPatch>,
  expected: string | undefined,
): Promise<VersionedSettings> {
  const merged = mergePatch(read.settings, patch);
  return writeSettings(deps, read, { ...defaultSettings, ...merged }, expected);
}

// Conditional on the version that was read, even if the caller accepts any: a patch is computed from it.
async function writeSettings(
  deps: Service,
  { tenant_id, settings: before, settings_version }: Read,
  settings: TenantSettings,
  expected: string | undefined,
): Promise<VersionedSettings> {
  if (expected !== undefined && expected !== String(settings_version)) throw versionMismatch();
  if (!isSmall(settings)) throw tooLarge('settings', limits.settingsBytes);
  const problems = (await deps.checkSettings?.(tenant_id, before, settings)) ?? [];
  if (problems.length > 0) throw settingsRefused(problems);
  const version = settings_version + 1;
  try {
    await deps.store.update(
      tenant,
      { tenant_id },
      {
        set: {
          settings: JSON.stringify(settings),
          settings_version: version,
          updated_at: timestampOf(deps.clock.now()),
        },
      },
      { if: { settings_version, status: is.not('deleted') }, pattern: 'write settings' },
    );
  } catch (error) {
    throw isRefused(error) ? versionMismatch() : error;
  }
  return { settings, version };
}
