import type { AnyTable } from '@stak/table';
import { alarms } from './alarms.ts';
import { handlers } from './handlers.ts';
import { lambdaConsumers, lambdaFunctions } from './lambda-functions.ts';
import { attribute, ref } from './references.ts';
import { servers } from './servers.ts';
import { storage } from './storage.ts';

// The size of one server: Fargate supports certain pairs only.
export const sizes = {
  small: { Cpu: '512', Memory: '2048' },
  medium: { Cpu: '1024', Memory: '2048' },
  large: { Cpu: '2048', Memory: '4096' },
  huge: { Cpu: '4096', Memory: '8192' },
};

export type TemplateOptions = {
  designs: readonly AnyTable[];
  prefix?: string; // of the tables' names
  variables?: Readonly<Record<string, string>>; // of the servers, in addition to those that the template sets
  size?: keyof typeof sizes; // of one server
  streams?: 'servers' | 'lambda'; // where the consumers run that can run as Lambda functions
  secrets?: readonly string[]; // names of variables that are in the secret, in addition to STAK_SECRET_KEYS
};

export type Resource = { Type: string; Properties: Record<string, unknown>; [attribute: string]: unknown };
export type Resources = Record<string, Resource>;

/** A CloudFormation template of Stak on AWS: tables and bucket, servers behind a load balancer, alarms. */
export function template(options: TemplateOptions) {
  const { designs, prefix = '', variables = {}, size = 'medium', secrets = [] } = options;
  const isLambda = options.streams === 'lambda';
  const ofServers = isLambda ? { ...variables, STAK_LAMBDA_CONSUMERS: lambdaConsumers.join(',') } : variables;
  return {
    AWSTemplateFormatVersion: '2010-09-09',
    Description: 'Stak: servers behind a load balancer, on DynamoDB and S3',
    Parameters: { ...parameters, ...(isLambda && handlerParameters) },
    Conditions: { HasAlarmEmail: { 'Fn::Not': [{ 'Fn::Equals': [ref('AlarmEmail'), ''] }] } },
    Resources: {
      ...storage(designs, prefix),
      ...servers({ designs, prefix, variables: ofServers, secrets, ...sizes[size] }),
      ...(isLambda && handlers({ prefix, variables, secrets })),
      ...alarms(designs, isLambda ? lambdaFunctions : []),
    },
    Outputs: {
      LoadBalancer: {
        Description: 'What the name in PublicUrl has to point to',
        Value: attribute('LoadBalancer', 'DNSName'),
      },
      LakeBucket: { Description: 'Where the lake keeps its files', Value: ref('LakeBucket') },
    },
  };
}

/** One line per resource: with all its lines it would exceed the limit of a CloudFormation request. */
export function templateText(of: ReturnType<typeof template>): string {
  const sections = Object.entries(of).map(([name, section]) => {
    if (typeof section === 'string') return `${JSON.stringify(name)}: ${JSON.stringify(section)}`;
    const lines = Object.entries(section).map(([id, one]) => `${JSON.stringify(id)}: ${JSON.stringify(one)}`);
    return `${JSON.stringify(name)}: {\n${lines.join(',\n')}\n}`;
  });
  return `{\n${sections.join(',\n')}\n}`;
}

const handlerParameters = {
  HandlersBucket: { Type: 'String', Description: 'A bucket with the code of the Lambda functions' },
  HandlersKey: { Type: 'String', Description: 'Its name there: what stak aws handlers wrote, zipped' },
};

const parameters = {
  Image: { Type: 'String', Description: 'The container image, as deploy/Dockerfile builds it' },
  PublicUrl: {
    Type: 'String',
    AllowedPattern: 'https://[^/]+',
    Description: 'The origin under which browsers and providers reach it, like https://stak.example.com',
  },
  CertificateArn: { Type: 'String', Description: 'The certificate of that name, in Certificate Manager' },
  VariablesArn: {
    Type: 'String',
    Description: 'A secret in Secrets Manager, an object in JSON with STAK_SECRET_KEYS',
  },
  Vpc: { Type: 'AWS::EC2::VPC::Id' },
  PublicSubnets: {
    Type: 'List<AWS::EC2::Subnet::Id>',
    Description: 'Of the load balancer, in at least two zones',
  },
  ServerSubnets: {
    Type: 'List<AWS::EC2::Subnet::Id>',
    Description:
      'Of the servers: private ones with a NAT gateway, or public ones with AssignPublicIp ENABLED',
  },
  AssignPublicIp: { Type: 'String', AllowedValues: ['ENABLED', 'DISABLED'], Default: 'DISABLED' },
  Servers: { Type: 'Number', MinValue: 1, Default: 2, Description: 'How many there are at least' },
  MostServers: { Type: 'Number', MinValue: 1, Default: 10, Description: 'How many there are under load' },
  AlarmEmail: { Type: 'String', Default: '', Description: 'Where alarms are sent; empty for none' },
};
