import type { KubeObject, PolicyRule } from '@slipway/kube';
import { entriesOf } from '@slipway/testing';
import { beforeAll, describe, expect, test } from 'vitest';

import * as original from '../../test/original-facts.ts';
import { shapeOf } from '../../test/schema-shape.ts';
import * as program from '../../test/service-operator-facts.ts';
import { settingsFromFlags } from '../settings/settings.ts';
import { ModuleLoader, type ModuleFiles } from './load.ts';

interface Container {
  name: string;
  command: string[];
  args: string[];
  env: { name: string; value: string }[];
  ports: { name: string; containerPort: number }[];
  volumeMounts: { name: string; mountPath: string }[];
  [field: string]: unknown;
}

interface PodTemplate {
  metadata: { labels: Record<string, string>; annotations: Record<string, string> };
  spec: {
    containers: Container[];
    volumes: { name: string; secret: { secretName: string } }[];
    [field: string]: unknown;
  };
}

let files: ModuleFiles;
beforeAll(async () => {
  files = await new ModuleLoader().load(settingsFromFlags());
});

const named = (text: string) => files.apply.find((object) => `${object.kind} ${object.metadata.name}` === text)!;
const specOf = <T>(text: string): T => named(text)['spec'] as T;
const deployment = () =>
  specOf<{ replicas: number; selector: { matchLabels: object }; template: PodTemplate }>(
    'Deployment sap-btp-operator-controller-manager',
  );
const manager = () => deployment().template.spec.containers.find((container) => container.name === 'manager')!;
const configuration = () => named('ConfigMap sap-btp-operator-config')['data'] as Record<string, string>;
const environment = () => Object.fromEntries(manager().env.map(({ name, value }) => [name, value]));
/** The command line as Go reads it. */
function flagsGiven(): Record<string, string> {
  return Object.fromEntries(
    manager().args.map((argument) => {
      const [, name, value] = /^--?([^=]+)(?:=(.*))?$/.exec(argument)!;
      return [name!, value ?? 'true'];
    }),
  );
}

describe('the shipped Deployment can start the real service operator', () => {
  test('it gives no flag that the program would end at', () => {
    expect(manager().command).toEqual([program.files.executable]);
    const known: Readonly<Record<string, { readonly type: string }>> = program.flags;
    expect(Object.keys(flagsGiven()).filter((name) => !(name in known))).toEqual([]);
    for (const [name, value] of Object.entries(flagsGiven()))
      if (known[name]!.type === 'boolean') expect(value).toMatch(/^(true|false)$/);
  });

  test('every variable it sets is one that the program reads, with a value of its type', () => {
    const given = { ...configuration(), ...environment() };
    expect(Object.keys(given).filter((name) => !(name in program.variables))).toEqual([]);
    for (const [name, value] of Object.entries(given))
      if (program.variables[name]!.type === 'boolean') expect(value).toMatch(/^(true|false)$/);
    expect(program.variables).toHaveProperty(program.clusterIdSecret.key);
  });

  test('ports and probes are where the program serves them', () => {
    const effective = {
      ...Object.fromEntries(Object.entries(program.flags).map(([k, v]) => [k, v.default])),
      ...flagsGiven(),
    };
    expect(effective).toMatchObject({
      'metrics-addr': `:${program.ports.metrics}`,
      'health-probe-bind-address': `:${program.ports.probes}`,
    });
    expect(new Set(manager().ports.map(({ containerPort }) => containerPort))).toEqual(
      new Set([program.ports.metrics, program.ports.webhooks]),
    );
    const { live, ready } = program.probes;
    expect(manager()).toMatchObject({
      livenessProbe: { httpGet: { path: live, port: program.ports.probes } },
      readinessProbe: { httpGet: { path: ready, port: program.ports.probes } },
    });
  });

  test('the certificate is mounted where the program looks for it', () => {
    const folder = `${environment()['TMPDIR'] ?? program.variables['TMPDIR']!.default}/${program.files.certificates}`;
    const { name } = manager().volumeMounts.find(({ mountPath }) => mountPath === folder)!;
    const volume = deployment().template.spec.volumes.find((candidate) => candidate.name === name);
    expect(volume?.secret.secretName).toBe('webhook-server-cert');
  });

  test('the webhooks are configured under the paths the program serves', () => {
    const paths = Object.values(webhooksByName()).map(({ clientConfig }) => clientConfig.service.path);
    expect(paths.sort()).toEqual([...program.webhookPaths].sort());
  });

  test('its credentials and configuration carry the label by which the program sees them', () => {
    for (const name of ['ConfigMap sap-btp-operator-config', `Secret ${program.credentialsSecret.name}`])
      expect(named(name).metadata.labels?.[program.managedLabel]).toBe('true');
  });

  test('its role allows what the program does', () => {
    const given = entriesOf(named('ClusterRole sap-btp-operator-manager-role')['rules'] as PolicyRule[]);
    expect(new Set(given)).toEqual(new Set(entriesOf(program.permissions as unknown as PolicyRule[])));
  });
});

interface Webhook {
  name: string;
  admissionReviewVersions: string[];
  clientConfig: { service: { name: string; path: string } };
  failurePolicy: string;
  sideEffects: string;
  rules: { apiGroups: string[]; apiVersions: string[]; operations: string[]; resources: string[] }[];
}

function webhooksByName(): Record<string, Webhook> {
  const configurations = files.apply.filter(({ kind }) => kind.endsWith('WebhookConfiguration'));
  const all = configurations.flatMap((object: KubeObject) => object['webhooks'] as Webhook[]);
  return Object.fromEntries(all.map((webhook) => [webhook.name, webhook]));
}

describe('the shipped manifests mean what those of the original mean', () => {
  test('the chart has the same version, and the set the same objects with the PriorityClass beside them', () => {
    expect(files.chartVersion).toBe(original.chartVersion);
    expect(files.apply.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()).toEqual(
      [...original.objects, `PriorityClass ${original.priorityClass.name}`].sort(),
    );
    expect(named(`PriorityClass ${original.priorityClass.name}`)['value']).toBe(original.priorityClass.value);
    expect(files.networkPolicies.map(({ metadata }) => metadata.name!).sort()).toEqual([...original.networkPolicies]);
  });

  test('the Deployment: template, pod and container', () => {
    const { replicas, selector, template } = deployment();
    const { container, pod, certificate } = original.deployment;
    expect(replicas).toBe(original.deployment.replicas);
    expect(selector.matchLabels).toEqual(original.deployment.selector);
    expect(template.metadata).toEqual({
      labels: original.deployment.labels,
      annotations: original.deployment.annotations,
    });
    const { containers: _containers, volumes, ...podSpec } = template.spec;
    expect(podSpec).toEqual(pod);
    const { name: _name, args: _args, env: _env, ports, volumeMounts, ...rest } = manager();
    const { env, ports: originalPorts, ...originalRest } = container;
    expect(rest).toEqual(originalRest);
    expect(environment()).toEqual(env);
    expect(Object.fromEntries(ports.map((port) => [port.name, port.containerPort]))).toEqual(originalPorts);
    expect(volumes).toHaveLength(1);
    expect(volumes[0]!.secret.secretName).toBe(certificate.secretName);
    expect(volumeMounts).toEqual([{ name: volumes[0]!.name, mountPath: certificate.mountPath, readOnly: true }]);
  });

  test.each(Object.entries(original.services))('the Service %s: selector and ports', (name, { selector, ports }) => {
    const spec = specOf<{ selector: object; ports: { port: number; targetPort: string }[] }>(`Service ${name}`);
    expect(spec.selector).toEqual(selector);
    expect(spec.ports.map(({ port, targetPort }) => [port, targetPort])).toEqual(ports);
  });

  test('the webhooks: who is called for what', () => {
    const found = Object.values(webhooksByName()).map(({ name, clientConfig, rules, ...rest }) => {
      expect(rest).toMatchObject({ failurePolicy: 'Fail', sideEffects: 'None' });
      expect([...rest.admissionReviewVersions].sort()).toEqual(['v1', 'v1beta1']);
      expect(clientConfig.service.name).toBe('sap-btp-operator-webhook-service');
      expect(rules).toHaveLength(1);
      const { operations, resources, apiGroups, apiVersions } = rules[0]!;
      expect({ apiGroups, apiVersions }).toEqual({ apiGroups: ['services.cloud.sap.com'], apiVersions: ['v1'] });
      return [name, { path: clientConfig.service.path, resources, operations: [...operations].sort() }];
    });
    expect(Object.fromEntries(found)).toEqual(original.webhooks);
  });

  interface Version {
    name: string;
    served: boolean;
    storage: boolean;
    subresources: object;
    additionalPrinterColumns: { name: string; type: string; jsonPath: string; priority?: number }[];
    schema: { openAPIV3Schema: Parameters<typeof shapeOf>[0] };
  }

  const versions = Object.entries(original.definitions).flatMap(([name, all]) =>
    Object.entries(all).map(([version, fact]) => ({ name, version, fact })),
  );
  test.each(versions)('the definition of $name, $version: fields and columns', ({ name, version, fact }) => {
    const all = specOf<{ versions: Version[] }>(`CustomResourceDefinition ${name}`).versions;
    const found = all.find((candidate) => candidate.name === version)!;
    expect(found).toMatchObject({ served: true, storage: fact.stored, subresources: { status: {} } });
    expect(
      found.additionalPrinterColumns.map((column) => [column.name, column.type, column.jsonPath, column.priority ?? 0]),
    ).toEqual(fact.columns);
    expect(shapeOf(found.schema.openAPIV3Schema)).toEqual(fact.fields);
  });
});
