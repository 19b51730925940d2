import type { AnyTable } from '@stak/table';
import type { LambdaFunction } from '../lambda/functions.ts';
import { handlerId } from './handlers.ts';
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
    ...Object.fromEntries(designs.map(design => [`${tableId(design)}Alarm`, throttled(design)])),
    ...Object.fromEntries(functions.map(one => [`${handlerId(one)}Alarm`, behind(one)])),
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

// One partition gets more requests than it can serve: docs/guides/run-several-servers.md
function throttled(design: AnyTable): Resource {
  const Dimensions = [{ Name: 'TableName', Value: ref(tableId(design)) }];
  const metric = (Id: string, MetricName: string) => ({
    Id,
    ReturnData: false,
    MetricStat: {
      Metric: { Namespace: 'AWS/DynamoDB', MetricName, Dimensions },
      Period: 60,
      Stat: 'Sum',
    },
  });
  const { Period: _, ...properties } = alarm(`DynamoDB throttles the table ${design.name}`, {
    Threshold: 0,
    Metrics: [
      { Id: 'both', Expression: 'FILL(reads, 0) + FILL(writes, 0)', ReturnData: true },
      metric('reads', 'ReadThrottleEvents'),
      metric('writes', 'WriteThrottleEvents'),
    ],
  }).Properties as { Period: number };
  return { Type: 'AWS::CloudWatch::Alarm', Properties: properties };
}

function dashboard(designs: readonly AnyTable[]) {
  const tables = designs.map(tableId);
  const requests = (name: string, stat: string) => [
    'AWS/ApplicationELB',
    name,
    'LoadBalancer',
    '<LoadBalancer.LoadBalancerFullName>',
    { stat },
  ];
  const perTable = (name: string) =>
    tables.map(id => ['AWS/DynamoDB', name, 'TableName', `<${id}>`, { stat: 'Sum' }]);
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
