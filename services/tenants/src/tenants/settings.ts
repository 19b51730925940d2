import { versionMismatch } from '@stak/http';
import { is, isRefused } from '@stak/table';
import { z } from 'zod';
import { type Service, timestampOf } from '../deps.ts';
import { settingsRefused, tooLarge } from '../errors.ts';
import { mergePatch, parseObject } from '../json-object.ts';
import * as limits from '../limits.ts';
import { channelType, withinBytes } from '../schema.ts';
import { tenant } from '../table.ts';

const name = z.string().min(1).max(200);
const names = z.array(name).max(limits.listedNames);

const fields = {
  ai_provider: name,
  ai_model: name,
  system_prompt_override: z.string().max(limits.promptChars),
  max_tokens_per_message: z.int().min(1).max(limits.tokensPerMessage),
  enabled_channels: z.array(channelType).max(limits.listedNames),
  enabled_skills: names,
  custom_skills: z.array(z.union([name, z.looseObject({})])).max(limits.listedNames),
  messages_per_day: z.int().min(0).max(limits.messagesPerDay),
  max_conversation_history: z.int().min(0).max(limits.conversationHistory),
};
type Fields = typeof fields;

const frozen = (...values: string[]): string[] => Object.freeze(values) as string[];

export type TenantSettings = { [F in keyof Fields]: z.infer<Fields[F]> } & { [other: string]: unknown };

// Shared by all who read them, so nobody can change them.
export const defaultSettings: TenantSettings = Object.freeze({
  // The operator's choice, whatever it is at the time.
  ai_provider: 'default',
  ai_model: 'default',
  system_prompt_override: '',
  max_tokens_per_message: 4096,
  enabled_channels: frozen('dashboard'),
  enabled_skills: frozen('sprint_status'),
  custom_skills: frozen(),
  messages_per_day: 1000,
  max_conversation_history: 20,
});

const nullish = Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, field.nullish()])) as {
  [F in keyof Fields]: z.ZodOptional<z.ZodNullable<Fields[F]>>;
};
const sizeHint = `At most ${limits.settingsBytes} bytes of JSON`;
const isSmall = withinBytes(limits.settingsBytes);

// Keys that this version does not know are kept: a newer one, or the tenant's own program, wrote them.
export const settingsShape = z.looseObject(fields);
export const settingsBody = z.looseObject(fields).partial().refine(isSmall, sizeHint);
export const settingsPatch = z.looseObject(nullish).refine(isSmall, sizeHint);

// What an older writer left out or got wrong is the default, so that a reader never has to doubt a field.
export function readSettings(text: string): TenantSettings {
  const stored = parseObject(text);
  const settings: Record<string, unknown> = { ...stored };
  for (const [key, field] of Object.entries(fields))
    if (!field.safeParse(stored[key]).success) settings[key] = defaultSettings[key];
  return settings as TenantSettings;
}

export type VersionedSettings = { settings: TenantSettings; version: number };
type Read = { tenant_id: string; settings: TenantSettings; settings_version: number };

export const replaceSettings = (
  deps: Service,
  read: Read,
  body: z.infer<typeof settingsBody>,
  expected: string | undefined,
): Promise<VersionedSettings> => writeSettings(deps, read, { ...defaultSettings, ...body }, expected);

// What a patch removes goes back to its default, if it has one.
export function patchSettings(
  deps: Service,
  read: Read,
  patch: z.infer<typeof settingsPatch>,
  expected: string | undefined,
): Promise<VersionedSettings> {
  const merged = mergePatch(read.settings, patch);
  return writeSettings(deps, read, { ...defaultSettings, ...merged }, expected);
}

// Conditioned on the version that was read, also where the caller would take any: a patch is made from it.
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
