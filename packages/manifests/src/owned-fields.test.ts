import type { KubeObject } from '@slipway/kube';
import { describe, expect, test } from 'vitest';

import { isAppliedAlready, isAppliedButForOwners } from './owned-fields.ts';

const config = (): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: { spec: { containers: [{ name: 'web', image: 'web:1', ports: [{ containerPort: 80 }] }] } },
  },
});

const fieldsV1 = {
  'f:metadata': { 'f:labels': { 'f:app': {} } },
  'f:spec': {
    'f:replicas': {},
    'f:selector': {},
    'f:template': {
      'f:spec': {
        'f:containers': {
          'k:{"name":"web"}': {
            '.': {},
            'f:name': {},
            'f:image': {},
            'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
          },
        },
      },
    },
  },
};

function live(change: (object: KubeObject) => void = () => {}): KubeObject {
  const object = structuredClone(config());
  object.metadata = {
    ...object.metadata,
    uid: 'u1',
    resourceVersion: '7',
    annotations: { 'deployment.kubernetes.io/revision': '1' },
    managedFields: [{ manager: 'me', operation: 'Apply', apiVersion: 'apps/v1', fieldsType: 'FieldsV1', fieldsV1 }],
  };
  const container = (object['spec'] as { template: { spec: { containers: Record<string, unknown>[] } } }).template.spec
    .containers[0]!;
  container['imagePullPolicy'] = 'IfNotPresent';
  (container['ports'] as Record<string, unknown>[])[0]!['protocol'] = 'TCP';
  change(object);
  return object;
}

type Spec = { replicas: number; template: { spec: { containers: { image: string; env?: unknown }[] } } };

describe('isAppliedAlready', () => {
  test('defaults and foreign fields of the live object do not matter', () => {
    expect(isAppliedAlready(config(), live(), 'me')).toBe(true);
  });

  test('another manager has applied nothing yet', () => {
    expect(isAppliedAlready(config(), live(), 'you')).toBe(false);
  });

  test('a drifted value is seen', () => {
    expect(
      isAppliedAlready(
        config(),
        live((object) => ((object['spec'] as Spec).template.spec.containers[0]!.image = 'evil:1')),
        'me',
      ),
    ).toBe(false);
  });

  test('a field that the manifest has dropped is seen', () => {
    const next = config();
    delete (next['spec'] as { replicas?: number }).replicas;
    expect(isAppliedAlready(next, live(), 'me')).toBe(false);
  });

  test('a field that the manifest has gained is seen, deep inside too', () => {
    const next = config();
    (next['spec'] as Spec).template.spec.containers[0]!.env = [{ name: 'A', value: 'b' }];
    expect(isAppliedAlready(next, live(), 'me')).toBe(false);
  });

  test('a new label is seen', () => {
    const next = config();
    next.metadata.labels = { app: 'web', tier: 'front' };
    expect(isAppliedAlready(next, live(), 'me')).toBe(false);
  });

  test('a missing or added list element is seen', () => {
    const next = config();
    (next['spec'] as Spec).template.spec.containers.push({ image: 'side:1' });
    expect(isAppliedAlready(next, live(), 'me')).toBe(false);
    expect(
      isAppliedAlready(
        config(),
        live((object) => ((object['spec'] as Spec).template.spec.containers = [])),
        'me',
      ),
    ).toBe(false);
  });

  test('ownership recorded under another version is not trusted', () => {
    const old = live((object) => (object.metadata.managedFields![0]!.apiVersion = 'apps/v1beta2'));
    expect(isAppliedAlready(config(), old, 'me')).toBe(false);
  });
});

describe('isAppliedButForOwners', () => {
  const owner = (uid: string) => ({ apiVersion: 'example.com/v1', kind: 'Set', name: uid, uid });
  const owned = (...uids: string[]): KubeObject => {
    const object = config();
    return { ...object, metadata: { ...object.metadata, ownerReferences: uids.map(owner) } };
  };
  const ownedLive = () =>
    live((object) => {
      object.metadata.ownerReferences = [owner('old'), owner('foreign')];
      object.metadata.managedFields = structuredClone(object.metadata.managedFields!);
      const fields = object.metadata.managedFields[0]!.fieldsV1 as Record<string, Record<string, unknown>>;
      fields['f:metadata']!['f:ownerReferences'] = { 'k:{"uid":"old"}': {} };
    });

  test('another owner does not matter, another content does', () => {
    expect(isAppliedAlready(owned('old'), ownedLive(), 'me')).toBe(true);
    expect(isAppliedAlready(owned('new', 'old'), ownedLive(), 'me')).toBe(false);
    expect(isAppliedButForOwners(owned('new', 'old'), ownedLive(), 'me')).toBe(true);
    expect(isAppliedButForOwners(owned('new'), live(), 'me')).toBe(true);
    const changed = owned('new');
    (changed['spec'] as Spec).replicas = 3;
    expect(isAppliedButForOwners(changed, ownedLive(), 'me')).toBe(false);
  });
});
