import type { AnyTable } from '@stak/table';
import { handlerId } from './handlers.ts';
import type { LambdaFunction } from './lambda-functions.ts';
import { attribute, ref, sub } from './references.ts';
import { tableId } from './storage.ts';
import type { Resource, Resources } from './template.ts';

const loadBalancer = [{ Name: 'LoadBalancer', Value: attribute('LoadBalancer', 'LoadBalancerFullName') }];
const targets = [
  ...loadBalancer,
  { Name: 'TargetGroup', Value: attribute('Targets', 'TargetGroupFullName') },
];
const servers = [
  { Name: 'ClusterName', Value: ref('Cluster') },
  { Name: 'ServiceName', Value: attribute('Service', 'Name') },
];

export function alarms(designs: readonly AnyTable[], functions: readonly LambdaFunction[]): Resources {
  return {
    AlarmTopic: { Type: 'AWS::SNS::Topic', Properties: {} },
    AlarmSubscription: {
      Type: 'AWS::SNS::Subscription',
      Condition: 'HasAlarmEmail',
      Properties: { TopicArn: ref('AlarmTopic'), Protocol: 'email', Endpoint: ref('AlarmEmail') },
    },
    ErrorAlarm: alarm('Servers answer with errors', {
      Namespace: 'AWS/ApplicationELB',
      MetricName: 'HTTPCode_Target_5XX_Count',
      Dimensions: loadBalancer,
      Statistic: 'Sum',
      Threshold: 10,
    }),
    UnreadyAlarm: alarm('A server is not ready', {
      Namespace: 'AWS/ApplicationELB',
      MetricName: 'UnHealthyHostCount',
      Dimensions: targets,
      Statistic: 'Maximum',
      Threshold: 0,
    }),
    SlowAlarm: alarm('One request in a hundred takes longer than two seconds', {
      Namespace: 'AWS/ApplicationELB',
      MetricName: 'TargetResponseTime',
      Dimensions: loadBalancer,
      ExtendedStatistic: 'p99',
      Threshold: 2,
    }),
    BusyAlarm: alarm('The servers have no processor time left', {
      Namespace: 'AWS/ECS',
      MetricName: 'CPUUtilization',
      Dimensions: servers,
      Statistic: 'Average',
      Threshold: 85,
    }),
    ...Object.assign({}, ...designs.map(throttleAlarms)),
    ...Object.fromEntries(functions.map(lambda => [`${handlerId(lambda)}Alarm`, behind(lambda)])),
    Dashboard: {
      Type: 'AWS::CloudWatch::Dashboard',
      Properties: { DashboardBody: sub(JSON.stringify(dashboard(designs))) },
    },
  };
}

const alarm = (AlarmDescription: string, what: object): Resource => ({
  Type: 'AWS::CloudWatch::Alarm',
  Properties: {
    AlarmDescription,
    Period: 60,
    EvaluationPeriods: 5,
    DatapointsToAlarm: 3,
    ComparisonOperator: 'GreaterThanThreshold',
    TreatMissingData: 'notBreaching',
    AlarmActions: [ref('AlarmTopic')],
    OKActions: [ref('AlarmTopic')],
    ...what,
  },
});

const behind = (given: LambdaFunction): Resource =>
  alarm(`The function of ${given.consumers.join(', ')} is five minutes behind`, {
    Namespace: 'AWS/Lambda',
    MetricName: 'IteratorAge',
    Dimensions: [{ Name: 'FunctionName', Value: ref(handlerId(given)) }],
    Statistic: 'Maximum',
    Threshold: 5 * 60_000,
  });

type ThrottleMetric = { metric: 'ReadThrottleEvents' | 'WriteThrottleEvents'; index?: string };

const reads = { metric: 'ReadThrottleEvents' } as const;
const writes = { metric: 'WriteThrottleEvents' } as const;

// One partition gets more requests than it can serve: docs/guides/run-several-servers.md. DynamoDB counts those of a
// table without those of its indexes. A write that an index throttles is refused, so these have an alarm, too.
function throttleAlarms(design: AnyTable): Resources {
  const id = tableId(design);
  const ofTable = throttled(design, `the table ${design.name}`, [reads, writes]);
  const indexes = Object.keys(design.indexes).map(index => ({ ...writes, index }));
  if (indexes.length === 0) return { [`${id}Alarm`]: ofTable };
  const ofIndexes = throttled(design, `writes to an index of the table ${design.name}`, indexes);
  return { [`${id}Alarm`]: ofTable, [`${id}IndexAlarm`]: ofIndexes };
}

function throttled(design: AnyTable, what: string, counted: readonly ThrottleMetric[]): Resource {
  const metrics = counted.map(({ metric, index }, position) => ({
    Id: `m${position}`,
    ReturnData: false,
    MetricStat: {
      Metric: {
        Namespace: 'AWS/DynamoDB',
        MetricName: metric,
        Dimensions: [
          { Name: 'TableName', Value: ref(tableId(design)) },
          ...(index === undefined ? [] : [{ Name: 'GlobalSecondaryIndexName', Value: index }]),
        ],
      },
      Period: 60,
      Stat: 'Sum',
    },
  }));
  const Expression = metrics.map(({ Id }) => `FILL(${Id}, 0)`).join(' + ');
  const { Period: _, ...properties } = alarm(`DynamoDB throttles ${what}`, {
    Threshold: 0,
    Metrics: [{ Id: 'sum', Expression, ReturnData: true }, ...metrics],
  }).Properties as { Period: number };
  return { Type: 'AWS::CloudWatch::Alarm', Properties: properties };
}

function dashboard(designs: readonly AnyTable[]) {
  const requests = (name: string, stat: string) => [
    'AWS/ApplicationELB',
    name,
    'LoadBalancer',
    '<LoadBalancer.LoadBalancerFullName>',
    { stat },
  ];
  const perTable = (name: string) =>
    designs.map(design => ['AWS/DynamoDB', name, 'TableName', `<${tableId(design)}>`, { stat: 'Sum' }]);
  const perIndex = (name: string) =>
    designs.flatMap(design =>
      Object.keys(design.indexes).map(index => [
        ...['AWS/DynamoDB', name, 'TableName', `<${tableId(design)}>`],
        ...['GlobalSecondaryIndexName', index, { stat: 'Sum' }],
      ]),
    );
  const perServer = (name: string) => [
    ['AWS/ECS', name, 'ClusterName', '<Cluster>', 'ServiceName', '<Service.Name>'],
  ];
  const charts: [title: string, metrics: unknown[]][] = [
    ['Requests', [requests('RequestCount', 'Sum'), requests('HTTPCode_Target_5XX_Count', 'Sum')]],
    ['Seconds to answer', ['p50', 'p95', 'p99'].map(stat => requests('TargetResponseTime', stat))],
    ['Processor, %', perServer('CPUUtilization')],
    ['Memory, %', perServer('MemoryUtilization')],
    ['Read units', perTable('ConsumedReadCapacityUnits')],
    ['Write units', perTable('ConsumedWriteCapacityUnits')],
    ['Throttled reads', perTable('ReadThrottleEvents')],
    ['Throttled writes', perTable('WriteThrottleEvents')],
    ['Throttled writes to indexes', perIndex('WriteThrottleEvents')],
  ];
  return {
    widgets: charts.map(([title, metrics], index) => ({
      type: 'metric',
      x: (index % 2) * 12,
      y: Math.floor(index / 2) * 6,
      width: 12,
      height: 6,
      properties: { title, metrics, region: '<AWS::Region>', period: 60 },
    })),
  };
}
