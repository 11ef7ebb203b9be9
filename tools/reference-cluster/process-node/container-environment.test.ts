import { describe, expect, it } from 'vitest';
import { containerEnvironment, expandVariables } from './container-environment.ts';
import { MissingReference, type PodObjects } from './pod-objects.ts';
import type { Container, RunnablePod } from './running-pod.ts';

const pod: RunnablePod = {
  metadata: { name: 'p', namespace: 'n', uid: 'u', labels: { app: 'a' } },
  spec: { nodeName: 'node-1', serviceAccountName: 'robot', containers: [] },
};
const place = { podAddress: '198.18.0.2', hostAddress: '198.18.0.1' };
const base64 = (text: string) => Buffer.from(text).toString('base64');
const objects: PodObjects = {
  secret: async (name) =>
    name === 's' ? { metadata: { name, namespace: 'n' }, data: { KEY: base64('from secret') } } : undefined,
  configMap: async (name) =>
    name === 'c' ? { metadata: { name, namespace: 'n' }, data: { KEY: 'from config', OTHER: 'o' } } : undefined,
};

const environmentOf = (container: Partial<Container>, base = {}) =>
  containerEnvironment({ name: 'c', image: 'i', ...container }, pod, place, objects, base);

describe('the environment of a container', () => {
  it('lets env win over envFrom, and the later source over the earlier', async () => {
    const envFrom = [{ configMapRef: { name: 'c' } }, { secretRef: { name: 's' } }];
    expect(await environmentOf({ envFrom })).toEqual({ KEY: 'from secret', OTHER: 'o' });
    expect(await environmentOf({ envFrom, env: [{ name: 'KEY', value: 'own' }] })).toMatchObject({ KEY: 'own' });
  });

  it('puts the prefix before every key of a source', async () => {
    const envFrom = [{ prefix: 'MY_', secretRef: { name: 's' } }];
    expect(await environmentOf({ envFrom })).toEqual({ MY_KEY: 'from secret' });
  });

  it('takes values from keys of Secrets and ConfigMaps and from fields of the pod', async () => {
    const env = [
      { name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'KEY' } } },
      { name: 'B', valueFrom: { configMapKeyRef: { name: 'c', key: 'OTHER' } } },
      { name: 'C', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'D', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
      { name: 'E', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
    ];
    expect(await environmentOf({ env })).toEqual({
      A: 'from secret',
      B: 'o',
      C: '198.18.0.2',
      D: 'a',
      E: 'node-1',
    });
  });

  it('waits for a Secret, a ConfigMap or a key that is not there, unless it is optional', async () => {
    const from = (optional: boolean) => ({ envFrom: [{ secretRef: { name: 'absent', optional } }] });
    const key = (optional: boolean) => ({
      env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'c', key: 'absent', optional } } }],
    });
    await expect(environmentOf(from(false))).rejects.toThrow(new MissingReference('secret "absent" not found'));
    await expect(environmentOf(key(false))).rejects.toThrow(MissingReference);
    expect(await environmentOf(from(true))).toEqual({});
    expect(await environmentOf(key(true))).toEqual({});
  });

  it('lets a variable use those before it', async () => {
    const env = [
      { name: 'A', value: '$(KUBERNETES_SERVICE_HOST):443' },
      { name: 'B', value: '$(A)/$(C)' },
      { name: 'C', value: 'late' },
    ];
    expect(await environmentOf({ env }, { KUBERNETES_SERVICE_HOST: 'h' })).toMatchObject({
      A: 'h:443',
      B: 'h:443/$(C)',
    });
  });
});

describe('references to variables', () => {
  it('leaves what it does not know, and what is escaped, as text', () => {
    expect(expandVariables('$(A) $(B) $$(A) $A $', { A: '1' })).toBe('1 $(B) $(A) $A $');
  });
});
