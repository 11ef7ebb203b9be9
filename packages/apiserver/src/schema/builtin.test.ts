import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../object.ts';
import { builtinDefinition, builtinSchema } from './builtin.ts';
import { builtinResources } from './builtin-resources.ts';
import { builtinComponents, builtinDocumentPaths } from './openapi-definitions.ts';
import { zeroObject } from './zero-values.ts';
import type { Schema } from './schema.ts';

describe('built-in data', () => {
  it('has a schema for every kind discovery names', () => {
    const missing = builtinResources()
      .flatMap(({ group, version, kind, subresources }) => [{ group, version, kind }, ...Object.values(subresources)])
      .filter(({ kind }) => !kind.endsWith('Options'))
      .filter(({ group, version, kind }) => builtinSchema(group, version, kind) === undefined);
    expect(missing).toEqual([]);
  });

  it('knows resources with their columns and subresources', () => {
    const deployments = builtinResources().find(({ plural }) => plural === 'deployments');
    expect(deployments).toMatchObject({
      group: 'apps',
      version: 'v1',
      kind: 'Deployment',
      singular: 'deployment',
      namespaced: true,
      shortNames: ['deploy'],
      categories: ['all'],
      subresources: { scale: { group: 'autoscaling', version: 'v1', kind: 'Scale' } },
    });
    expect(deployments?.columns.map(({ name }) => name)).toEqual([
      'Name',
      'Ready',
      'Up-to-date',
      'Available',
      'Age',
      'Containers',
      'Images',
      'Selector',
    ]);
  });

  it('carries what apply and strategic merge need', () => {
    const container = builtinDefinition('io.k8s.api.core.v1.Container')?.properties;
    expect(container?.['ports']).toMatchObject({
      listType: 'map',
      listMapKeys: ['containerPort', 'protocol'],
      patchStrategy: 'merge',
      patchMergeKey: 'containerPort',
    });
    expect(container?.['ports']?.items?.properties?.['protocol']?.default).toBe('TCP');
    expect(builtinDefinition('io.k8s.api.core.v1.PodSpec')?.properties?.['nodeSelector']?.mapType).toBe('atomic');
    expect(builtinDefinition('io.k8s.api.core.v1.Nope')).toBeUndefined();
  });

  it('prints an empty struct as Go does', () => {
    expect(zeroObject(builtinSchema('apps', 'v1', 'Deployment') as Schema)).toEqual({
      metadata: {},
      spec: { selector: null, template: { metadata: {}, spec: { containers: null } }, strategy: {} },
      status: {},
    });
    expect(zeroObject(builtinSchema('rbac.authorization.k8s.io', 'v1', 'Role') as Schema)).toEqual({
      metadata: {},
      rules: null,
    });
    expect(zeroObject(builtinSchema('', 'v1', 'Event') as Schema)).toMatchObject({
      firstTimestamp: null,
      eventTime: null,
      source: {},
      reportingComponent: '',
    });
  });

  it('serves the components of a document with descriptions, references wrapped and sorted', async () => {
    expect(builtinDocumentPaths()).toContain('apis/apps/v1');
    const components = (await builtinComponents('apis/apps/v1')) as Record<string, JsonObject>;
    const names = Object.keys(components);
    expect(names).toEqual(names.toSorted());
    const spec = components['io.k8s.api.apps.v1.DeploymentSpec'] as { properties: Record<string, JsonObject> };
    expect(Object.keys(spec.properties)).toEqual(Object.keys(spec.properties).toSorted());
    expect(spec.properties['template']).toMatchObject({
      allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.PodTemplateSpec' }],
      default: {},
    });
    expect(spec.properties['replicas']?.['description']).toContain('Number of desired pods');
    expect(components['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions']).toMatchObject({
      'x-kubernetes-group-version-kind': [
        { group: '', kind: 'DeleteOptions', version: 'v1' },
        { group: 'apps', kind: 'DeleteOptions', version: 'v1' },
      ],
    });
    expect(JSON.stringify(components)).not.toContain('"z":');
    expect(await builtinComponents('apis/nope/v1')).toBeUndefined();
  });
});
