import { boundedRecord, nameSchemas } from '@stak/http';
import { z } from 'zod';
import * as limits from '../limits.ts';

// What A2A 1.0 sends as JSON-RPC: https://a2a-protocol.org/v1.0.0/specification

const name = z.string().max(limits.a2aIdChars);
const metadata = boundedRecord(z.string().max(200), z.unknown(), limits.a2aFields);

export const rpcRequest = z.strictObject({
  jsonrpc: z.literal('2.0').describe('Always `2.0`'),
  id: z.union([name, z.int(), z.null()]).optional().describe('Returned with the answer'),
  method: z.string().max(100).describe('The name of the method, such as `SendMessage`'),
  params: boundedRecord(z.string().max(100), z.unknown(), limits.a2aFields)
    .optional()
    .describe('The parameters of the method'),
});
export type RpcRequest = z.output<typeof rpcRequest>;

const part = z.strictObject({
  text: z.string().max(limits.messageBodyBytes).optional(),
  data: z.unknown().optional(),
  raw: z.unknown().optional(),
  url: z.unknown().optional(),
  filename: name.optional(),
  mediaType: name.optional(),
  metadata: metadata.nullish(),
});

const message = z.strictObject({
  messageId: name.min(1),
  contextId: name.optional(),
  taskId: z.string().max(limits.a2aTaskIdChars).optional(),
  role: z.literal('ROLE_USER'),
  parts: z.array(part).min(1).max(limits.contentParts),
  metadata: metadata.nullish(),
  extensions: z.array(name).max(limits.a2aFields).optional(),
  referenceTaskIds: z.array(z.string().max(limits.a2aTaskIdChars)).max(limits.a2aFields).optional(),
});
export type SentMessage = z.output<typeof message>;

const tenant = name.optional(); // the path names it
const count = z.int().min(0).max(1000).optional();
const task = { tenant, id: z.string().max(limits.a2aTaskIdChars) };

export const paramsOf = {
  SendMessage: z.strictObject({
    tenant,
    message,
    configuration: z
      .strictObject({
        acceptedOutputModes: z.array(name).max(limits.a2aFields).optional(),
        taskPushNotificationConfig: z.unknown().optional(),
        historyLength: count,
        returnImmediately: z.boolean().optional(),
      })
      .nullish(),
    metadata: metadata.nullish(),
  }),
  GetTask: z.strictObject({ ...task, historyLength: count }),
  ListTasks: z.strictObject({
    tenant,
    contextId: name.optional(),
    status: name.optional(),
    pageSize: z.int().min(1).max(100).optional(),
    pageToken: name.optional(),
    historyLength: count,
    statusTimestampAfter: name.nullish(),
    includeArtifacts: z.boolean().optional(),
  }),
  CancelTask: z.strictObject({ ...task, metadata: metadata.nullish() }),
  SubscribeToTask: z.strictObject(task),
};
export type SendParams = z.output<(typeof paramsOf)['SendMessage']>;
export type ListParams = z.output<(typeof paramsOf)['ListTasks']>;

// An answer to an approval, as the data of a part.
export const decisions = z
  .array(
    z.strictObject({
      approval_id: name,
      approved: z.boolean(),
      reason: z.string().max(limits.a2aIdChars).optional(),
    }),
  )
  .min(1);

export const rpcAnswer = z.strictObject({
  jsonrpc: z.literal('2.0').describe('Always `2.0`'),
  id: z.union([z.string(), z.int(), z.null()]).describe('That of the request'),
  result: z.unknown().optional().describe('What the method returns'),
  error: z
    .strictObject({
      code: z.int().describe('The code of A2A or JSON-RPC'),
      message: z.string().describe('What went wrong'),
      data: z.array(z.looseObject({})).optional().describe('More about it'),
    })
    .optional()
    .describe('Why there is no result'),
});

export type RpcAnswer = z.output<typeof rpcAnswer>;
export type RpcId = RpcAnswer['id'];

export const agentCard = z.looseObject({
  name: z.string().describe('The name of the agent'),
  description: z.string().describe('What it is for'),
  version: z.string().describe('The version of the agent'),
});
nameSchemas({ A2aRequest: rpcRequest, A2aAnswer: rpcAnswer, AgentCard: agentCard });
