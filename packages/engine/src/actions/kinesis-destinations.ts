import type { Context } from '../context.ts';
import { validationError } from '../errors.ts';
import type { KinesisDestination } from '../storage/table.ts';
import { knownTable } from '../tables/known-table.ts';
import {
  type EnableKinesisInput,
  type UpdateKinesisInput,
  validateKinesisDestination,
  validateUpdateKinesisDestination,
} from '../validation/table-extras.ts';
import { type TableInput, validateTableInput } from '../validation/tables.ts';

// There is no Kinesis here, so a destination behaves as on AWS when its stream does not exist: it is accepted and then
// fails to be enabled.

export function describeKinesisStreamingDestination(context: Context, input: TableInput) {
  validateTableInput(input);
  const { name, kinesis = [] } = knownTable(context, input.TableName);
  return { TableName: name, KinesisDataStreamDestinations: kinesis.map(describe) };
}

export async function enableKinesisStreamingDestination(context: Context, input: EnableKinesisInput) {
  validateKinesisDestination(input);
  const configuration = input.EnableKinesisStreamingConfiguration;
  return context.submit(tx => {
    const table = knownTable(context, input.TableName);
    const others = (table.kinesis ?? []).filter(({ arn }) => arn !== input.StreamArn);
    const precision = configuration?.ApproximateCreationDateTimePrecision;
    const added: KinesisDestination = { arn: input.StreamArn, ...(precision && { precision }) };
    context.catalog.save(tx, { ...table, kinesis: [...others, added] });
    return {
      TableName: table.name,
      StreamArn: input.StreamArn,
      DestinationStatus: 'ENABLING',
      ...(configuration && { EnableKinesisStreamingConfiguration: configuration }),
    };
  });
}

export function disableKinesisStreamingDestination(context: Context, input: EnableKinesisInput): never {
  validateKinesisDestination(input);
  knownTable(context, input.TableName);
  throw validationError(
    'Table is not in a valid state to enable Kinesis Streaming Destination: KinesisStreamingDestination must be ' +
      'ACTIVE to perform DISABLE operation.',
  );
}

export function updateKinesisStreamingDestination(context: Context, input: UpdateKinesisInput): never {
  validateUpdateKinesisDestination(input);
  const { name } = knownTable(context, input.TableName);
  if (!input.UpdateKinesisStreamingConfiguration?.ApproximateCreationDateTimePrecision) {
    throw validationError(
      'Streaming destination cannot be updated with given parameters: UpdateKinesisStreamingConfiguration cannot be ' +
        'null or contain only null values',
    );
  }
  throw validationError(
    'Table is not in a valid state to enable Kinesis Streaming Destination: Kinesis streaming is not in ACTIVE ' +
      `state. Updates are only allowed in ACTIVE state. TableName: ${name}, kdsArn: ${input.StreamArn}`,
  );
}

const describe = ({ arn, precision }: KinesisDestination) => ({
  StreamArn: arn,
  DestinationStatus: 'ENABLE_FAILED',
  DestinationStatusDescription: 'The Kinesis stream does not exist',
  ...(precision && { ApproximateCreationDateTimePrecision: precision }),
});
