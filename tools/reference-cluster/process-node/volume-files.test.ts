import { describe, expect, it } from 'vitest';
import { MissingReference, type PodObjects } from './pod-objects.ts';
import type { RunnablePod, Volume } from './running-pod.ts';
import { volumeFiles } from './volume-files.ts';

const pod: RunnablePod = {
  metadata: { name: 'p', namespace: 'n', uid: 'u', labels: { b: '2', a: '1' } },
  spec: { containers: [] },
};
const base64 = (text: string) => Buffer.from(text).toString('base64');
const objects: PodObjects = {
  secret: async (name) =>
    name === 's'
      ? { metadata: { name, namespace: 'n' }, data: { 'tls.crt': base64('cert'), 'tls.key': base64('key') } }
      : undefined,
  configMap: async (name) =>
    name === 'c'
      ? { metadata: { name, namespace: 'n' }, data: { text: 't' }, binaryData: { bytes: base64('\0') } }
      : undefined,
};

async function filesOf(volume: Omit<Volume, 'name'>): Promise<Record<string, [string, number]> | undefined> {
  const files = await volumeFiles(
    { name: 'v', ...volume },
    {
      pod,
      place: { podAddress: '198.18.0.2', hostAddress: '198.18.0.1' },
      objects,
      token: async ({ audience }) => `token for ${audience}`,
    },
  );
  return files && Object.fromEntries([...files].map(([path, { content, mode }]) => [path, [content.toString(), mode]]));
}

describe('the files of a volume', () => {
  it('has every key of a Secret, with the mode of the volume', async () => {
    expect(await filesOf({ secret: { secretName: 's', defaultMode: 0o400 } })).toEqual({
      'tls.crt': ['cert', 0o400],
      'tls.key': ['key', 0o400],
    });
  });

  it('has text and bytes of a ConfigMap', async () => {
    expect(await filesOf({ configMap: { name: 'c' } })).toEqual({ text: ['t', 0o644], bytes: ['\0', 0o644] });
  });

  it('has only the keys asked for, under their paths and with their modes', async () => {
    const items = [{ key: 'tls.crt', path: 'certs/server.crt', mode: 0o600 }];
    expect(await filesOf({ secret: { secretName: 's', items } })).toEqual({ 'certs/server.crt': ['cert', 0o600] });
  });

  it('waits for what is not there, unless it is optional', async () => {
    await expect(filesOf({ secret: { secretName: 'absent' } })).rejects.toThrow(MissingReference);
    const items = [{ key: 'absent', path: 'a' }];
    await expect(filesOf({ configMap: { name: 'c', items } })).rejects.toThrow('references non-existent key: absent');
    expect(await filesOf({ secret: { secretName: 'absent', optional: true } })).toEqual({});
  });

  it('joins the sources of a projected volume, the token of the ServiceAccount among them', async () => {
    const sources = [
      { serviceAccountToken: { path: 'token', audience: 'api' } },
      { configMap: { name: 'c', items: [{ key: 'text', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
    ];
    expect(await filesOf({ projected: { sources } })).toEqual({
      token: ['token for api', 0o644],
      'ca.crt': ['t', 0o644],
      namespace: ['n', 0o644],
    });
  });

  it('writes labels one to a line, in order', async () => {
    const items = [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }];
    expect(await filesOf({ downwardAPI: { items } })).toEqual({ labels: ['a="1"\nb="2"', 0o644] });
  });

  it('has none for a volume that is a folder of its own', async () => {
    expect(await filesOf({ emptyDir: {} })).toBeUndefined();
  });
});
