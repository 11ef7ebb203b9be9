import { beforeAll, describe, expect, it } from 'vitest';
import { startCluster, type Cluster } from '../cluster.ts';
import { configMap, testClient, type TestClient } from '../test-client.ts';

const path = '/api/v1/namespaces/default/configmaps';
let cluster: Cluster;
let client: TestClient;

beforeAll(async () => {
  cluster = await startCluster({ controllers: 'none' });
  client = testClient(cluster);
  return () => cluster.stop();
});

describe('delete', () => {
  it('answers a Status with the uid, and then 404', async () => {
    const { uid } = (await client.post(path, configMap('a'))).body.metadata;
    const gone = await client.delete(`${path}/a`);
    expect(gone.status).toBe(200);
    expect(gone.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', kind: 'configmaps', uid },
    });
    expect((await client.delete(`${path}/a`)).status).toBe(404);
  });

  it('checks preconditions', async () => {
    const { uid, resourceVersion } = (await client.post(path, configMap('pre'))).body.metadata;
    const wrong = await client.delete(`${path}/pre`, { preconditions: { uid: 'abc' } });
    expect(wrong.status).toBe(409);
    expect(wrong.body).toMatchObject({
      message: `Operation cannot be fulfilled on ConfigMap "pre": the UID in the precondition (abc) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
      details: { name: 'pre', kind: 'ConfigMap' },
    });
    expect((await client.delete(`${path}/pre`, { preconditions: { resourceVersion: '1' } })).status).toBe(409);
    expect((await client.delete(`${path}/pre`, { preconditions: { uid, resourceVersion } })).status).toBe(200);
  });

  it('with finalizers waits, and asking again writes nothing', async () => {
    await client.post(path, configMap('fin', {}, { finalizers: ['example.com/f'] }));
    const first = await client.delete(`${path}/fin`);
    expect(first.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, finalizers: ['example.com/f'] });
    const again = await client.delete(`${path}/fin`);
    expect(again.body).toEqual(first.body);
    const taken = await client.post(path, configMap('fin'));
    expect(taken.body.message).toBe('object is being deleted: configmaps "fin" already exists');
    const more = await client.merge(`${path}/fin`, { metadata: { finalizers: ['example.com/f', 'example.com/g'] } });
    expect(more.status).toBe(422);
    const cleared = await client.merge(`${path}/fin`, { metadata: { deletionTimestamp: null }, data: { a: '9' } });
    expect(cleared.body.metadata.deletionTimestamp).toBe(first.body.metadata.deletionTimestamp);
    await client.merge(`${path}/fin`, { metadata: { finalizers: null } });
    expect((await client.get(`${path}/fin`)).status).toBe(404);
  });

  it('turns propagation policies into finalizers', async () => {
    await client.post(path, configMap('fg'));
    await client.post(path, configMap('or'));
    const foreground = await client.delete(`${path}/fg`, { propagationPolicy: 'Foreground' });
    expect(foreground.body.metadata.finalizers).toEqual(['foregroundDeletion']);
    const orphan = await client.delete(`${path}/or?propagationPolicy=Orphan`);
    expect(orphan.body.metadata.finalizers).toEqual(['orphan']);
    const background = await client.delete(`${path}/fg`, { propagationPolicy: 'Background' });
    expect(background.body).toMatchObject({ kind: 'Status', status: 'Success' });
  });

  it('refuses nonsense', async () => {
    await client.post(path, configMap('x'));
    const policy = await client.delete(`${path}/x?propagationPolicy=Foo`);
    expect(policy.body.message).toBe(
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Foo": supported values: "Foreground", "Background", "Orphan", "nil"',
    );
    const both = await client.delete(`${path}/x`, { orphanDependents: true, propagationPolicy: 'Background' });
    expect(both.body.message).toBe(
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Background": orphanDependents and deletionPropagation cannot be both set',
    );
    const dry = await client.delete(`${path}/x?dryRun=All`);
    expect(dry.body.status).toBe('Success');
    expect((await client.get(`${path}/x`)).status).toBe(200);
  });

  it('accepts options in any version, as clients send them', async () => {
    for (const apiVersion of ['v1', 'meta.k8s.io/v1', 'apps/v1']) {
      await client.post(path, configMap('o'));
      const gone = await client.delete(`${path}/o`, {
        kind: 'DeleteOptions',
        apiVersion,
        propagationPolicy: 'Background',
      });
      expect(gone.status).toBe(200);
    }
  });

  it('of a Job orphans by default, with a warning', async () => {
    const jobs = '/apis/batch/v1/namespaces/default/jobs';
    await client.post(jobs, {
      metadata: { name: 'j' },
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x' }] } } },
    });
    const answer = await client.delete(`${jobs}/j`);
    expect(answer.body.metadata).toMatchObject({ generation: 2, finalizers: ['orphan'] });
    expect(answer.headers['warning']).toHaveLength(1);
  });

  it('of a collection goes through all it selects and answers the list', async () => {
    await client.post(path, configMap('c1', {}, { labels: { kill: 'me' } }));
    await client.post(path, configMap('c2', {}, { labels: { kill: 'me' }, finalizers: ['e.com/f'] }));
    await client.post(path, configMap('c3'));
    const answer = await client.delete(`${path}?labelSelector=kill%3Dme`);
    expect(answer.body.kind).toBe('ConfigMapList');
    expect(answer.body.items.map(({ metadata }) => metadata.name)).toEqual(['c1', 'c2']);
    expect((await client.get(`${path}/c1`)).status).toBe(404);
    expect((await client.get(`${path}/c2`)).body.metadata.deletionTimestamp).toBeDefined();
    expect((await client.get(`${path}/c3`)).status).toBe(200);
  });
});

describe('pods', () => {
  const pods = '/api/v1/namespaces/default/pods';
  const pod = (name: string, labels = {}) => ({
    metadata: { name, labels },
    spec: { containers: [{ name: 'c', image: 'x:1' }] },
  });
  const bind = (name: string) =>
    client.post(`${pods}/${name}/binding`, { metadata: { name }, target: { kind: 'Node', name: 'n1' } });

  it('that were never scheduled go at once', async () => {
    await client.post(pods, pod('fresh'));
    const gone = await client.delete(`${pods}/fresh`);
    expect(gone.body).toMatchObject({ kind: 'Pod', metadata: { generation: 2, deletionGracePeriodSeconds: 0 } });
    expect((await client.get(`${pods}/fresh`)).status).toBe(404);
  });

  it('on a node get their grace, which can only be shortened', async () => {
    await client.post(pods, pod('bound'));
    const bound = await bind('bound');
    expect(bound.body).toEqual({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
    expect((await bind('bound')).status).toBe(409);
    const first = await client.delete(`${pods}/bound`);
    expect(first.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 30, generation: 2 });
    const longer = await client.delete(`${pods}/bound`, { gracePeriodSeconds: 60 });
    expect(longer.body.metadata.deletionGracePeriodSeconds).toBe(30);
    const shorter = await client.delete(`${pods}/bound`, { gracePeriodSeconds: 5 });
    expect(shorter.body.metadata.deletionGracePeriodSeconds).toBe(5);
    const last = await client.delete(`${pods}/bound`, { gracePeriodSeconds: 0 });
    expect(last.body.metadata.deletionGracePeriodSeconds).toBe(0);
    expect((await client.get(`${pods}/bound`)).status).toBe(404);
  });

  it('are evicted only as far as their budget allows', async () => {
    await client.post(pods, pod('guarded', { app: 'g' }));
    await bind('guarded');
    await client.merge(`${pods}/guarded/status`, { status: { phase: 'Running' } });
    const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
    await client.post(budgets, {
      metadata: { name: 'b' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'g' } } },
    });
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'guarded' } };
    const refused = await client.post(`${pods}/guarded/eviction`, eviction);
    expect(refused.status).toBe(429);
    expect(refused.body.message).toBe("Cannot evict pod as it would violate the pod's disruption budget.");
    await client.merge(`${budgets}/b/status`, { status: { disruptionsAllowed: 1 } });
    expect((await client.post(`${pods}/guarded/eviction`, eviction)).status).toBe(201);
    expect((await client.get(`${pods}/guarded`)).body.metadata.deletionTimestamp).toBeDefined();
    expect((await client.get(`${budgets}/b`)).body['status']).toMatchObject({ disruptionsAllowed: 0 });
  });
});

describe('namespaces', () => {
  it('stay until they are finalized', async () => {
    await client.post('/api/v1/namespaces', { metadata: { name: 'doomed' } });
    const marked = await client.delete('/api/v1/namespaces/doomed');
    expect(marked.body).toMatchObject({ kind: 'Namespace', status: { phase: 'Terminating' } });
    expect(marked.body.metadata).not.toHaveProperty('deletionGracePeriodSeconds');
    const { body } = await client.get('/api/v1/namespaces/doomed');
    const finalized = await client.put('/api/v1/namespaces/doomed/finalize', { ...body, spec: {} });
    expect(finalized.status).toBe(200);
    expect((await client.get('/api/v1/namespaces/doomed')).status).toBe(404);
  });
});
