import type { AnyTable } from '@stak/table';
import { serverStatements } from './permissions.ts';
import { arnOf, attribute, ref, sub } from './references.ts';
import type { Resource, Resources } from './template.ts';

type ServerOptions = {
  designs: readonly AnyTable[];
  prefix: string;
  variables: Readonly<Record<string, string>>;
  secrets: readonly string[];
  Cpu: string;
  Memory: string;
};

const port = 8787;
// After a stop signal a server continues for this long, until the load balancer sends it no more requests; then it
// finishes those in flight.
const drainSeconds = 30;
const stopSeconds = 90;

export function servers(options: ServerOptions): Resources {
  return {
    ...network,
    ...loadBalancer,
    Logs: {
      Type: 'AWS::Logs::LogGroup',
      DeletionPolicy: 'Delete',
      UpdateReplacePolicy: 'Delete',
      Properties: { RetentionInDays: 90 },
    },
    StartRole: startRole,
    ServerRole: serverRole(options),
    Cluster: { Type: 'AWS::ECS::Cluster', Properties: {} },
    ServerTask: task(options),
    Service: service,
    ...scaling,
  };
}

const network: Resources = {
  LoadBalancerGroup: {
    Type: 'AWS::EC2::SecurityGroup',
    Properties: {
      GroupDescription: 'Browsers and providers reach the load balancer of Stak',
      VpcId: ref('Vpc'),
      SecurityGroupIngress: [80, 443].flatMap(at => [
        { IpProtocol: 'tcp', FromPort: at, ToPort: at, CidrIp: '0.0.0.0/0' },
        { IpProtocol: 'tcp', FromPort: at, ToPort: at, CidrIpv6: '::/0' },
      ]),
    },
  },
  ServerGroup: {
    Type: 'AWS::EC2::SecurityGroup',
    Properties: {
      GroupDescription: 'The load balancer reaches the servers of Stak',
      VpcId: ref('Vpc'),
      SecurityGroupIngress: [
        {
          IpProtocol: 'tcp',
          FromPort: port,
          ToPort: port,
          SourceSecurityGroupId: attribute('LoadBalancerGroup', 'GroupId'),
        },
      ],
    },
  },
};

const loadBalancer: Resources = {
  LoadBalancer: {
    Type: 'AWS::ElasticLoadBalancingV2::LoadBalancer',
    Properties: {
      Scheme: 'internet-facing',
      Subnets: ref('PublicSubnets'),
      SecurityGroups: [attribute('LoadBalancerGroup', 'GroupId')],
      LoadBalancerAttributes: [
        // Event streams send something every 15 seconds.
        { Key: 'idle_timeout.timeout_seconds', Value: '120' },
        { Key: 'routing.http.drop_invalid_header_fields.enabled', Value: 'true' },
      ],
    },
  },
  Targets: {
    Type: 'AWS::ElasticLoadBalancingV2::TargetGroup',
    Properties: {
      VpcId: ref('Vpc'),
      TargetType: 'ip',
      Protocol: 'HTTP',
      Port: port,
      HealthCheckPath: '/readyz',
      HealthCheckIntervalSeconds: 10,
      HealthCheckTimeoutSeconds: 5,
      HealthyThresholdCount: 2,
      UnhealthyThresholdCount: 2,
      TargetGroupAttributes: [
        { Key: 'deregistration_delay.timeout_seconds', Value: String(drainSeconds) },
        { Key: 'load_balancing.algorithm.type', Value: 'least_outstanding_requests' },
      ],
    },
  },
  HttpsListener: {
    Type: 'AWS::ElasticLoadBalancingV2::Listener',
    Properties: {
      LoadBalancerArn: ref('LoadBalancer'),
      Protocol: 'HTTPS',
      Port: 443,
      SslPolicy: 'ELBSecurityPolicy-TLS13-1-2-2021-06',
      Certificates: [{ CertificateArn: ref('CertificateArn') }],
      DefaultActions: [{ Type: 'forward', TargetGroupArn: ref('Targets') }],
    },
  },
  HttpListener: {
    Type: 'AWS::ElasticLoadBalancingV2::Listener',
    Properties: {
      LoadBalancerArn: ref('LoadBalancer'),
      Protocol: 'HTTP',
      Port: 80,
      DefaultActions: [
        {
          Type: 'redirect',
          RedirectConfig: { Protocol: 'HTTPS', Port: '443', StatusCode: 'HTTP_301' },
        },
      ],
    },
  },
};

const mayBeTakenByTasks = {
  Version: '2012-10-17',
  Statement: [
    { Effect: 'Allow', Principal: { Service: 'ecs-tasks.amazonaws.com' }, Action: 'sts:AssumeRole' },
  ],
};

// The role of the platform: it pulls the image, reads the secret and writes the log.
const startRole: Resource = {
  Type: 'AWS::IAM::Role',
  Properties: {
    AssumeRolePolicyDocument: mayBeTakenByTasks,
    ManagedPolicyArns: [
      sub('arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonECSTaskExecutionRolePolicy'),
    ],
    Policies: [
      {
        PolicyName: 'secret',
        PolicyDocument: {
          Version: '2012-10-17',
          Statement: [
            { Effect: 'Allow', Action: 'secretsmanager:GetSecretValue', Resource: ref('VariablesArn') },
          ],
        },
      },
    ],
  },
};

const serverRole = ({ designs, variables }: ServerOptions): Resource => ({
  Type: 'AWS::IAM::Role',
  Properties: {
    AssumeRolePolicyDocument: mayBeTakenByTasks,
    Policies: [
      {
        PolicyName: 'server',
        PolicyDocument: { Version: '2012-10-17', Statement: serverStatements(designs, variables) },
      },
    ],
  },
});

function task({ prefix, variables, secrets, Cpu, Memory }: ServerOptions): Resource {
  const environment: Record<string, unknown> = {
    STAK_ENV: 'production',
    STAK_HOST: '0.0.0.0',
    STAK_PORT: String(port),
    STAK_PUBLIC_URL: ref('PublicUrl'),
    STAK_STORE: 'aws',
    STAK_AWS_REGION: ref('AWS::Region'),
    STAK_TABLE_PREFIX: prefix,
    STAK_LAKE: sub('s3://<LakeBucket>/lake'),
    STAK_TRUSTED_PROXY_HOPS: '1',
    STAK_DRAIN_SECONDS: String(drainSeconds),
    TMPDIR: '/data',
    ...variables,
  };
  return {
    Type: 'AWS::ECS::TaskDefinition',
    Properties: {
      RequiresCompatibilities: ['FARGATE'],
      NetworkMode: 'awsvpc',
      Cpu,
      Memory,
      ExecutionRoleArn: arnOf('StartRole'),
      TaskRoleArn: arnOf('ServerRole'),
      Volumes: [{ Name: 'data' }],
      ContainerDefinitions: [
        {
          Name: 'server',
          Image: ref('Image'),
          Essential: true,
          ReadonlyRootFilesystem: true,
          LinuxParameters: { InitProcessEnabled: true },
          MountPoints: [{ SourceVolume: 'data', ContainerPath: '/data', ReadOnly: false }],
          PortMappings: [{ ContainerPort: port, Protocol: 'tcp' }],
          Environment: Object.entries(environment)
            .filter(([, value]) => value !== '')
            .map(([Name, Value]) => ({ Name, Value })),
          Secrets: ['STAK_SECRET_KEYS', ...secrets].map(Name => ({
            Name,
            ValueFrom: sub(`<VariablesArn>:${Name}::`),
          })),
          StopTimeout: stopSeconds,
          LogConfiguration: {
            LogDriver: 'awslogs',
            Options: {
              'awslogs-group': ref('Logs'),
              'awslogs-region': ref('AWS::Region'),
              'awslogs-stream-prefix': 'server',
            },
          },
        },
      ],
    },
  };
}

const service: Resource = {
  Type: 'AWS::ECS::Service',
  DependsOn: ['HttpsListener', 'ServerRole'],
  Properties: {
    Cluster: ref('Cluster'),
    TaskDefinition: ref('ServerTask'),
    LaunchType: 'FARGATE',
    DesiredCount: ref('Servers'),
    HealthCheckGracePeriodSeconds: 60,
    // A version that does not become ready does not replace the old one.
    DeploymentConfiguration: {
      MinimumHealthyPercent: 100,
      MaximumPercent: 200,
      DeploymentCircuitBreaker: { Enable: true, Rollback: true },
    },
    LoadBalancers: [{ ContainerName: 'server', ContainerPort: port, TargetGroupArn: ref('Targets') }],
    NetworkConfiguration: {
      AwsvpcConfiguration: {
        AssignPublicIp: ref('AssignPublicIp'),
        SecurityGroups: [attribute('ServerGroup', 'GroupId')],
        Subnets: ref('ServerSubnets'),
      },
    },
  },
};

const scaling: Resources = {
  ServiceScaling: {
    Type: 'AWS::ApplicationAutoScaling::ScalableTarget',
    Properties: {
      ServiceNamespace: 'ecs',
      ScalableDimension: 'ecs:service:DesiredCount',
      ResourceId: sub('service/<Cluster>/<Service.Name>'),
      MinCapacity: ref('Servers'),
      MaxCapacity: ref('MostServers'),
    },
  },
  ServiceScalingByCpu: {
    Type: 'AWS::ApplicationAutoScaling::ScalingPolicy',
    Properties: {
      PolicyName: 'processor',
      PolicyType: 'TargetTrackingScaling',
      ScalingTargetId: ref('ServiceScaling'),
      TargetTrackingScalingPolicyConfiguration: {
        PredefinedMetricSpecification: { PredefinedMetricType: 'ECSServiceAverageCPUUtilization' },
        TargetValue: 60,
        ScaleInCooldown: 300,
        ScaleOutCooldown: 60,
      },
    },
  },
};
